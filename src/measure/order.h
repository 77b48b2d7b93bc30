/* Where particles go when they are read out in some order; kept until they move. */
#ifndef SPATE_MEASURE_ORDER_H
#define SPATE_MEASURE_ORDER_H

#include "measure/attributes.h"
#include <spate/drive.h>

/* Places by storage index, UINT32_MAX for removed particles; *place is NULL where they are the
 * ids. */
spate_status order_places(spate_simulation *sim, spate_order order, const uint32_t **place,
                          int64_t *living);

/* The type and number of what a view of a field shows. */
spate_number field_number(const particle_field_info *info);
int field_view_components(const spate_simulation *sim, particle_field f);

#endif
