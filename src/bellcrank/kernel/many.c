/* Many runs of a compiled program, one after another: the same for all models with a job of this kind. */

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define real double
typedef double scalar;
#ifdef _WIN32
#define EXPORT __declspec(dllexport)
#else
#define EXPORT
#endif

#include "externals.h"
#include "job.h"
#include "many_runs.c"

EXPORT void run_many(const Batch *b, Job *job, int64_t first, int64_t last)
{
    Tally *tallies = new_tallies(b, 1);
    if (tallies)
        run_all(b, job, tallies, first, last);
    free(tallies);
}
