/* How particles of a liquid become its surface: output.surface_method, src/surface. */
#ifndef SPATE_SCENE_SURFACE_METHOD_H
#define SPATE_SCENE_SURFACE_METHOD_H

/* isotropic: distance to the mean of the particles around (Zhu and Bridson 2005). anisotropic: the
 * sum of a smooth kernel for each particle, stretched along the liquid's surface (Yu and Turk
 * 2013). sheets: the nearest particle, in a metric stretched in the same way (Ando et al. 2012). */
typedef enum surface_method {
    SURFACE_ISOTROPIC,
    SURFACE_ANISOTROPIC,
    SURFACE_SHEETS,
    SURFACE_METHODS
} surface_method;

#endif
