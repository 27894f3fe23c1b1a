#include "ground_shape.c"
#ifndef GROUND_PARTS
#define GROUND_PARTS
/* Is an edge, the start of piece i, the nearest ground for a point at (dx, dz) from it? */
static int ground_over_edge(const Ground *ground, int i, const double *near, double dx, double dz)
{
    double before[3], after[3];
    ground_jet(ground_row(ground, i - 1), near[3], before);
    ground_jet(ground_row(ground, i), near[3], after);
    return (before[0] >= near[4] ? dx + dz * before[1] >= 0 : dz >= 0)
        && (after[0] >= near[4] ? dx + dz * after[1] <= 0 : dz >= 0);
}

/* The nearest point of one part of the ground, near the one that `near` holds, and the turn of the normal there.
   Returns whether it lies on the part. */
static int ground_on(const Ground *ground, int part, double x, double z, double *near, double *bend)
{
    if (part >= 0 && part % 2 == 0) {
        const int i = part / 2;
        const double *g = ground_row(ground, i);
        double s = near[3], jet[3];
        if (g[3] == 0 && g[4] == 0 && g[5] == 0)
            s = (x + g[2] * (z - g[1] + g[2] * g[0])) / (1 + g[2] * g[2]);
        else
            for (int k = 0; k < GROUND_FEET; k++) {
                ground_jet(g, s, jet);
                const double change = (s - x + (jet[0] - z) * jet[1]) / (1 + jet[1] * jet[1] + (jet[0] - z) * jet[2]);
                s -= change;
                if (fabs(change) <= GROUND_EXACT * (1 + fabs(s)))
                    break;
            }
        ground_jet(g, s, jet);
        const double size = sqrt(1 + jet[1] * jet[1]), curve = jet[2] / (size * size * size);
        near[0] = ((z - jet[0]) - jet[1] * (x - s)) / size;
        near[1] = -jet[1] / size;
        near[2] = 1 / size;
        near[3] = s;
        near[4] = jet[0];
        *bend = -curve / (1 - curve * near[0]);
        return (i == 0 || s >= ground->starts[i - 1]) && (i == ground->n || s <= ground->starts[i]);
    }
    if (part < 0) {
        const double at = ground->starts[-part - 1], side = near[1] < 0 ? -1 : 1;
        const double one = ground_height(ground_row(ground, -part - 1), at);
        const double other = ground_height(ground_row(ground, -part), at);
        near[0] = side * (x - at);
        near[1] = side;
        near[2] = 0;
        near[3] = at;
        near[4] = z;
        *bend = 0;
        return (one < other ? one : other) <= z && z <= (one < other ? other : one);
    }
    const double dx = x - near[3], dz = z - near[4], size = sqrt(dx * dx + dz * dz) + 1e-300;
    near[0] = size;
    near[1] = dx / size;
    near[2] = dz / size;
    *bend = 1 / size;
    return ground_over_edge(ground, part / 2, near, dx, dz);
}

/* Where one comes to that leaves a part at `near`, at (x, z): the part; `near` then holds a point of it. */
static int ground_next(const Ground *ground, int part, double x, double z, double *near)
{
    double before[3], after[3];
    const int i = part / 2, right = part >= 0 && part % 2 == 0 && i < ground->n && near[3] > ground->starts[i];
    const int k = part < 0 ? -part : part % 2 || !right ? i : i + 1;
    const double at = ground->starts[k - 1];
    ground_jet(ground_row(ground, k - 1), at, before);
    ground_jet(ground_row(ground, k), at, after);
    const double one = before[0], other = after[0];
    if (part < 0) {
        const double high = one < other ? other : one;
        if (near[4] >= high) {
            near[4] = high;
            return 2 * k + 1;
        }
        return one < other ? 2 * (k - 1) : 2 * k;
    }
    if (part % 2) {
        if (one >= near[4] && (x - near[3]) + (z - near[4]) * before[1] < 0)
            return 2 * (k - 1);
        return other >= near[4] && !(one < near[4] && x < near[3]) ? 2 * k : -k;
    }
    const double here = right ? one : other, there = right ? other : one;
    const int same = fabs(other - one) <= GROUND_LEVEL * (1 + fabs(one) + fabs(other)) * (1 + fabs(at));
    near[3] = at;
    near[4] = here;
    if (same && after[1] >= before[1] - GROUND_LEVEL) {
        near[4] = there;
        return 2 * (right ? k : k - 1);
    }
    return same || there < here ? 2 * k + 1 : -k;
}
#endif
