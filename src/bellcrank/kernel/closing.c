/* ---- loops closed by changing some variables only: at a start, and after an event has set others */

#include "tables/assembly.h"

typedef struct Place { /* of a run: a time, and what holds there */
    double t;
    const double *p, *c, *w;
    Externals *externals;
} Place;

static double largest_of(int n, const double *x, int *where)
{
    double size = 0.0;
    *where = 0;
    for (int i = 0; i < n; i++)
        if (!(fabs(x[i]) <= size)) {
            size = fabs(x[i]);
            *where = i;
        }
    return size;
}

/* The smallest x that brings A x nearest to r, rows as long as they are: one that vanishes as loops close does not
   count. A has m rows of n. Its columns are turned until they are orthogonal (Hestenes' method for singular values). */
static void nearest(GIVEN int m, int n, double *a, const double *r, double *x)
{
    ARRAY(double, v, MOST_COLUMNS*MOST_COLUMNS + 1);
    ARRAY(double, size, MOST_COLUMNS + 1);
    double largest = 0.0;
    for (int i = 0; i < n*n; i++)
        v[i] = (double)(i % (n + 1) == 0);
    for (int turned = 1, sweep = 0; turned && sweep < SWEEPS; sweep++) {
        turned = 0;
        for (int p = 0; p < n; p++)
            for (int q = p + 1; q < n; q++) {
                double pp = 0.0, qq = 0.0, pq = 0.0;
                for (int i = 0; i < m; i++) {
                    pp += a[i*n + p]*a[i*n + p];
                    qq += a[i*n + q]*a[i*n + q];
                    pq += a[i*n + p]*a[i*n + q];
                }
                if (!(fabs(pq) > ORTHOGONAL*sqrt(pp*qq)))
                    continue;
                turned = 1;
                const double theta = (qq - pp)/(2.0*pq);
                const double t = copysign(1.0, theta)/(fabs(theta) + sqrt(1.0 + theta*theta));
                const double c = 1.0/sqrt(1.0 + t*t), s = t*c;
                for (int i = 0; i < m + n; i++) {
                    double *row = i < m ? a + i*n : v + (i - m)*n;
                    const double left = row[p], right = row[q];
                    row[p] = c*left - s*right;
                    row[q] = s*left + c*right;
                }
            }
    }
    for (int p = 0; p < n; p++) {
        size[p] = 0.0;
        for (int i = 0; i < m; i++)
            size[p] += a[i*n + p]*a[i*n + p];
        largest = size[p] > largest ? size[p] : largest;
    }
    memset(x, 0, (size_t)n*sizeof *x);
    for (int p = 0; p < n; p++) {
        double along = 0.0;
        if (!(sqrt(size[p]) > ASSEMBLED*sqrt(largest)))
            continue;
        for (int i = 0; i < m; i++)
            along += a[i*n + p]*r[i];
        for (int k = 0; k < n; k++)
            x[k] += v[k*n + p]*along/size[p];
    }
}

/* The smallest change of the free variables with A change = r, A of a known rank, or, rank NEAREST, the one that comes
   nearest to it. */
enum { NEAREST = -1 };
static void free_change(GIVEN int m, int n, const double *a, const double *r, const int *may, int rank, double *change)
{
    ARRAY(double, part, LARGEST_A + 1);
    ARRAY(double, x, N_S + 1);
    memset(x, 0, (N_S + 1)*sizeof *x);
    ARRAY(double, one, N_S + 1);
    int count = 0;
    for (int j = 0; j < n; j++)
        count += may[j];
    for (int i = 0; i < m; i++)
        for (int j = 0, k = 0; j < n; j++)
            if (may[j])
                part[i*count + k++] = a[i*n + j];
    for (int j = 0; j < count; j++)
        one[j] = 1.0;
    if (count > 0 && rank == NEAREST)
        nearest(HERE m, count, part, r, x);
    else if (count > 0)
        least_norm(HERE m, count, rank, one, part, r, x);
    for (int j = 0, k = 0; j < n; j++)
        change[j] = may[j] ? x[k++] : 0.0;
}

#if HAS_SIDES
/* Divides rows, and their slopes, by 1 + the cosine of the angle to the direction drawn: what is left is zero on the
   right side only. */
static void weigh(GIVEN const Place *at, const double *y, double *g, double *slopes)
{
    ARRAY(double, h, N_SIDES*(1 + N_Q));
    sides(at->t, y, y + N_Q, at->p, at->c, at->w, h, at->externals);
    for (int i = 0; i < N_G; i++)
        if (side_of[i] >= 0) {
            const double *by_q = h + N_SIDES + side_of[i]*N_Q;
            const double d = fmax(1.0 + h[side_of[i]], OPPOSITE);
            for (int j = 0; j < N_Q; j++)
                slopes[i*N_Q + j] = (slopes[i*N_Q + j] - g[i]/d*by_q[j])/d;
            g[i] /= d;
        }
}

/* The first row of a direction that points the wrong way, or -1. */
static int reversed_row(GIVEN const Place *at, const double *y)
{
    ARRAY(double, h, N_SIDES*(1 + N_Q));
    sides(at->t, y, y + N_Q, at->p, at->c, at->w, h, at->externals);
    for (int i = 0; i < N_G; i++)
        if (side_of[i] >= 0 && !(h[side_of[i]] > 0.0))
            return i;
    return -1;
}
#endif

