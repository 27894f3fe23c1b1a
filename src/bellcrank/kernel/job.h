/* The structures that a run shares with its caller. The backend reads
   this file: a field is a line `type name, name;`. */

enum {
    FINISHED, NOT_FINITE, EXTERNAL_FAILED, INPUT_FAILED, NOT_CLOSED, AT_REST, STEP_TOO_SMALL, TOO_MANY_STEPS
};
enum { NOT_BEGUN, BEGUN, AGAIN };
enum { PROJECTION, DLMM, CLMM, BAUMGARTE, STABILISED, POST, HALF_EXPLICIT };

#include "input.h"
#include "events.h"

typedef struct Job {
    /* every run */
    int32_t method;             /* one of the list above */
    int32_t status;             /* out: FINISHED ... and what stands after it */
    int64_t first, last;        /* goes from step `first` to step `last` ... */
    int64_t total, every;       /* ... of `total`; every n-th step is recorded, and the last of all */
    real h, t_start;            /* step, s, and the beginning of the first */
    real t;                     /* in, out: time of the state, s */
    const real *p, *c;          /* parameters, constants */
    const Input *inputs;        /* one for each w */
    int (*function)(int32_t input, real t, real *value); /* inputs that are functions outside of this file */
    Externals *externals;       /* needed also if there are none */
    real *y, *k;                /* in, out: coordinates and speeds, and their rates, at the step reached */
    real *old;                  /* in, out: of methods that need them: rates at the beginning of the step before ... */
    real behind;                /* ... if it was a whole one and nothing was changed since: its length, s, else 0 */
    real *bad;                  /* out: the state that is not finite, if any */
    real *rows;                 /* out: time, coordinates, speeds, outputs (and inputs) of each recorded step */
    int64_t filled;             /* in, out: rows filled so far */
    int64_t reached;            /* out: number of the last step taken or tried */
    real t_end;                 /* end of the last step, s; t_start: that of `total` steps */
    const real *breaks;         /* times in order at which inputs jump or have a kink: steps are split there */
    int64_t n_breaks;
    int64_t begun;              /* in, out: NOT_BEGUN before step 0 has been recorded, AGAIN if a state was changed */
    int64_t with_inputs;        /* are inputs recorded, too? */
    real *kept;                 /* in, out: values of external routines that are kept, the last of w */
    /* methods that choose their steps: there, first ... total count output times, and stretches end at breaks */
    const real *times;          /* adaptive methods: output times, the first is the start */
    real rtol;                  /* the error allowed in a step, against each state ... */
    const real *atol;           /* ... and besides, of each state */
    const int64_t *groups;      /* states of one unit: atol is no more than their largest value allows; -1: as told */
    real *largest;              /* in, out: of each group, so far */
    const real *caps;           /* sizes of states that count at most for rtol */
    real *work;                 /* their memory; how much room it needs says work_room */
    int64_t pause;              /* most steps in one call */
    int64_t most;               /* ... and in all, with those rejected */
    int64_t steps, rejected, evaluations; /* in, out: how many there were; evaluations: of rates */
    real shortest, longest;     /* in, out: steps, s */
    int64_t slopes, factors, failures; /* in, out: of stiff methods: slopes found, systems factored, no stages */
    int32_t look;               /* 1: it is asked whether a fast mode holds the steps; 2: stiff ones may follow ... */
    int32_t held;               /* ... and does one? ... */
    int64_t slowed;             /* ... in so many steps ... */
    real fastest;               /* ... its rate, 1/s ... */
    real pace;                  /* ... time that an evaluation of rates gained in these steps, s ... */
    int64_t backs;              /* ... and how often, at last when, explicit steps were better than stiff ones */
    real went_back;
    int64_t culprit;            /* out: the state whose error was the largest in the last step tried ... */
    real excess;                /* ... against what is allowed */
    /* closed loops */
    real moved, residual;       /* out: how far the last step was moved to close the loops, and what is left */
    real ratio, steady;         /* of pivots at the step reached: of a singular position, and one of `derivatives` */
    int64_t worst;              /* out: the position row that was furthest from being closed */
    const real *root_q, *root_u; /* roots of inverse inertias: the metric of corrections */
    real *past;                 /* times and accelerations of up to three steps before ... */
    int32_t n_past;             /* ... and how many there are */
    int32_t wary;               /* does the present step take its rates from the redundant equations ... */
    int32_t near;               /* ... and are its stages closed too, as a singular position is near? */
    const real *from;           /* the start of the present step */
    real *bridges;              /* of blocks: curves that carry them through singular positions */
    int32_t curves;             /* may there be some? */
    int32_t portions;           /* into which the present step is divided so far */
    real visit[6];              /* near a singular position: time, ratio (1: none), 1 + block, residual, turned ... */
    real *passages;             /* out: visits that are over, and steps that were halved (DIVIDED for the ratio) ... */
    int64_t n_passages, most_passages; /* ... how many there were, and how many there is room for */
    int32_t staged;             /* are loops closed at every stage of a step? */
    /* methods for differential-algebraic equations */
    int32_t dae;                /* PROJECTION ... HALF_EXPLICIT */
    int32_t free_fall;          /* are accelerations those without constraints? */
    real alpha, beta, gamma;    /* of BAUMGARTE and STABILISED, 1/s */
    real *frozen;               /* g and v at the start of the step, for each row of v */
    int32_t fresh;              /* are the next rates those at the start of a step? */
    int32_t way;                /* how linear systems are solved, found at the first one: UNDECIDED ... BY_NULL_SPACE */
    /* rigid wheels */
    real *modes;                /* in, out: of each wheel: does it roll, on which part of the ground, its place ... */
    real *depths;               /* in, out: how far each wheel was below the ground from which it was raised, or 0 */
    real *told;                 /* out: time, wheel and kind of events ... */
    int64_t n_told, most_told;  /* ... how many there were, and how many there is room for */
    real from_time;             /* when inputs are read at the beginning of the next step */
    int64_t unknown;            /* is there an input without a value? */
    /* events */
    Events *events;             /* NULL: the run is not watched */
    int64_t most_rows;          /* room for rows of a watched run: all output times to come, and a few for events */
} Job;

/* The caller's idea of these structures must be that of this file. */
EXPORT void structure_sizes(int64_t *sizes)
{
    sizes[0] = sizeof(Job);
    sizes[1] = sizeof(Input);
    sizes[2] = sizeof(Externals);
    sizes[3] = sizeof(Events);
}
