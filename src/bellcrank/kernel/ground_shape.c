#include "ground.c"
#ifndef GROUND_SHAPE
#define GROUND_SHAPE
/* The part of the ground that a foot lies on (pieces 2 i, edges 2 i + 1, walls -i), and the turn of the normal per
   length along it. */
static double ground_shape(const Ground *ground, const double *near, double *bend)
{
    const double x = near[3], z = near[4];
    const int i = ground_piece(ground, x);
    double jet[3];
    if (i > 0 && ground->starts[i - 1] == x) {
        const double one = ground_height(ground_row(ground, i - 1), x), other = ground_height(ground_row(ground, i), x);
        if ((one < other ? one : other) < z && z < (one < other ? other : one)) {
            *bend = 0;
            return -i;
        }
        *bend = near[0] != 0 ? 1 / near[0] : INFINITY;
        return 2 * i + 1;
    }
    ground_jet(ground_row(ground, i), x, jet);
    const double curve = jet[2] / pow(1 + jet[1] * jet[1], 1.5);
    *bend = -curve / (1 - curve * near[0]);
    return 2 * i;
}

/* By how much the normal turns per length along the ground nearest to x, z, reach; is that in reach? */
static inline void ground_turn_at(const Ground *ground, const double *x, double *found)
{
    double near[5];
    ground_near(ground, x[0], x[1], x[2], near);
    ground_shape(ground, near, &found[0]);
    found[1] = near[0] < x[2];
    found[0] = near[0] < x[2] ? found[0] : 0;
}
#endif
