/* The kernel of pages: fixed steps alone, with closed loops, linkages and events where a model has them. Mathematical
   functions that are not here are those of the browser. */

#include "web.c"

/* The model, and memory behind that of its functions. */
#define IT the_model, the_room + room_size(the_model)

/* Takes n more steps; 0: the start, or a state after something was changed. One row is left. Returns the status. */
SEEN(go) int go(Job *job, int n)
{
    return steps_on(IT, job, n);
}

/* Inputs at the time of a job. */
SEEN(inputs) void inputs_now(const Job *job, real *w)
{
    set_inputs(IT, job, job->t, w);
#if HAS_WHEELS
    if (the_model->WHEELS)
        with_ground(IT, (Job *)job, job->t, job->y, w);
#endif
}

/* A signal at a time. */
SEEN(signal) real signal_at(const Input *in, real t)
{
    return input_value(in, t);
}
#if HAS_LOOPS

/* Closes the loops of the state of a job by what may be moved; 0 if they cannot be closed. */
SEEN(close) int closed(Job *job, const int *may)
{
    double residual;
    int reverse;
    return close_loops(IT, job, job->y, may, NUDGES, &residual, &reverse) < 0;
}

SEEN(metric) void metric_now(Job *job)
{
    find_metric(IT, job, job->y, (real *)job->root_q, (real *)job->root_u);
}
#endif
#if HAS_GROUND

/* Heights of grounds. */
SEEN(ground_height) double profile_height(const Ground *ground, double x)
{
    return ground_height(ground_row(ground, ground_piece(ground, x)), x);
}

SEEN(grid_height) double grid_height(const GroundGrid *ground, double x, double y)
{
    double jet[6];
    grid_jet(ground, x, y, jet);
    return jet[0];
}
#endif
#if HAS_LOOKS

/* A function of the page: takes values that events have set into the parameters; nonzero if that cannot be. */
int values_set(void);

SEEN(use_values) int use_values(void *job)
{
    (void)job;
    return values_set();
}
#if HAS_WHEELS

SEEN(raise_wheels) int raised(Job *job)
{
    return raise_wheels(IT, job);
}
#endif

/* Gives events their memory, behind that of the kernel; how many numbers that is. */
SEEN(watch) int watch(Events *events)
{
    events->room = the_room + 2*room_size(the_model);
    return (int)event_room(IT, events);
}
#endif

/* ---- what browsers lack of the C library */

double fmin(double a, double b)
{
    return a < b || b != b ? a : b;
}

double fmax(double a, double b)
{
    return a > b || b != b ? a : b;
}

/* Towards smaller ones, as the kernel asks for it. */
double nextafter(double x, double to)
{
    union { double x; int64_t bits; } next = {x};
    (void)to;
    if (x == 0.0)
        return -4.9406564584124654e-324;
    next.bits += x > 0.0 ? -1 : 1;
    return next.x;
}

double ldexp(double x, int n)
{
    for (; n < 0; n++)
        x /= 2.0;
    for (; n > 0; n--)
        x *= 2.0;
    return x;
}

int memcmp(const void *a, const void *b, size_t n)
{
    const char *one = a, *other = b;
    while (n > 0 && *one == *other)
        n--, one++, other++;
    return n > 0;
}
