/* Colours as people write them: a name, or hexadecimal digits. */
#ifndef SPATE_SCENE_COLOR_NAMES_H
#define SPATE_SCENE_COLOR_NAMES_H

#include <stdbool.h>

enum { COLOR_NAMES = 48 };
extern const char *const color_names[COLOR_NAMES];

/* "orange", "Dark Green", "#e8a317", "#fa3" or "e8a317" as red, green and blue of screens, 0 to 1.
 * */
bool color_from_text(const char *word, double rgb[3]);

#endif
