#ifndef GROUND_GRID
#define GROUND_GRID
#include "tables/ground_grid.h"

/* The nearest point of a ground over x and y: heights on a grid, a bicubic convolution between them. */
typedef struct GroundGrid {
    int32_t nx, ny;             /* heights; one more is kept on each side */
    double start[2], spacing[2];
    const double *heights;
    const float *bends;         /* of cells: where they times the distance are below 1, there is one nearest point */
} GroundGrid;

/* The cell that u (in spacings) lies in, and weights of four heights for value, slope and second derivative. */
static int grid_weights(double u, int n, double w[3][4])
{
    const double inside = u < 0 ? 0 : u > n - 1.0 ? n - 1.0 : u, over = u - inside;
    const int i = inside < n - 2.0 ? (int)inside : n - 2;
    const double f = inside - i;
    w[0][0] = f * (f * (1 - 0.5 * f) - 0.5);
    w[0][1] = 1 + f * f * (1.5 * f - 2.5);
    w[0][2] = f * (0.5 + f * (2 - 1.5 * f));
    w[0][3] = 0.5 * f * f * (f - 1);
    w[1][0] = f * (2 - 1.5 * f) - 0.5;
    w[1][1] = f * (4.5 * f - 5);
    w[1][2] = 0.5 + f * (4 - 4.5 * f);
    w[1][3] = f * (1.5 * f - 1);
    w[2][0] = 2 - 3 * f;
    w[2][1] = 9 * f - 5;
    w[2][2] = 4 - 9 * f;
    w[2][3] = 3 * f - 1;
    if (over != 0)
        for (int k = 0; k < 4; k++) {
            w[0][k] += over * w[1][k];
            w[2][k] = 0;
        }
    return i;
}

/* jet: height, slopes x and y, second derivatives xx, xy, yy. */
static void grid_jet(const GroundGrid *g, double x, double y, double *jet)
{
    double a[3][4], b[3][4], across[3][4];
    const int i = grid_weights((x - g->start[0]) / g->spacing[0], g->nx, a);
    const int j = grid_weights((y - g->start[1]) / g->spacing[1], g->ny, b);
    const double *corner = g->heights + (long)i * (g->ny + 2) + j;
    for (int k = 0; k < 4; k++) {
        const double *h = corner + (long)k * (g->ny + 2);
        for (int m = 0; m < 3; m++)
            across[m][k] = b[m][0] * h[0] + b[m][1] * h[1] + b[m][2] * h[2] + b[m][3] * h[3];
    }
    static const int orders[6][2] = {{0, 0}, {1, 0}, {0, 1}, {2, 0}, {1, 1}, {0, 2}};
    for (int q = 0; q < 6; q++) {
        const double *w = a[orders[q][0]], *h = across[orders[q][1]];
        double scale = 1;
        for (int k = 0; k < orders[q][0]; k++)
            scale *= g->spacing[0];
        for (int k = 0; k < orders[q][1]; k++)
            scale *= g->spacing[1];
        jet[q] = (w[0] * h[0] + w[1] * h[1] + w[2] * h[2] + w[3] * h[3]) / scale;
    }
}

static double grid_away(double x, double y, double z, double s, double t, double h)
{
    return (s - x) * (s - x) + (t - y) * (t - y) + (h - z) * (h - z);
}

/* The foot by Newton's method from a point near it; steps that lead away are halved. Gives the square of its
   distance. */
static double grid_foot(const GroundGrid *g, double x, double y, double z, double *foot, double *jet)
{
    double s = foot[0], t = foot[1];
    grid_jet(g, s, t, jet);
    double away = grid_away(x, y, z, s, t, jet[0]);
    for (int k = 0; k < GRID_FEET; k++) {
        const double dh = jet[0] - z, g1 = s - x + dh * jet[1], g2 = t - y + dh * jet[2];
        const double a = 1 + jet[1] * jet[1], b = jet[1] * jet[2], c = 1 + jet[2] * jet[2];
        double h11 = a + dh * jet[3], h12 = b + dh * jet[4], h22 = c + dh * jet[5];
        if (!(h11 > 0 && h11 * h22 - h12 * h12 > GRID_FLAT * a * c)) {
            h11 = a;
            h12 = b;
            h22 = c;
        }
        const double size = h11 * h22 - h12 * h12;
        double ds = (h12 * g2 - h22 * g1) / size, dt = (h12 * g1 - h11 * g2) / size, far = away;
        for (int m = 0; m < GRID_HALVES; m++) {
            grid_jet(g, s + ds, t + dt, jet);
            far = grid_away(x, y, z, s + ds, t + dt, jet[0]);
            if (far <= away * (1 + GRID_ROUNDS))
                break;
            ds *= 0.5;
            dt *= 0.5;
        }
        s += ds;
        t += dt;
        away = far;
        if (fabs(ds) + fabs(dt) <= GRID_FOOT * (1 + fabs(s) + fabs(t)))
            break;
    }
    foot[0] = s;
    foot[1] = t;
    return away;
}

