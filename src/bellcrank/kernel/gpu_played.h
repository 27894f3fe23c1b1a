/* A GPU played by a processor, for tests: threads one after another. */
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#define ON_HOST
#define __global__
#define __constant__ static
#define __launch_bounds__(threads, blocks)
static struct { int64_t x; } blockIdx, blockDim, threadIdx;
