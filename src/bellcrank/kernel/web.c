/* The kernel in WebAssembly: that which models are attached to, and what their functions call. No compiler is needed
   where it runs: `python -m bellcrank.codegen.wasm.make_kernel` makes it, by clang and the C library of WASI. */

#include <math.h>

#include "sine.c"
#include "linked.c"
#include "room.h"
#include "callback.c"
#include "surface.c"
#if HAS_LINKAGES
#include "lookup.c"
#include "implicit.c"
#endif
#if HAS_GROUND
#include "ground_grid.c"
#endif
#ifndef PAGE
#include "tables/functions.c"

typedef real scalar;
#include "many_runs.c"
#endif

#define SEEN(name) __attribute__((export_name(#name)))

/* The model that runs, and memory for its functions: a module has one. */
static const Model *the_model;
static real *the_room;

SEEN(use_model) void use_model(const Model *model, real *room)
{
    the_model = model;
    the_room = room;
}

/* Of the text from which it was made. */
SEEN(digest) const char *digest(void)
{
    return DIGEST;
}

SEEN(room_size) int room_size(const Model *model)
{
    return ROOM;
}

SEEN(structure_size) int structure_size(int which)
{
    const int sizes[] = {sizeof(Job), sizeof(Input), sizeof(Externals), sizeof(Model), sizeof(Events)};
    return sizes[which];
}

/* Sines, then cosines, of parts of a radian: rows/2 of them on both sides of zero. */
SEEN(fill_sines) void fill_sines(real *at, int rows, int parts)
{
    for (int i = 0; i < rows; i++) {
        const real x = (real)(i - rows/2)/(real)parts;
        at[i] = sin(x);
        at[rows + i] = cos(x);
    }
}

SEEN(sign) real sign(real x)
{
    return x > 0.0 ? 1.0 : x < 0.0 ? -1.0 : x;
}

SEEN(solve) void solve(int n, real *a, real *b)
{
    solve_symmetric(n, a, b);
}

#if HAS_SYSTEM
SEEN(constrained_rates) void constrained_rates(const real *mass, const real *force, const real *rows,
    const real *right, real *rates)
{
    const Model *model = the_model;
    rates[N_U] = reduced(model, the_room, mass, force, rows, right, 0, rates);
}
#endif

SEEN(external) void external(Externals *x, int routine, const real *arguments, real *values, int n)
{
    call_external(x, routine, arguments, values, n);
}

SEEN(spline) real spline(real v, int n, const real *x, const real *pieces, int d)
{
    return spline_value(n, x, pieces, d, v);
}

SEEN(surface) real surface(real v, real w, int nx, const real *x, int ny, const real *y, const real *pieces, int dx,
    int dy)
{
    return surface_value(nx, x, ny, y, pieces, dx, dy, v, w);
}
#if HAS_LINKAGES

SEEN(lookup) void lookup(const Lookup *f, const double *x, double *values)
{
    look_up(f, x, values);
}

/* `room`: a number of each equation, then that of implicit_values. */
SEEN(implicit) void implicit(const Implicit *f, const double *x, double *room, double *values)
{
    implicit_values(f, x, room + f->rows, (int32_t *)(void *)room, values);
}
#endif
#if HAS_GROUND

SEEN(ground_near) void seen_ground_near(const Ground *ground, const double *x, double *near)
{
    ground_near_at(ground, x, near);
}

SEEN(ground_turn) void seen_ground_turn(const Ground *ground, const double *x, double *found)
{
    ground_turn_at(ground, x, found);
}

SEEN(grid_near) void seen_grid_near(const GroundGrid *ground, const double *x, double *near)
{
    grid_near_at(ground, x, near);
}

SEEN(grid_turn) void seen_grid_turn(const GroundGrid *ground, const double *x, double *found)
{
    grid_turn_at(ground, x, found);
}
#endif
#ifndef PAGE

static real *room_of_runs;
static Evaluated constants_of_model;

static int run_here(struct Job *job)
{
    return run(the_model, room_of_runs, job);
}

static void constants_here(const double *p, double *c)
{
    constants_of_model(0.0, NULL, NULL, p, NULL, NULL, c, NULL);
}

/* Bytes that `run_many` needs for figures. */
SEEN(tally_room) int tally_room(const Batch *b)
{
    return (int)(b->n_figures*(int64_t)sizeof(Tally) + all_cells(b)*(int64_t)sizeof(int32_t)) + 8;
}

/* All runs of a batch. */
SEEN(run_many) void seen_run_many(real *room, Evaluated constants, Batch *b, Job *job, Tally *tallies)
{
    room_of_runs = room;
    constants_of_model = constants;
    b->run = run_here;
    b->constants = constants_here;
    give_cells(b, tallies, (int32_t *)(void *)(tallies + b->n_figures));
    run_all(b, job, tallies, 0, b->n);
}
#endif
