/* ---- linear systems of stiff methods: s x - slopes x = r */

#include "tables/newton.h"

typedef struct Stiff {
    FIELD(real, slopes, N_S*N_S + 1);                   /* of the rates, states in the order of elimination */
    FIELD(real, one, N_S*N_S + 1);                      /* the real matrix, factored ... */
    FIELD(real, re, N_S*N_S + 1);                       /* ... the complex one ... */
    FIELD(real, im, N_S*N_S + 1);
    FIELD(int, one_row, N_S + 1);                       /* ... their pivots ... */
    FIELD(int, pair_row, N_S + 1);
    int one_first, pair_first, usual;                   /* ... and how many were eliminated first, if that is usual */
    real factored;                                      /* the step they were factored for, or 0 */
    real before, eta, theta, slow;                      /* the step before; how Newton's method converges */
    int known, fresh, middle, polynomial, turns;        /* are there slopes, of this state? stages of a step before? */
    real fastest, first_fastest;                        /* rate of the fastest mode, and at the first slopes */
    real gained, spent, solved;                         /* in the present trial: time, its cost so far; all solutions */
    int tried;                                          /* steps of trials */
} Stiff;

static Stiff *stiff_of(const Job *job)
{
    return (Stiff *)(void *)((char *)job->work + ((sizeof(Work) + 15)/16)*16);
}

/* Eliminates the first states of a matrix, each by its own pivot; nonzero if one is too small for that. */
static int eliminate_real(GIVEN real *A, real s)
{
    for (int k = 0; k < N_FIRST; k++) {
        if (!(fabs(A[k*N_S + k]) >= OWN_PIVOT*fabs(s)))
            return 1;
        const real pivot = A[k*N_S + k] = 1.0/A[k*N_S + k];
        for (int d = DOWN[k]; d < DOWN[k + 1]; d++) {
            real *below = A + BELOW[d]*N_S;
            const real x = below[k] *= pivot;
            for (int c = ACROSS[k]; c < ACROSS[k + 1]; c++)
                below[BESIDE[c]] -= x*A[k*N_S + BESIDE[c]];
        }
    }
    return 0;
}

/* Factors what is left of a matrix from a row on; nonzero if that is singular. */
static inline int reduce_real(GIVEN real *A, int *row, const int first)
{
    for (int k = first; k < N_S; k++) {
        int m = k;
        for (int i = k + 1; i < N_S; i++)
            if (fabs(A[i*N_S + k]) > fabs(A[m*N_S + k]))
                m = i;
        row[k] = m;
        if (!(fabs(A[m*N_S + k]) > 0.0))
            return 1;
        for (int j = first; j < N_S && m != k; j++) {
            const real x = A[k*N_S + j];
            A[k*N_S + j] = A[m*N_S + j];
            A[m*N_S + j] = x;
        }
        const real pivot = A[k*N_S + k] = 1.0/A[k*N_S + k];
        for (int i = k + 1; i < N_S; i++) {
            const real x = A[i*N_S + k] *= pivot;
            if (x != 0.0)
                for (int j = k + 1; j < N_S; j++)
                    A[i*N_S + j] -= x*A[k*N_S + j];
        }
    }
    return 0;
}

/* Factors s - slopes; nonzero if that is singular. */
static int factor_real(GIVEN Stiff *f, real s)
{
    for (f->one_first = f->usual ? N_FIRST : 0;; f->one_first = 0) {
        for (int i = 0; i < N_S*N_S; i++)
            f->one[i] = -f->slopes[i];
        for (int i = 0; i < N_S; i++)
            f->one[i*N_S + i] += s;
        if (!f->one_first)
            return reduce_real(HERE f->one, f->one_row, 0);
        if (!eliminate_real(HERE f->one, s))
            return reduce_real(HERE f->one, f->one_row, N_FIRST);
    }
}

