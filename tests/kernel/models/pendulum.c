/* A point mass on a rod of length 1, in Cartesian coordinates: g = (x^2 + y^2 - 1)/2, under a gravity of 1 along -y. */
#define HAS_STIFF 0
#include "head.h"
#include "tables/elimination.h"

enum { N_Q = 2, N_U = 2, N_S = 4, N_P = 0, N_C = 0, N_W = 0, N_I = 0, N_OUT = 1, N_G = 1, N_V = 1, N_RG = 1, N_RV = 1 };

static const real ROW_SCALE[N_V] = {1.0}, COLUMN_SCALE[N_U] = {1.0, 1.0};
static const int ROW_AT[N_V + 1] = {0, 2}, ROW_COLUMN[] = {0, 1}, MASS_AT[N_U + 1] = {0, 1, 2}, MASS_COLUMN[] = {0, 1};
#define USUAL_RATIO 1.0
#ifndef ATTACHED
#include "elimination.c"
#endif
#ifndef HAS_DAE
#define HAS_LOOPS 1
#define USUAL_ORDER 1.0
enum { N_ORDER = 0 };
static const int ORDER[N_ORDER + 1][2] = {{0, 0}};
#ifndef ATTACHED
#include "solve.c"
#include "reduced.c"
#endif

static void derivatives(ARGUMENTS, real *qd, real *ud, Externals *x)
{
    UNUSED;
    const real force = (u[0]*u[0] + u[1]*u[1] - q[1])/(q[0]*q[0] + q[1]*q[1]); /* of the rod */
    qd[0] = u[0];
    qd[1] = u[1];
    ud[0] = -force*q[0];
    ud[1] = -force*q[1] - 1.0;
}
#endif

static void outputs(ARGUMENTS, real *out, Externals *x)
{
    UNUSED;
    out[0] = 0.5*(u[0]*u[0] + u[1]*u[1]) + q[1];
}

/* g, its slopes, v, its slopes */
static void closure(ARGUMENTS, real *out, Externals *x)
{
    UNUSED;
    out[0] = 0.5*(q[0]*q[0] + q[1]*q[1] - 1.0);
    out[1] = out[4] = q[0];
    out[2] = out[5] = q[1];
    out[3] = q[0]*u[0] + q[1]*u[1];
}

/* q', M, f, J, gamma, g, v */
static void system_at(ARGUMENTS, real *out, Externals *x)
{
    UNUSED;
    const real all[] = {u[0], u[1], 1.0, 0.0, 1.0, 0.0, -1.0, q[0], q[1], -(u[0]*u[0] + u[1]*u[1]),
        0.5*(q[0]*q[0] + q[1]*q[1] - 1.0), q[0]*u[0] + q[1]*u[1]};
    memcpy(out, all, sizeof all);
}

static void coordinate_rates(ARGUMENTS, real *out, Externals *x)
{
    UNUSED;
    memcpy(out, u, N_Q*sizeof *out);
}

enum { SPEEDS_ARE_RATES = 1, N_PAIRED = 1 };
#if defined(HAS_DAE)
#define HAS_ADAPTIVE 0
enum { DIAGONAL = 1 };
static const int MASS_FROM[N_U] = {0, 1}, PAIR_AT[] = {0, 2}, PAIR_COLUMN[] = {0, 1};
#endif
#include "parts.h"
#ifdef ATTACHED
#include "tables/methods.h"
#include "attached.c"
#else
#include "kernel.c"
#endif
#include "tail.h"
