/* x'' = -x, with an output: twice its energy. */
#include "head.h"

enum { N_Q = 1, N_U = 1, N_S = 2, N_P = 0, N_C = 0, N_W = 0, N_I = 0, N_OUT = 1 };

static void derivatives(ARGUMENTS, real *qd, real *ud, Externals *x)
{
    UNUSED;
    qd[0] = u[0];
    ud[0] = -q[0];
}

static void outputs(ARGUMENTS, real *out, Externals *x)
{
    UNUSED;
    out[0] = q[0]*q[0] + u[0]*u[0];
}

#include "parts.h"

/* stiff methods: states in the order of elimination, and what it costs */
enum { N_FIRST = 0 };
static const int STATE_ORDER[] = {0, 1}, DOWN[] = {0}, BELOW[] = {0}, ACROSS[] = {0}, BESIDE[] = {0};
#define SLOPES_COST 2.0
#define FACTOR_COST 1.0
#define SOLVE_COST 1.0

#ifdef ATTACHED
#include "tables/methods.h"
#include "attached.c"
#else
#include "kernel.c"
#endif
#include "tail.h"
