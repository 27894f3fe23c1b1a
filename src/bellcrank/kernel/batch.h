/* What many runs share, and where their results go. */

struct Job;

typedef struct Array {
    double *to;                 /* an array that runs change ... */
    const double *from;         /* ... and what it holds when one begins */
    int64_t n;
} Array;

typedef struct Batch {
    int64_t n;                  /* runs in all */
    const int32_t *stop;        /* not zero: somebody wants no more runs */
    const double *p;            /* parameters of the runs ... */
    int64_t p_apart;            /* ... how far those of one are from those of the next: 0 if all have the same */
    const double *y;            /* states at the beginning */
    int64_t y_apart;
    const Input *inputs;        /* those of a run one after another */
    int64_t inputs_apart;
    const double *breaks;       /* of all runs ... */
    const int64_t *first_breaks; /* ... the number of the first of each, and of that behind the last */
    int64_t breaks_apart;
    const double *roots;        /* roots of inverse inertias, of coordinates and speeds */
    int64_t roots_apart;
    const double *errors;       /* allowed of each state, and sizes of states that count at most: adaptive methods */
    int64_t errors_apart;
    int64_t n_states, n_coordinates, n_constants, width; /* width: numbers in a row */
    int64_t block;              /* most steps between two looks at the rows */
    int32_t method;             /* of runs that go side by side, as the fields of a job ... */
    int64_t total, every;       /* ... */
    double h, t_start, t_end;   /* ... */
    int (*run)(struct Job *);   /* of runs one after another: the compiled program */
    void (*constants)(const double *p, double *c);
    const Array *arrays;
    int64_t n_arrays;
    int64_t n_kept, n_times;    /* channels whose histories are kept, and rows of each */
    const int64_t *kept_columns; /* their places in a row */
    const double *kept_factors; /* to equation units */
    double *kept;               /* out: by channel, run and row, in user units */
    int64_t n_figures;          /* found while runs go on */
    const int32_t *figure_kinds; /* FINAL ... */
    const int64_t *figure_columns;
    const double *figure_factors, *figure_numbers; /* numbers: a share in percent, or a level */
    const double *filters;      /* of weightings, for rows a step apart and for the last row */
    double *figures;            /* out: by figure and run */
    int32_t *status;            /* out: of each run, when it is over */
    int64_t *reached;           /* out: number of the last step taken or tried */
    double *bad;                /* out: the state that is not finite, if any */
    const double *values;       /* of parameters in events, in units of the user */
    int64_t values_apart;
    int32_t *stopped_by;        /* out: the number of the event that stopped a run ... */
    double *stopped_at;         /* ... and when, s */
} Batch;