static inline void back_real(GIVEN const real *A, const int *row, const int first, real *b)
{
    for (int k = first; k < N_S; k++) {
        const real x = b[row[k]];
        b[row[k]] = b[k];
        b[k] = x;
    }
    for (int i = first + 1; i < N_S; i++) {
        real x = b[i];
        for (int j = first; j < i; j++)
            x -= A[i*N_S + j]*b[j];
        b[i] = x;
    }
    for (int i = N_S - 1; i >= first; i--) {
        real x = b[i];
        for (int j = i + 1; j < N_S; j++)
            x -= A[i*N_S + j]*b[j];
        b[i] = x*A[i*N_S + i];
    }
}

static void solve_real(GIVEN const Stiff *f, real *given)
{
    const real *A = f->one;
    ARRAY(real, b, N_S + 1);
    for (int i = 0; i < N_S; i++)
        b[i] = given[STATE_ORDER[i]];
    if (!f->one_first)
        back_real(HERE A, f->one_row, 0, b);
    else {
        for (int k = 0; k < N_FIRST; k++)
            for (int d = DOWN[k]; d < DOWN[k + 1]; d++)
                b[BELOW[d]] -= A[BELOW[d]*N_S + k]*b[k];
        back_real(HERE A, f->one_row, N_FIRST, b);
        for (int k = N_FIRST - 1; k >= 0; k--) {
            real x = b[k];
            for (int c = ACROSS[k]; c < ACROSS[k + 1]; c++)
                x -= A[k*N_S + BESIDE[c]]*b[BESIDE[c]];
            b[k] = x*A[k*N_S + k];
        }
    }
    for (int i = 0; i < N_S; i++)
        given[STATE_ORDER[i]] = b[i];
}

/* The same with a complex s: real and imaginary parts apart. */
static int eliminate_pair(GIVEN real *A, real *B, real size)
{
    for (int k = 0; k < N_FIRST; k++) {
        const real a = A[k*N_S + k], b = B[k*N_S + k], square = a*a + b*b;
        if (!(square >= OWN_PIVOT*OWN_PIVOT*size))
            return 1;
        const real re = A[k*N_S + k] = a/square, im = B[k*N_S + k] = -b/square;
        for (int d = DOWN[k]; d < DOWN[k + 1]; d++) {
            real *below = A + BELOW[d]*N_S, *there = B + BELOW[d]*N_S;
            const real x = below[k]*re - there[k]*im, y = below[k]*im + there[k]*re;
            below[k] = x;
            there[k] = y;
            for (int c = ACROSS[k]; c < ACROSS[k + 1]; c++) {
                const int j = BESIDE[c];
                below[j] -= x*A[k*N_S + j] - y*B[k*N_S + j];
                there[j] -= x*B[k*N_S + j] + y*A[k*N_S + j];
            }
        }
    }
    return 0;
}

static inline int reduce_pair(GIVEN real *A, real *B, int *row, const int first)
{
    for (int k = first; k < N_S; k++) {
        int m = k;
        for (int i = k + 1; i < N_S; i++)
            if (fabs(A[i*N_S + k]) + fabs(B[i*N_S + k]) > fabs(A[m*N_S + k]) + fabs(B[m*N_S + k]))
                m = i;
        row[k] = m;
        if (!(fabs(A[m*N_S + k]) + fabs(B[m*N_S + k]) > 0.0))
            return 1;
        for (int j = first; j < N_S && m != k; j++) {
            const real x = A[k*N_S + j], y = B[k*N_S + j];
            A[k*N_S + j] = A[m*N_S + j];
            B[k*N_S + j] = B[m*N_S + j];
            A[m*N_S + j] = x;
            B[m*N_S + j] = y;
        }
        const real a = A[k*N_S + k], b = B[k*N_S + k], square = 1.0/(a*a + b*b), re = a*square, im = -b*square;
        A[k*N_S + k] = re;
        B[k*N_S + k] = im;
        for (int i = k + 1; i < N_S; i++) {
            const real c = A[i*N_S + k], d = B[i*N_S + k], x = c*re - d*im, y = c*im + d*re;
            A[i*N_S + k] = x;
            B[i*N_S + k] = y;
            if (x != 0.0 || y != 0.0)
                for (int j = k + 1; j < N_S; j++) {
                    A[i*N_S + j] -= x*A[k*N_S + j] - y*B[k*N_S + j];
                    B[i*N_S + j] -= x*B[k*N_S + j] + y*A[k*N_S + j];
                }
        }
    }
    return 0;
}

