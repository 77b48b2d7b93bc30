/* Names as in CSS, with stuffs that scenes are made of; the purest colours are a little softer than
 * there, as nothing that light falls on is so pure. */
#include "scene/color_names.h"

#include <stddef.h>
#include <string.h>

#define NAMES(X)            \
    X(black, 0x000000)      \
    X(white, 0xffffff)      \
    X(grey, 0x808080)       \
    X(gray, 0x808080)       \
    X(lightgrey, 0xd3d3d3)  \
    X(darkgrey, 0x555555)   \
    X(silver, 0xc0c0c0)     \
    X(red, 0xe02020)        \
    X(darkred, 0x8b0000)    \
    X(crimson, 0xdc143c)    \
    X(maroon, 0x800000)     \
    X(salmon, 0xfa8072)     \
    X(coral, 0xff7f50)      \
    X(orange, 0xff9500)     \
    X(gold, 0xffd700)       \
    X(yellow, 0xffe600)     \
    X(khaki, 0xf0e68c)      \
    X(beige, 0xf5f5dc)      \
    X(ivory, 0xfffff0)      \
    X(tan, 0xd2b48c)        \
    X(brown, 0x7b4a24)      \
    X(chocolate, 0x5a2f16)  \
    X(olive, 0x808000)      \
    X(lime, 0x8fd622)       \
    X(green, 0x239b3b)      \
    X(lightgreen, 0x90ee90) \
    X(darkgreen, 0x006400)  \
    X(teal, 0x008080)       \
    X(turquoise, 0x40e0d0)  \
    X(cyan, 0x00d5e8)       \
    X(skyblue, 0x87ceeb)    \
    X(lightblue, 0xadd8e6)  \
    X(blue, 0x2455d6)       \
    X(steelblue, 0x4682b4)  \
    X(darkblue, 0x00008b)   \
    X(navy, 0x000080)       \
    X(indigo, 0x4b0082)     \
    X(violet, 0x8a4fd0)     \
    X(purple, 0x800080)     \
    X(magenta, 0xe020c0)    \
    X(pink, 0xff8fb0)       \
    X(amber, 0xd98a0b)      \
    X(honey, 0xd98a0b)      \
    X(ochre, 0xd2ab69)      \
    X(terracotta, 0xb8694a) \
    X(copper, 0xb87333)     \
    X(steel, 0xb4b9c0)      \
    X(cream, 0xfff3d6)

#define X(name, hex) #name,
const char *const color_names[COLOR_NAMES] = {NAMES(X)};
#undef X

#define X(name, hex) hex,
static const unsigned values[COLOR_NAMES] = {NAMES(X)};
#undef X

enum { LONGEST = 16 };

/* Small letters and digits alone: "Dark-Green" is darkgreen. False when it is too long. */
static bool simplify(const char *word, char out[LONGEST]) {
    size_t n = 0;
    for (; *word; word++) {
        if (*word == ' ' || *word == '-' || *word == '_') continue;
        if (n + 1 >= LONGEST) return false;
        out[n++] = *word >= 'A' && *word <= 'Z' ? (char)(*word - 'A' + 'a') : *word;
    }
    out[n] = 0;
    return true;
}

static bool from_digits(const char *digits, unsigned *hex) {
    static const char all[] = "0123456789abcdef";
    const size_t length = strlen(digits);
    if ((length != 3 && length != 6) || strspn(digits, all) != length) return false;
    *hex = 0;
    for (const char *c = digits; *c; c++) {
        const unsigned value = (unsigned)(strchr(all, *c) - all);
        *hex = *hex << 4 | value;
        if (length == 3) *hex = *hex << 4 | value;
    }
    return true;
}

static bool from_name(const char *name, unsigned *hex) {
    for (int i = 0; i < COLOR_NAMES; i++)
        if (strcmp(name, color_names[i]) == 0) {
            *hex = values[i];
            return true;
        }
    return false;
}

bool color_from_text(const char *word, double rgb[3]) {
    char plain[LONGEST];
    unsigned hex;
    if (!simplify(word, plain)) return false;
    const bool sharp = plain[0] == '#';
    /* Three digits without the mark are as likely a number. */
    const bool digits = sharp || strlen(plain) == 6;
    if (!(digits && from_digits(plain + sharp, &hex)) && !from_name(plain, &hex)) return false;
    for (int c = 0; c < 3; c++) rgb[c] = (double)(hex >> (16 - 8 * c) & 255) / 255;
    return true;
}
