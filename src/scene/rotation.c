#include "scene/rotation.h"

#include <math.h>
#include <string.h>

void rotation_of_quaternion(const double q[4], double turn[3][3]) {
    const double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    const double x = q[0] / length, y = q[1] / length, z = q[2] / length, w = q[3] / length;
    const double rows[3][3] = {{1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)},
                               {2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)},
                               {2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)}};
    memcpy(turn, rows, sizeof rows);
}

/* From its largest part (Shepperd 1978). */
void quaternion_of_rotation(const double m[3][3], double q[4]) {
    const double trace = m[0][0] + m[1][1] + m[2][2];
    int i = 0;
    for (int a = 1; a < 3; a++)
        if (m[a][a] > m[i][i]) i = a;
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    if (trace >= m[i][i]) {
        const double s = sqrt(1 + trace);
        q[3] = s / 2;
        for (int a = 0; a < 3; a++)
            q[a] = (m[(a + 2) % 3][(a + 1) % 3] - m[(a + 1) % 3][(a + 2) % 3]) / (2 * s);
    } else {
        const double s = sqrt(1 + m[i][i] - m[j][j] - m[k][k]);
        q[i] = s / 2;
        q[j] = (m[i][j] + m[j][i]) / (2 * s), q[k] = (m[i][k] + m[k][i]) / (2 * s);
        q[3] = (m[k][j] - m[j][k]) / (2 * s);
    }
    for (int a = 0; a < 4 && q[3] < 0; a++) q[a] = a < 3 ? -q[a] : q[a];
    q[3] = fabs(q[3]);
}
