#ifndef GROUND_HERE
#define GROUND_HERE
#include "tables/ground.h"

/* The nearest point of a ground made of pieces: a cubic plus a cosine each, with walls where the height jumps. */
typedef struct Ground {
    int32_t n;                  /* number of starts; pieces are one more */
    const double *starts;
    const double *pieces;       /* ten numbers of each, the last: 1/sqrt(1 + slope^2) of a straight one */
} Ground;

static inline const double *ground_row(const Ground *ground, int i)
{
    return ground->pieces + 10 * i;
}

static double ground_height(const double *g, double x)
{
    const double s = x - g[0], h = g[1] + s * (g[2] + s * (g[3] + s * g[4]));
    return g[5] != 0 ? h + g[5] * cos(g[6] * s + g[7]) : h;
}

/* Height, slope and second derivative. */
static void ground_jet(const double *g, double x, double *jet)
{
    const double s = x - g[0];
    jet[0] = g[1] + s * (g[2] + s * (g[3] + s * g[4]));
    jet[1] = g[2] + s * (2 * g[3] + 3 * s * g[4]);
    jet[2] = 2 * g[3] + 6 * s * g[4];
    if (g[5] != 0) {
        const double a = g[6] * s + g[7], c = g[5] * cos(a), d = g[5] * g[6] * sin(a);
        jet[0] += c;
        jet[1] -= d;
        jet[2] -= g[6] * g[6] * c;
    }
}

