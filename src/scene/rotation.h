/* Rotations as matrices and as unit quaternions x, y, z, w. */
#ifndef SPATE_SCENE_ROTATION_H
#define SPATE_SCENE_ROTATION_H

/* Of a quaternion of any length but 0. */
void rotation_of_quaternion(const double q[4], double turn[3][3]);
/* The one with w >= 0. */
void quaternion_of_rotation(const double m[3][3], double q[4]);

#endif
