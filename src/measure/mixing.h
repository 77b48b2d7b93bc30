/*
 * Mixing: how far the order along an axis that particles had at the start has been lost among
 * those that are neighbours now.
 *
 * Around each particle, the coordinate s that its neighbours had at the start is fitted by a linear
 * function of where they are now. Where material has only been moved, turned, sheared or flattened,
 * layers that were lines are lines, and nothing is left over; where layers have gone through each
 * other, s jumps from neighbour to neighbour and no linear function follows it. The measure is the
 * variance that is left over as a share of the variance of s, each by its degrees of freedom (one
 * less the adjusted R^2 of the fit), and the mean of that over the particles by mass:
 *
 *     mixing = sum_p m_p [RSS_p / (n_p - 1 - r_p)] / [TSS_p / (n_p - 1)] / sum_p m_p
 *
 * It is 0 for every affine motion and in the mean 1 where neighbours come from anywhere. It is the
 * non-affine part of the motion, D^2_min of Falk and Langer (Physical Review E 57, 1998), of one
 * coordinate and by the inverse of the motion.
 *
 * Neighbours are the particles nearer than 2.1 spacings at rest. n: the particle and its
 * neighbours, r: directions in which they lie. Particles with fewer than two degrees of freedom to
 * spare, as in spray, are left out.
 */
#ifndef SPATE_MEASURE_MIXING_H
#define SPATE_MEASURE_MIXING_H

#include "measure/point_grid.h"

/* start: where particles began, by id. NAN when no particle has enough neighbours. Sorts the point
 * grid.
 */
spate_status mixing_measure(point_grid *c, const double (*start)[3], int64_t start_count, int axis,
                            double *out);

#endif
