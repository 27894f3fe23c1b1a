/* What stands before the kernel in every hand-made model. */
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#define EXPORT
#define SEPARATE
#define real double

#include "unity.h"
#include "externals.h"

#define ARGUMENTS real t, const real *q, const real *u, const real *p, const real *c, const real *w
#define UNUSED (void)t, (void)q, (void)u, (void)p, (void)c, (void)w, (void)x