static int factor_pair(GIVEN Stiff *f, real s, real t)
{
    for (f->pair_first = f->usual ? N_FIRST : 0;; f->pair_first = 0) {
        for (int i = 0; i < N_S*N_S; i++) {
            f->re[i] = -f->slopes[i];
            f->im[i] = 0.0;
        }
        for (int i = 0; i < N_S; i++) {
            f->re[i*N_S + i] += s;
            f->im[i*N_S + i] = t;
        }
        if (!f->pair_first)
            return reduce_pair(HERE f->re, f->im, f->pair_row, 0);
        if (!eliminate_pair(HERE f->re, f->im, s*s + t*t))
            return reduce_pair(HERE f->re, f->im, f->pair_row, N_FIRST);
    }
}

static inline void back_pair(GIVEN const real *A, const real *B, const int *row, const int first, real *re, real *im)
{
    for (int k = first; k < N_S; k++) {
        const real x = re[row[k]], y = im[row[k]];
        re[row[k]] = re[k];
        im[row[k]] = im[k];
        re[k] = x;
        im[k] = y;
    }
    for (int i = first + 1; i < N_S; i++) {
        real x = re[i], y = im[i];
        for (int j = first; j < i; j++) {
            x -= A[i*N_S + j]*re[j] - B[i*N_S + j]*im[j];
            y -= A[i*N_S + j]*im[j] + B[i*N_S + j]*re[j];
        }
        re[i] = x;
        im[i] = y;
    }
    for (int i = N_S - 1; i >= first; i--) {
        real x = re[i], y = im[i];
        for (int j = i + 1; j < N_S; j++) {
            x -= A[i*N_S + j]*re[j] - B[i*N_S + j]*im[j];
            y -= A[i*N_S + j]*im[j] + B[i*N_S + j]*re[j];
        }
        re[i] = x*A[i*N_S + i] - y*B[i*N_S + i];
        im[i] = x*B[i*N_S + i] + y*A[i*N_S + i];
    }
}

static void solve_pair(GIVEN const Stiff *f, real *given_re, real *given_im)
{
    const real *A = f->re, *B = f->im;
    ARRAY(real, re, N_S + 1);
    ARRAY(real, im, N_S + 1);
    for (int i = 0; i < N_S; i++) {
        re[i] = given_re[STATE_ORDER[i]];
        im[i] = given_im[STATE_ORDER[i]];
    }
    if (!f->pair_first)
        back_pair(HERE A, B, f->pair_row, 0, re, im);
    else {
        for (int k = 0; k < N_FIRST; k++)
            for (int d = DOWN[k]; d < DOWN[k + 1]; d++) {
                const int i = BELOW[d];
                re[i] -= A[i*N_S + k]*re[k] - B[i*N_S + k]*im[k];
                im[i] -= A[i*N_S + k]*im[k] + B[i*N_S + k]*re[k];
            }
        back_pair(HERE A, B, f->pair_row, N_FIRST, re, im);
        for (int k = N_FIRST - 1; k >= 0; k--) {
            real x = re[k], y = im[k];
            for (int c = ACROSS[k]; c < ACROSS[k + 1]; c++) {
                const int j = BESIDE[c];
                x -= A[k*N_S + j]*re[j] - B[k*N_S + j]*im[j];
                y -= A[k*N_S + j]*im[j] + B[k*N_S + j]*re[j];
            }
            re[k] = x*A[k*N_S + k] - y*B[k*N_S + k];
            im[k] = x*B[k*N_S + k] + y*A[k*N_S + k];
        }
    }
    for (int i = 0; i < N_S; i++) {
        given_re[STATE_ORDER[i]] = re[i];
        given_im[STATE_ORDER[i]] = im[i];
    }
}