/* The piece that holds x. */
static int ground_piece(const Ground *ground, double x)
{
    int low = 0, high = ground->n;
    if (high <= 16) { /* few: counting them needs no decisions */
        for (int k = 0; k < high; k++)
            low += x >= ground->starts[k];
        return low;
    }
    while (low < high) {
        const int middle = (low + high) / 2;
        if (x < ground->starts[middle])
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* The foot between two bounds, from a point between them. */
static double ground_newton(const double *g, double x, double z, double s, double low, double high)
{
    for (int k = 0; k < GROUND_FEET; k++) {
        double jet[3];
        ground_jet(g, s, jet);
        const double f = s - x + (jet[0] - z) * jet[1], f1 = 1 + jet[1] * jet[1] + (jet[0] - z) * jet[2];
        if (f > 0)
            high = s;
        else
            low = s;
        double next = f1 > 0 ? s - f / f1 : INFINITY;
        if (!(low <= next && next <= high))
            next = 0.5 * (low + high);
        const double change = fabs(next - s);
        s = next;
        if (change <= GROUND_FOOT * (1 + fabs(s))) /* the next one would be its square */
            break;
    }
    return s;
}

/* Where a piece is nearest between a and b. */
static double ground_foot(const double *g, double x, double z, double a, double b, double best)
{
    if (g[3] == 0 && g[4] == 0 && g[5] == 0) {
        const double s = (x + g[2] * (z - g[1] + g[2] * g[0])) / (1 + g[2] * g[2]);
        return s < a ? a : s > b ? b : s;
    }
    if (g[8] * best < 1) {
        double jet[3];
        ground_jet(g, x, jet);
        const double s = x + (z - jet[0]) * jet[1] / (1 + jet[1] * jet[1]); /* the foot on the tangent below */
        return ground_newton(g, x, z, s < a ? a : s > b ? b : s, a, b);
    }
    /* there may be several: go from each of some points that is nearer than its neighbours */
    const double width = (b - a) / 8;
    double square[11], least = INFINITY, foot = a;
    square[0] = square[10] = INFINITY;
    for (int k = 0; k <= 8; k++) {
        const double at = a + k * width, dz = ground_height(g, at) - z;
        square[k + 1] = (at - x) * (at - x) + dz * dz;
    }
    for (int k = 0; k <= 8; k++) {
        if (!(square[k + 1] < square[k] && square[k + 1] <= square[k + 2]))
            continue;
        const double at = a + k * width, low = k > 0 ? at - width : a, high = k < 8 ? at + width : b;
        const double s = ground_newton(g, x, z, at, low, high), dz = ground_height(g, s) - z;
        if ((s - x) * (s - x) + dz * dz < least) {
            least = (s - x) * (s - x) + dz * dz;
            foot = s;
        }
    }
    return foot;
}

/* near: distance (negative below ground), normal x, normal z, foot x, foot z. */
static void ground_near(const Ground *ground, double x, double z, double reach, double *near)
{
    const int here = ground_piece(ground, x);
    const double *line = ground_row(ground, here);
    const int straight = line[3] == 0 && line[4] == 0 && line[5] == 0;
    double jet[3] = {line[1] + line[2] * (x - line[0]), 0, 0};
    if (!straight)
        ground_jet(line, x, jet);
    const double below = jet[0];
    double best = fabs(z - below), fx = x, fz = below;
    if (!(z - below < reach)) {
        best = reach;
        fz = z - reach;
    }
    const double from = x - best, to = x + best;
    const int alone =
        (here == 0 || from >= ground->starts[here - 1]) && (here == ground->n || to <= ground->starts[here]);
    if (straight && alone) { /* nothing but one straight piece within reach */
        const double d = (z - below) * line[9];
        const int far = d >= reach;
        near[0] = far ? reach : d;
        near[1] = far ? 0 : -line[2] * line[9];
        near[2] = far ? 1 : line[9];
        near[3] = far ? x : x + d * line[2] * line[9];
        near[4] = z - near[0] * near[2];
        return;
    }
    /* one curved piece with one foot, from that on the tangent below */
    if (alone && best > 0 && line[8] * fabs(z - below) < 1) {
        double s = x + (z - below) * jet[1] / (1 + jet[1] * jet[1]), h = below;
        for (int k = 0; k < GROUND_FEET; k++) {
            ground_jet(line, s, jet);
            const double step = -(s - x + (jet[0] - z) * jet[1]) / (1 + jet[1] * jet[1] + (jet[0] - z) * jet[2]);
            s += step;
            h = jet[0] + step * (jet[1] + 0.5 * step * jet[2]);
            if (fabs(step) <= GROUND_FOOT * (1 + fabs(s))) /* the next one would be its square */
                break;
        }
        const double d = sqrt((s - x) * (s - x) + (h - z) * (h - z)), side = z >= below ? 1 : -1;
        const int far = side * d >= reach;
        near[0] = far ? reach : side * d;
        near[1] = far ? 0 : side * (x - s) / d;
        near[2] = far ? 1 : side * (z - h) / d;
        near[3] = far ? x : s;
        near[4] = far ? z - reach : h;
        return;
    }
    const int first = ground_piece(ground, from), last = ground_piece(ground, to);
    for (int i = first; i <= last; i++) {
        const double *g = ground_row(ground, i);
        const double a = i > 0 && ground->starts[i - 1] > from ? ground->starts[i - 1] : from;
        const int whole = i < ground->n && ground->starts[i] <= to;
        const double b = whole ? ground->starts[i] : to;
        if (a <= b) {
            const double s = ground_foot(g, x, z, a, b, best), h = ground_height(g, s);
            const double d = sqrt((s - x) * (s - x) + (h - z) * (h - z));
            if (d < best) {
                best = d;
                fx = s;
                fz = h;
            }
        }
        if (whole) {
            const double one = ground_height(g, b), other = ground_height(ground_row(ground, i + 1), b);
            const double low = one < other ? one : other, high = one < other ? other : one;
            const double h = z < low ? low : z > high ? high : z, d = sqrt((b - x) * (b - x) + (h - z) * (h - z));
            if (d < best) {
                best = d;
                fx = b;
                fz = h;
            }
        }
    }
    near[3] = fx;
    near[4] = fz;
    if (best == 0) {
        ground_jet(ground_row(ground, here), x, jet);
        const double size = sqrt(1 + jet[1] * jet[1]);
        near[0] = 0;
        near[1] = -jet[1] / size;
        near[2] = 1 / size;
        return;
    }
    const double side = z >= below ? 1 : -1;
    near[0] = side * best;
    near[1] = side * (x - fx) / best;
    near[2] = side * (z - fz) / best;
}

/* The same of a place x, z, reach, without the height of the foot. */
static inline void ground_near_at(const Ground *ground, const double *x, double *near)
{
    double all[5];
    ground_near(ground, x[0], x[1], x[2], all);
    memcpy(near, all, 4 * sizeof *near);
}
#endif
