/* Contact elements of bodies as meshes: their table, and what is checked of it. */
#include "scene/scene_parts.h"
#include "scene/scene_tables.h"

enum { ANGLE_MOST = 80 };

static const field contact_fields[] = {
    REQUIRED_NUMBER(contact_moduli, stiffness, "Pa", SMALLEST, ANY_MAX,
                    "the pressure at full compression: (1 - r)^2 of it at thickness r; of strands "
                    "their bulk modulus across"),
    NUMBER_FIELD(contact_moduli, shear, "Pa", NAN, SMALLEST, ANY_MAX,
                 "resists sliding up to friction; default: the stiffness"),
    NUMBER_FIELD(contact_moduli, friction_angle, "", 20, 0, ANGLE_MOST, "degrees"),
    NUMBER_FIELD(contact_moduli, thickness, "m", NAN, SMALLEST, ANY_MAX,
                 "of the elements; only its product with the moduli counts. Default: half of "
                 "domain.dx, of strands their own"),
};
const field_table scene_contact_table = FIELD_TABLE(
    "bodies.contact",
    "A body with fe, cloth or strands resists being pressed against others and itself, and rubs "
    "on them: its triangles, segments or skin are contact elements. Where bodies meet without "
    "it, they have the grid's velocity in common, and nothing else.",
    contact_fields, contact_moduli);

spate_status scene_check_contact(reader *r, const yaml_value *mapping, body *b) {
    contact_moduli *c = b->contact;
    if (!c) return SPATE_OK;
    if (!b->mesh.kind)
        return reader_fail_field(r, reader_at(mapping, "contact"), "contact",
                                 "is for bodies with fe, cloth or strands; remove it: particles "
                                 "meet others by their material");
    if (isnan(c->shear)) c->shear = c->stiffness;
    if (isnan(c->thickness))
        c->thickness = b->mesh.kind == MESH_STRANDS ? 2 * b->mesh.radius : r->scene->domain.dx / 2;
    return SPATE_OK;
}
