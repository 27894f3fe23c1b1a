/* The kernel compiled once, for all models that are attached to it. */

#include "linked.h"
#include "tables/elimination.h"
#include "solve.c"
#include "elimination.c"
#include "reduced.c"
#include "ground_parts.c"
#include "kernel.c"
#ifndef PAGE
#include "kernel.h"

#undef EXPORT
#ifdef _WIN32
#define EXPORT __declspec(dllexport)
#else
#define EXPORT
#endif

static const Kernel kernel = {
    structure_sizes, run, work_room, raise_wheels, look_at_step, event_room,
    close_loops, find_metric, find_branch, rates_at, rates_of_all, is_calm, is_calm_run, know_python, rates_called,
    steps_on, steps_of_all, set_of_all
};

EXPORT const Kernel *kernel_functions(void)
{
    return &kernel;
}
#endif
