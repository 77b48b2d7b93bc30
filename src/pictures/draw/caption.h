/* Captions: words beside what a picture shows, of a size and colour that suit it. */
#ifndef SPATE_PICTURES_DRAW_CAPTION_H
#define SPATE_PICTURES_DRAW_CAPTION_H

#include "pictures/draw/picture.h"

/* The height of letters that suits a picture. */
double caption_letters(const picture *p);
/* The colour of words: light on a dark picture. */
rgb caption_ink(const picture *p);
/* Words in the upper right corner, as films have their speed there. */
void caption_corner(const char *words, picture *out);

#endif