/* All rows at a state, those of positions weighed by their sides if asked for; returns the largest residual of these
   as it is and its row. */
static double rows_at(GIVEN const Place *at, const double *y, int weighed, double *all, int *worst)
{
    closure(at->t, y, y + N_Q, at->p, at->c, at->w, all, at->externals);
    const double size = largest_of(N_G, all, worst);
#if HAS_SIDES
    if (weighed)
        weigh(HERE at, y, all, all + N_G);
#else
    (void)weighed;
#endif
    return size;
}

/* Closes the loops by damped Newton steps of free coordinates. Returns the number of the row that stays open, or -1.
   Near an assembly, redundant rows move it far along the motion that it leaves: their usual rank is tried first. */
static int close_positions(GIVEN const Place *at, double *y, const int *may, int weighed, double *residual)
{
    const int ranks[] = {N_RG, N_G, NEAREST};
    ARRAY(double, all, N_G*(1 + N_Q) + N_V*(1 + N_U) + 1);
    ARRAY(double, trial, N_S + 1);
    ARRAY(double, change, N_S + 1);
    int worst = 0;
    *residual = rows_at(HERE at, y, weighed, all, &worst);
    for (int n = 0; n < TRIES && *residual >= CLOSED; n++) {
        const double before = length(N_G, all), start = *residual;
        double after = before;
        for (int i = N_RG == N_G; i < (start < CRUMB ? 3 : 2) && !(after < before); i++) {
            if (i)
                rows_at(HERE at, y, weighed, all, &worst);
            free_change(HERE N_G, N_Q, all + N_G, all, may, ranks[i], change);
            const double size = length(N_Q, change);
            double scale = size > STRIDE ? STRIDE/size : 1.0;
            memcpy(trial, y, N_S*sizeof *trial);
            for (int halvings = 0; halvings < CUTS; halvings++) {
                for (int j = 0; j < N_Q; j++)
                    trial[j] = y[j] - scale*change[j];
                *residual = rows_at(HERE at, trial, weighed, all, &worst);
                after = length(N_G, all);
                if (after < before || scale < CRUMB)
                    break;
                scale /= 2;
            }
        }
        if (!(after < before)) {
            *residual = rows_at(HERE at, y, weighed, all, &worst);
            break;
        }
        memcpy(y, trial, N_Q*sizeof *y);
    }
    return *residual < ASSEMBLED ? -1 : worst;
}

#if HAS_SIDES
/* The same with all directions as drawn, or -1; `reverse`: it closes with its direction the other way round. `nudges`:
   how many starts beside the given one are tried. */
static int close_as_drawn(GIVEN const Place *at, double *y, const int *may, int nudges, double *residual, int *reverse)
{
    ARRAY(double, given, N_S + 1);
    ARRAY(double, plain, N_S + 1);
    int open = -1, wrong = -1;
    memcpy(given, y, N_S*sizeof *y);
    memcpy(plain, y, N_S*sizeof *y);
    for (int nudge = 0; nudge <= nudges; nudge++) {
        double left = 0.0;
        for (int j = 0; j < N_Q; j++)
            y[j] = given[j] + (may[j] ? NUDGE*nudge*sin(j + nudge) : 0.0);
        if (close_positions(HERE at, y, may, 1, &left) < 0 && reversed_row(HERE at, y) < 0)
            return -1;
        if (nudge == 0) { /* as the rows are: what cannot be closed at all is told as such */
            open = close_positions(HERE at, plain, may, 0, residual);
            wrong = open < 0 ? reversed_row(HERE at, plain) : -1;
            if (open < 0 && wrong < 0) {
                memcpy(y, plain, N_S*sizeof *y);
                return -1;
            }
        }
    }
    *reverse = wrong >= 0;
    return *reverse ? wrong : open;
}

#endif
/* Closes the loops by changing free variables only, with all directions as drawn, then u so that they stay closed.
   Returns the number of the row that stays open, or -1. */
static int close_at(GIVEN const Place *at, double *y, const int *may, int nudges, double *residual, int *reverse)
{
    ARRAY(double, all, N_G*(1 + N_Q) + N_V*(1 + N_U) + 1);
    ARRAY(double, change, N_S + 1);
    const double *v = all + N_G*(1 + N_Q), *J = v + N_V;
    int worst = 0, open;
    *reverse = 0;
    (void)nudges;
#if HAS_SIDES
    if (MODEL_HAS(SIDES))
        open = close_as_drawn(HERE at, y, may, nudges, residual, reverse);
    else
#endif
        open = close_positions(HERE at, y, may, 0, residual);
    if (open >= 0)
        return open;
    rows_at(HERE at, y, 0, all, &worst);
    free_change(HERE N_V, N_U, J, v, may + N_Q, N_V, change);
    for (int j = 0; j < N_U; j++)
        y[N_Q + j] -= change[j];
    rows_at(HERE at, y, 0, all, &worst);
    int fastest = 0;
    const double speed = largest_of(N_U, y + N_Q, &fastest);
    *residual = largest_of(N_V, v, &worst);
    return *residual > CARRIED*(speed > 1.0 ? speed : 1.0) ? N_G + worst : -1;
}