/* The nearest of the feet that are found from points around which are nearer than their neighbours. */
static void grid_search(const GroundGrid *g, double x, double y, double z, double best, double *foot, double *jet)
{
    enum { N = GRID_SAMPLES };
    double square[N + 3][N + 3], least = INFINITY;
    const double wide = 2 * best / N;
    for (int i = 0; i < N + 3; i++)
        for (int j = 0; j < N + 3; j++) {
            const double s = x - best + (i - 1) * wide, t = y - best + (j - 1) * wide;
            square[i][j] = INFINITY;
            if (i == 0 || j == 0 || i == N + 2 || j == N + 2)
                continue;
            grid_jet(g, s, t, jet);
            square[i][j] = grid_away(x, y, z, s, t, jet[0]);
        }
    double found[2] = {x, y};
    for (int i = 1; i < N + 2; i++)
        for (int j = 1; j < N + 2; j++) {
            int lowest = 1;
            for (int k = -1; k <= 1; k++)
                for (int m = -1; m <= 1; m++)
                    lowest = lowest && square[i][j] <= square[i + k][j + m];
            if (!lowest)
                continue;
            double at[2] = {x - best + (i - 1) * wide, y - best + (j - 1) * wide};
            const double away = grid_foot(g, x, y, z, at, jet);
            if (away < least) {
                least = away;
                found[0] = at[0];
                found[1] = at[1];
            }
        }
    double at[2] = {x, y};
    const double away = grid_foot(g, x, y, z, at, jet);
    foot[0] = away < least ? at[0] : found[0];
    foot[1] = away < least ? at[1] : found[1];
    grid_jet(g, foot[0], foot[1], jet);
}

static int grid_cell(double u, int n)
{
    return u < 0 ? 0 : u < n - 2.0 ? (int)u : n - 2;
}

/* Is there one nearest point within a distance? */
static int grid_gentle(const GroundGrid *g, double x, double y, double best)
{
    const int first = grid_cell((x - best - g->start[0]) / g->spacing[0], g->nx);
    const int last = grid_cell((x + best - g->start[0]) / g->spacing[0], g->nx);
    const int right = grid_cell((y - best - g->start[1]) / g->spacing[1], g->ny);
    const int left = grid_cell((y + best - g->start[1]) / g->spacing[1], g->ny);
    for (int i = first; i <= last; i++)
        for (int j = right; j <= left; j++)
            if (!(g->bends[(long)i * (g->ny - 1) + j] * best < 1))
                return 0;
    return 1;
}

/* near: distance (negative below ground), normal x, y, z, foot x, y; jet: the ground there. */
static void grid_near(const GroundGrid *g, double x, double y, double z, double reach, double *near, double *jet)
{
    grid_jet(g, x, y, jet);
    const double up = z - jet[0], deep = reach > -up ? reach : -up, best = fabs(up) < deep ? fabs(up) : deep;
    const double slope = 1 + jet[1] * jet[1] + jet[2] * jet[2];
    double foot[2] = {x + up * jet[1] / slope, y + up * jet[2] / slope}; /* on the tangent plane below */
    if (grid_gentle(g, x, y, best))
        grid_foot(g, x, y, z, foot, jet);
    else
        grid_search(g, x, y, z, best, foot, jet);
    const double size = sqrt(1 + jet[1] * jet[1] + jet[2] * jet[2]);
    const double d = (z - jet[0] - jet[1] * (x - foot[0]) - jet[2] * (y - foot[1])) / size;
    const int far = !(d < reach);
    near[0] = far ? reach : d;
    near[1] = far ? 0 : -jet[1] / size;
    near[2] = far ? 0 : -jet[2] / size;
    near[3] = far ? 1 : 1 / size;
    near[4] = far ? x : foot[0];
    near[5] = far ? y : foot[1];
}

static inline void grid_near_at(const GroundGrid *g, const double *x, double *near)
{
    double jet[6];
    grid_near(g, x[0], x[1], x[2], x[3], near, jet);
}

/* How the normal changes with the place: xx, xy, xz, yy, yz, zz; is the ground in reach? */
static inline void grid_turn_at(const GroundGrid *g, const double *x, double *found)
{
    double near[6], jet[6];
    grid_near(g, x[0], x[1], x[2], x[3], near, jet);
    if (!(near[0] < x[3])) {
        memset(found, 0, 7 * sizeof *found);
        return;
    }
    const double u = jet[1], v = jet[2], d = near[0], size = sqrt(1 + u * u + v * v);
    const double g11 = 1 + u * u, g12 = u * v, g22 = 1 + v * v;
    const double b11 = jet[3] / size, b12 = jet[4] / size, b22 = jet[5] / size;
    const double m11 = g11 - d * b11, m12 = g12 - d * b12, m22 = g22 - d * b22;
    const double both = (g11 * g22 - g12 * g12) * (m11 * m22 - m12 * m12);
    const double p11 = g22 * b11 - g12 * b12, p12 = g22 * b12 - g12 * b22;
    const double p21 = g11 * b12 - g12 * b11, p22 = g11 * b22 - g12 * b12;
    const double s11 = -(p11 * m22 - p12 * m12) / both, s12 = -(p12 * m11 - p11 * m12) / both;
    const double s22 = -(p22 * m11 - p21 * m12) / both;
    found[0] = s11;
    found[1] = s12;
    found[2] = s11 * u + s12 * v;
    found[3] = s22;
    found[4] = s12 * u + s22 * v;
    found[5] = u * found[2] + v * found[4];
    found[6] = 1;
}
#endif
