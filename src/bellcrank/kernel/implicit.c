/* Functions given by equations: a state that satisfies them for one or two inputs, with two derivatives. */

#include "formulas.h"
#include "tables/implicit.h"

typedef struct Implicit {
    int32_t size, rows, unknowns, inputs; /* numbers of the state; equations; unknowns; inputs */
    int32_t last;               /* intervals of the first input, from `low` on, `per` of them to a unit */
    double low, per;
    const double *start;        /* of each node: the state, two derivatives by the first input, three by the second */
    const int32_t *column;      /* the unknown of each column of the equations' derivatives */
    int32_t n_turned, n_moved, n_held;
    const int32_t *turned;      /* Euler parameters: where they begin, and the columns that turn them, or -1 */
    const int32_t *moved;       /* numbers of the state, and the column that moves each */
    const int32_t *held;        /* numbers of the state that are inputs: which, of which input, which unknown ... */
    const double *drawn;        /* ... and that number = drawn + sign*input */
    Formulas equations;         /* over state and inputs: with the other sign, then their derivatives by columns */
    Formulas by_first, by_second; /* right sides for the derivatives by an input */
    Formulas bias;              /* right sides for the second derivatives, over first ones, too */
} Implicit;

/* LU factorisation with row pivoting, in place; 1 if a pivot vanishes. */
static inline int implicit_factor(int32_t n, double *J, int32_t *pivot)
{
    for (int32_t k = 0; k < n; k++) {
        int32_t best = k;
        for (int32_t i = k + 1; i < n; i++)
            if (fabs(J[i*n + k]) > fabs(J[best*n + k]))
                best = i;
        pivot[k] = best;
        if (!(fabs(J[best*n + k]) > 0.0))
            return 1;
        if (best != k)
            for (int32_t j = 0; j < n; j++) {
                const double x = J[k*n + j];
                J[k*n + j] = J[best*n + j];
                J[best*n + j] = x;
            }
        const double r = 1.0/J[k*n + k];
        J[k*n + k] = r;
        for (int32_t i = k + 1; i < n; i++) {
            const double x = J[i*n + k] *= r;
            for (int32_t j = k + 1; j < n; j++)
                J[i*n + j] -= x*J[k*n + j];
        }
    }
    return 0;
}

static inline void implicit_solve(int32_t n, const double *J, const int32_t *pivot, double *g)
{
    for (int32_t k = 0; k < n; k++) {
        const double x = g[pivot[k]];
        g[pivot[k]] = g[k];
        g[k] = x;
    }
    for (int32_t i = 1; i < n; i++)
        for (int32_t j = 0; j < i; j++)
            g[i] -= J[i*n + j]*g[j];
    for (int32_t i = n - 1; i >= 0; i--) {
        for (int32_t j = i + 1; j < n; j++)
            g[i] -= J[i*n + j]*g[j];
        g[i] *= J[i*n + i];
    }
}

/* Euler parameters of length 1. */
static inline void implicit_normal(double *e)
{
    const double size = 1.0/sqrt(e[0]*e[0] + e[1]*e[1] + e[2]*e[2] + e[3]*e[3]);
    for (int32_t k = 0; k < 4; k++)
        e[k] *= size;
}

/* Euler parameters after a rotation by a small vector. */
static inline void implicit_turn(double *e, double a, double b, double c)
{
    const double x = 0.25*(a*a + b*b + c*c), r = sqrt(x);
    const double f = 0.5*(x < IMPLICIT_SMALL ? 1.0 - x/6.0 + x*x/120.0 : sin(r)/r);
    const double w = x < IMPLICIT_SMALL ? 1.0 - x/2.0*(1.0 - x/12.0*(1.0 - x/30.0)) : cos(r);
    const double p = f*a, q = f*b, s = f*c, e0 = e[0], e1 = e[1], e2 = e[2], e3 = e[3];
    const double n0 = w*e0 - p*e1 - q*e2 - s*e3, n1 = w*e1 + p*e0 + q*e3 - s*e2;
    const double n2 = w*e2 + q*e0 + s*e1 - p*e3, n3 = w*e3 + s*e0 + p*e2 - q*e1;
    const double size = 1.0/sqrt(n0*n0 + n1*n1 + n2*n2 + n3*n3);
    e[0] = n0*size;
    e[1] = n1*size;
    e[2] = n2*size;
    e[3] = n3*size;
}

