/* ---- runs side by side, from the first step to the last */

#include "tables/methods.h"
#include "tables/steps.h"
enum { FINISHED, NOT_FINITE };

/* A group of runs: vectors that wait for nothing of each other, runs, and states of one vector after another. */
enum { N_RUNS = N_VECTORS*N_LANES, N_Y = N_VECTORS*N_S };

#if HAS_EVENTS
#include "event_at_zero.h"
typedef struct Book { /* of an event: how often it acted since a time, and when at last */
    int64_t acted;
    double since, last;
} Book;

#endif
typedef struct Job { /* runs that go side by side */
    const Batch *batch;
    int64_t run, used; /* the first of them, and how many */
    int64_t reached, number, n_breaks;
    int32_t method;
    const double *breaks;
    double t;
    masks alive[N_VECTORS]; /* runs that go on; the others stay where they are */
    lanes y[N_Y + 1], k[N_Y + 1], w[N_VECTORS*N_W + 1]; /* as they are at the row that is recorded last, or next */
#if TWO_STEPS
    lanes old[N_Y + 1]; /* rates at the beginning of the step before ... */
    masks past[N_VECTORS]; /* ... in lanes in which it was a whole one and nothing was changed since */
#endif
#if SINGLE
    lanes carried[N_Y + 1]; /* what is left over where increments are added to y */
#endif
#if OWN_VALUES
    lanes p[N_VECTORS*N_P + 1], c[N_VECTORS*N_C + 1];
#endif
#if HAS_EVENTS
    double values[N_LANES*(N_VALUES + 1)]; /* of parameters in events, in units of the user, lane by lane */
    double g[N_LANES*N_EVENTS];            /* conditions at the step reached */
    AtZero at_zero[N_LANES*N_EVENTS];
    Book book[N_LANES*N_EVENTS];
#endif
#if HAS_INPUTS
#if !ON_GPU
    lanes still[N_VECTORS*N_W + 1]; /* inputs that do not depend on time */
    int n_moving, moving[N_I + 1]; /* which do */
#endif
#endif
    Tally *tallies; /* of all figures, lane by lane */
} Job;

#if OWN_VALUES
#define PARAMETERS(job) (job)->p
#define CONSTANTS(job) (job)->c
#else
#define PARAMETERS(job) shared_p
#define CONSTANTS(job) shared_c
#endif

/* Number i of those that vectors one after another have n of each, of a run of the group. */
#define OF_RUN(x, n, i, run) LANE((x)[(run)/N_LANES*(n) + (i)], (run)%N_LANES)

/* Does it hold anywhere in a group? */
static inline int some(const masks *which)
{
    masks found = which[0];
    for (int v = 1; v < N_VECTORS; v++)
        found |= which[v];
    return any(found);
}

#if ASKS_ALL
/* ... everywhere in it? */
static inline int all(const masks *which)
{
    masks found = which[0];
    for (int v = 1; v < N_VECTORS; v++)
        found &= which[v];
    return !any(~found);
}

#endif
#if HAS_INPUTS
static inline scalar value_of(const Input *in, double t)
{
    return (scalar)(in->scale*(in->kind == CONSTANT && !in->rate ? in->a[0] : input_value(in, t)));
}

/* An input at a time, in all lanes; one that all runs share is found once. */
static void set_input(const Job *job, int i, double t, lanes *w)
{
    const Batch *b = job->batch;
    const int64_t apart = b->inputs_apart;
    lanes value = SAME(apart ? 0 : value_of(b->inputs + i, t));
    for (int v = 0; v < N_VECTORS; v++) {
        for (int j = 0; apart && j < N_LANES; j++) {
            const int64_t run = v*N_LANES + j;
            LANE(value, j) = value_of(b->inputs + (job->run + (run < job->used ? run : 0))*apart + i, t);
        }
        w[v*N_W + i] = value;
    }
}

#if ON_GPU
static void set_inputs(const Job *job, double t, lanes *w)
{
    for (int i = 0; i < N_I; i++)
        set_input(job, i, t, w);
}

#else
static void set_inputs(const Job *job, double t, lanes *w)
{
    memcpy(w, job->still, N_VECTORS*N_W*sizeof *w);
    for (int i = 0; i < job->n_moving; i++)
        set_input(job, job->moving[i], t, w);
}

/* Those that are constant in all lanes are set once for all. */
static void begin_inputs(Job *job)
{
    const Batch *b = job->batch;
    job->n_moving = 0;
    for (int i = 0; i < N_I; i++) {
        int moves = 0;
        for (int64_t j = 0; j < job->used; j++)
            moves |= b->inputs[(job->run + j)*b->inputs_apart + i].kind != CONSTANT;
        if (moves)
            job->moving[job->n_moving++] = i;
        else
            set_input(job, i, job->t, job->still);
    }
}

#endif
#else
#define set_inputs(job, t, w) (void)0
#endif
/* Rates of the state y at a time. */
static int rates(Job *job, int live, double t, const lanes *y, lanes *k, lanes *w)
{
    set_inputs(job, t, w);
    (void)job;
    (void)live;
    UNROLLED
    for (int v = 0; v < N_VECTORS; v++)
        derivatives(SAME(t), y + v*N_S, y + v*N_S + N_Q, PARAMETERS(job) + v*N_P, CONSTANTS(job) + v*N_C, w + v*N_W,
            k + v*N_S, k + v*N_S + N_Q, NULL);
    return FINISHED;
}

RARE static void record(Job *job, double t)
{
    const Batch *b = job->batch;
    for (int v = 0; v < N_VECTORS; v++) {
        lanes row[1 + N_S + N_OUT + N_W];
        const lanes *y = job->y + v*N_S, *w = job->w + v*N_W;
        row[0] = SAME(t);
        memcpy(row + 1, y, N_S*sizeof *row);
        outputs(SAME(t), y, y + N_Q, PARAMETERS(job) + v*N_P, CONSTANTS(job) + v*N_C, w, row + 1 + N_S, NULL);
        memcpy(row + 1 + N_S + N_OUT, w, N_W*sizeof *row);
        for (int64_t j = v*N_LANES; j < job->used && j < (v + 1)*N_LANES; j++)
            if (OF_RUN(job->alive, 1, 0, j))
                take_row(b, job->run + j, job->number, t, (const scalar *)row + j%N_LANES, N_LANES,
                    job->tallies + j*b->n_figures);
    }
    job->number++;
}

#if SINGLE
/* A state and its increment; what is rounded away is carried to the next time. */
static inline lanes summed(lanes y, lanes increment, lanes *carried)
{
    const lanes all = increment + *carried, sum = y + all;
    *carried = all - (sum - y);
    return sum;
}

#endif
#define ONE_BY_ROOT(x) (SAME(1)/lanes_sqrt(x))
