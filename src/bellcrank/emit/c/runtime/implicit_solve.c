#ifndef IMPLICIT_SOLVE
#define IMPLICIT_SOLVE
/* LU factorisation with row pivoting, in place; 1 if a pivot vanishes. */
static int implicit_factor(int n, double *J, int *pivot)
{
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(J[i*n + k]) > fabs(J[best*n + k]))
                best = i;
        pivot[k] = best;
        if (!(fabs(J[best*n + k]) > 0.0))
            return 1;
        if (best != k)
            for (int j = 0; j < n; j++) {
                const double x = J[k*n + j];
                J[k*n + j] = J[best*n + j];
                J[best*n + j] = x;
            }
        const double r = 1.0/J[k*n + k];
        J[k*n + k] = r;
        for (int i = k + 1; i < n; i++) {
            const double x = J[i*n + k] *= r;
            for (int j = k + 1; j < n; j++)
                J[i*n + j] -= x*J[k*n + j];
        }
    }
    return 0;
}

static void implicit_solve(int n, const double *J, const int *pivot, double *g)
{
    for (int k = 0; k < n; k++) {
        const double x = g[pivot[k]];
        g[pivot[k]] = g[k];
        g[k] = x;
    }
    for (int i = 1; i < n; i++)
        for (int j = 0; j < i; j++)
            g[i] -= J[i*n + j]*g[j];
    for (int i = n - 1; i >= 0; i--) {
        for (int j = i + 1; j < n; j++)
            g[i] -= J[i*n + j]*g[j];
        g[i] *= J[i*n + i];
    }
}

/* Euler parameters of length 1. */
static inline void implicit_normal(double *e)
{
    const double size = 1.0/sqrt(e[0]*e[0] + e[1]*e[1] + e[2]*e[2] + e[3]*e[3]);
    for (int k = 0; k < 4; k++)
        e[k] *= size;
}

/* Euler parameters after a rotation by a small vector. */
static void implicit_turn(double *e, double a, double b, double c)
{
    const double x = 0.25*(a*a + b*b + c*c), r = sqrt(x);
    const double f = 0.5*(x < @SMALL@ ? 1.0 - x/6.0 + x*x/120.0 : sin(r)/r);
    const double w = x < @SMALL@ ? 1.0 - x/2.0*(1.0 - x/12.0*(1.0 - x/30.0)) : cos(r);
    const double p = f*a, q = f*b, s = f*c, e0 = e[0], e1 = e[1], e2 = e[2], e3 = e[3];
    const double n0 = w*e0 - p*e1 - q*e2 - s*e3, n1 = w*e1 + p*e0 + q*e3 - s*e2;
    const double n2 = w*e2 + q*e0 + s*e1 - p*e3, n3 = w*e3 + s*e0 + p*e2 - q*e1;
    const double size = 1.0/sqrt(n0*n0 + n1*n1 + n2*n2 + n3*n3);
    e[0] = n0*size;
    e[1] = n1*size;
    e[2] = n2*size;
    e[3] = n3*size;
}
#endif
