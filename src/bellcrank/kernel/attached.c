/* A model attached to a kernel that was compiled before: its table, and the functions that callers know. */

#include "job.h"
#include "model.h"
#include "kernel.h"
#include "room.h"

static const Model model = {
    .LOOPS = HAS_LOOPS, .CORRECTION = HAS_CORRECTION, .BRIDGES = HAS_BRIDGES, .SIDES = HAS_SIDES, .DAE = HAS_DAE,
    .WHEELS = HAS_WHEELS, .STIFF = HAS_STIFF, .SLOPES = HAS_SLOPES, .closure_inputs = CLOSURE_INPUTS,
    .remembers = REMEMBERS,
    .n_q = N_Q, .n_u = N_U, .n_s = N_S, .n_i = N_I, .n_w = N_W, .n_out = N_OUT,
    .n_unit = N_UNIT, .unit_at = UNIT_AT, .outputs = outputs,
    .n_start = N_START, .n_update = N_UPDATE,
#if N_START
    .start = start,
#endif
#if N_UPDATE
    .update = update,
#endif
#if !HAS_DAE
    .derivatives = derivatives,
#endif
#if HAS_SYSTEM
    .n_g = N_G, .n_v = N_V, .n_rg = N_RG, .n_rv = N_RV, .n_paired = N_PAIRED, .speeds_are_rates = SPEEDS_ARE_RATES,
    .usual_ratio = USUAL_RATIO, .row_scale = ROW_SCALE, .column_scale = COLUMN_SCALE, .row_at = ROW_AT,
    .row_column = ROW_COLUMN, .mass_at = MASS_AT, .mass_column = MASS_COLUMN,
    .closure = closure, .system_at = system_at, .coordinate_rates = coordinate_rates,
#endif
#if HAS_LOOPS
    .n_order = N_ORDER, .usual_order = USUAL_ORDER, .order = ORDER,
#endif
#if HAS_ASSEMBLY
    .inertias = inertias,
#endif
#if HAS_CORRECTION
    .n_corrected_q = N_CORRECTED_Q, .n_corrected_u = N_CORRECTED_U, .corrected_q = CORRECTED_Q,
    .corrected_u = CORRECTED_U, .pivot_scale = PIVOT_SCALE, .correct_q = correct_q, .correct_u = correct_u,
#endif
#if HAS_SIDES
    .n_sides = N_SIDES, .side_of = side_of, .sides = sides,
#endif
#if HAS_BRIDGES
    .n_blocks = N_BLOCKS, .widest = WIDEST, .most_block_rows = MOST_BLOCK_ROWS, .block_at = BLOCK_AT,
    .block_u = BLOCK_U, .block_q = BLOCK_Q, .block_row_at = BLOCK_ROW_AT, .block_row = BLOCK_ROW,
    .block_usual = BLOCK_USUAL,
#endif
#if HAS_DAE
    .diagonal = DIAGONAL, .mass_from = MASS_FROM, .pair_at = PAIR_AT, .pair_column = PAIR_COLUMN,
#endif
#if HAS_STIFF
    .n_first = N_FIRST, .slopes_cost = SLOPES_COST, .factor_cost = FACTOR_COST, .solve_cost = SOLVE_COST,
    .state_order = STATE_ORDER, .down = DOWN, .below = BELOW, .across = ACROSS, .beside = BESIDE,
#endif
#if HAS_SLOPES
    .n_slopes = N_SLOPES, .slope_place = SLOPE_PLACE, .slope_column = SLOPE_COLUMN, .sloped = SLOPED, .slopes = slopes,
#endif
#if HAS_WHEELS
    .n_wheels = N_WHEELS, .wheel_radius = WHEEL_RADIUS, .wheel_restitution = WHEEL_RESTITUTION,
    .wheel_resistance = WHEEL_RESISTANCE, .wheel_grip = WHEEL_GRIP, .wheel_input = WHEEL_INPUT,
    .wheel_ground = WHEEL_GROUND, .wheels_at = wheels_at,
#endif
};

static const Kernel *kernel;

EXPORT void attach(const Kernel *given)
{
    kernel = given;
}

EXPORT int64_t work_room(void)
{
    return kernel->work_room(&model);
}

EXPORT int run(Job *job)
{
    real room[ROOM];
    return kernel->run(&model, room, job);
}
#if HAS_WHEELS

EXPORT int raise_wheels(Job *job)
{
    real room[ROOM];
    return kernel->raise_wheels(&model, room, job);
}
#endif
#if HAS_LOOKS
#if HAS_ADAPTIVE

EXPORT int look_at_step(Job *job)
{
    real room[ROOM];
    return kernel->look_at_step(&model, room, job);
}
#endif

EXPORT int64_t event_room(const Events *sizes)
{
    return kernel->event_room(&model, NULL, sizes);
}
#endif
#if HAS_ASSEMBLY

EXPORT int close_loops(Job *job, double *y, const int *may, int nudges, double *residual, int *reverse)
{
    real room[ROOM];
    return kernel->close_loops(&model, room, job, y, may, nudges, residual, reverse);
}

EXPORT void find_metric(Job *job, const double *y, double *root_q, double *root_u)
{
    real room[ROOM];
    kernel->find_metric(&model, room, job, y, root_q, root_u);
}

EXPORT int find_branch(Job *job)
{
    real room[ROOM];
    return kernel->find_branch(&model, room, job);
}
#endif
#if HAS_CALLS

EXPORT int rates_at(real t, const real *x, real *xdot, const void *bound)
{
    real room[ROOM];
    return kernel->rates_at(&model, room, t, x, xdot, bound);
}

EXPORT int rates_of_all(int64_t n, int32_t afresh, const real *t, const real *x, real *xdot, int32_t *near,
    const void *bound)
{
    real room[ROOM];
    return kernel->rates_of_all(&model, room, n, afresh, t, x, xdot, near, bound);
}

EXPORT int is_calm(int64_t n, const real *t, const real *x, real h, real push, int32_t squarings, real most,
    const void *bound)
{
    real room[ROOM_WITH_SLOPES];
    return kernel->is_calm(&model, room, n, t, x, h, push, squarings, most, bound);
}

EXPORT int is_calm_run(int64_t n, int64_t width, const real *rows, real h, real push, int32_t squarings, real most,
    const void *bound)
{
    real room[ROOM_WITH_SLOPES];
    return kernel->is_calm_run(&model, room, n, width, rows, h, push, squarings, most, bound);
}

EXPORT void know_python(void *const *functions)
{
    kernel->know_python(functions);
}

EXPORT void *rates_called(void *self, void *const *given, intptr_t n)
{
    real room[ROOM];
    return kernel->rates_called(&model, room, self, given, n);
}
#endif
#if HAS_STEPS

EXPORT int steps_on(Job *job, int64_t n)
{
    real room[ROOM];
    return kernel->steps_on(&model, room, job, n);
}

EXPORT int64_t steps_of_all(Job *const *jobs, int64_t count, int64_t n)
{
    real room[ROOM];
    return kernel->steps_of_all(&model, room, jobs, count, n);
}

EXPORT void set_of_all(Job *const *jobs, int64_t count, int64_t each, const int64_t *places, const real *values)
{
    kernel->set_of_all(jobs, count, each, places, values);
}
#endif