/* The state between two nodes of the grid, with inputs as they are. */
static inline void implicit_start(const Implicit *f, const double *x, double place, double *s)
{
    const int32_t n = f->size, i = place < f->last ? (int32_t)place : f->last - 1;
    const double t = place - i, v = 1.0 - t, h = 1.0/f->per, low = v*v*v, high = t*t*t;
    const double a = low*(1.0 + t*(3.0 + 6.0*t)), b = high*(1.0 + v*(3.0 + 6.0*v));
    const double c = h*t*low*(1.0 + 3.0*t), d = -h*v*high*(1.0 + 3.0*v);
    const double e = 0.5*h*h*t*t*low, g = 0.5*h*h*v*v*high;
    const int32_t width = f->inputs == 2 ? 6*n : 3*n;
    const double *from = f->start + (int64_t)i*width, *to = from + width;
    for (int32_t k = 0; k < n; k++) {
        s[k] = a*from[k] + b*to[k] + c*from[n + k] + d*to[n + k] + e*from[2*n + k] + g*to[2*n + k];
        if (f->inputs == 2) {
            const double r = x[1];
            s[k] += r*(v*from[3*n + k] + t*to[3*n + k] + r/2.0*(v*from[4*n + k] + t*to[4*n + k]
                + r/3.0*(v*from[5*n + k] + t*to[5*n + k])));
        }
    }
    for (int32_t k = 0; k < f->n_held; k++)
        s[f->held[3*k]] = f->drawn[2*k] + f->drawn[2*k + 1]*x[f->held[3*k + 1]];
    for (int32_t k = 0; k < f->n_turned; k++)
        implicit_normal(s + f->turned[4*k]);
}

/* The state at the inputs x, its derivatives by them, and its second derivatives (11, or 11, 22, 12): Newton's method
   from a start on the grid; not-a-number outside the grid or where it does not settle. `room` has
   size + rows*(rows + 1) + inputs*unknowns + pairs*rows numbers, `pivot` one of each equation. */
static inline void implicit_values(const Implicit *f, const double *x, double *room, int32_t *pivot, double *values)
{
    const int32_t rows = f->rows, unknowns = f->unknowns, pairs = f->inputs == 2 ? 3 : 1;
    double *const s = room, *const g = s + f->size, *const J = g + rows, *const y = J + rows*rows;
    double *const right = y + f->inputs*unknowns;
    const double place = (x[0] - f->low)*f->per;
    int settled = 0;
    if (place >= 0.0 && place <= f->last) {
        implicit_start(f, x, place, s);
        for (int32_t turn = 0; turn < IMPLICIT_TURNS && !settled; turn++) {
            f->equations(s, x, NULL, g);
            if (implicit_factor(rows, J, pivot))
                break;
            implicit_solve(rows, J, pivot, g);
            double largest = 0.0;
            for (int32_t k = 0; k < rows; k++)
                largest = fabs(g[k]) > largest ? fabs(g[k]) : largest;
            for (int32_t k = 0; k < f->n_turned; k++) {
                const int32_t *by = f->turned + 4*k;
                implicit_turn(s + by[0], by[1] < 0 ? 0.0 : g[by[1]], by[2] < 0 ? 0.0 : g[by[2]],
                    by[3] < 0 ? 0.0 : g[by[3]]);
            }
            for (int32_t k = 0; k < f->n_moved; k++)
                s[f->moved[2*k]] += g[f->moved[2*k + 1]];
            settled = largest < IMPLICIT_SETTLED;
            if (!(largest < 1.0))
                break;
        }
    }
    if (!settled) {
        for (int32_t k = 0; k < f->size + (f->inputs + pairs)*unknowns; k++)
            values[k] = NAN;
        return;
    }
    for (int32_t k = 0; k < f->size; k++)
        values[k] = s[k];
    double *out = values + f->size;
    for (int32_t j = 0; j < f->inputs; j++, out += unknowns) {
        (j == 0 ? f->by_first : f->by_second)(s, x, NULL, g);
        implicit_solve(rows, J, pivot, g);
        double *const rates = y + j*unknowns;
        for (int32_t k = 0; k < unknowns; k++)
            rates[k] = 0.0;
        for (int32_t k = 0; k < rows; k++)
            rates[f->column[k]] = g[k];
        for (int32_t k = 0; k < f->n_held; k++)
            if (f->held[3*k + 1] == j)
                rates[f->held[3*k + 2]] = f->drawn[2*k + 1];
        for (int32_t k = 0; k < unknowns; k++)
            out[k] = rates[k];
    }
    f->bias(s, x, y, right);
    for (int32_t j = 0; j < pairs; j++, out += unknowns) {
        implicit_solve(rows, J, pivot, right + j*rows);
        for (int32_t k = 0; k < unknowns; k++)
            out[k] = 0.0;
        for (int32_t k = 0; k < rows; k++)
            out[f->column[k]] = right[j*rows + k];
    }
}
