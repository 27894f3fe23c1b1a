/* ---- events of a run as data: what is watched, and what is set where it happens. Formulas are lists of steps, so that
   events may be given to a model that was compiled before. The backend reads this file: a field is a line. */

/* A part of a formula: its operation, and the parts before it that it takes */
typedef struct FormulaStep {
    int32_t op, a, b, c;
    double number;              /* itself, or the factor of a column */
} FormulaStep;

/* A condition: the steps of its formula, in the units of the user */
typedef struct Watched {
    int32_t first, last;
    int32_t up, down;           /* is it watched for coming up through zero, and down? */
    int32_t strict;             /* the side to which zero itself does not belong, if there is one */
    int32_t stops, acts;        /* does it end the run, does it set anything? */
    int32_t of_time;            /* does it depend on time and parameters alone? */
} Watched;

/* What an event sets: the number of a state, or else of a value; steps of its formula */
typedef struct Setting {
    int32_t event, state, value, first, last;
    double factor;              /* of a state, to equation units */
} Setting;

#include "event_at_zero.h"

/* What is known of an event so far */
typedef struct Counted {
    int64_t actions;
    double idle;                /* when its action came to nothing first, s, or NaN */
    double undefined;           /* when its condition was not a number first, s, or NaN ... */
    int32_t always;             /* ... and has it never been one? */
    int32_t zero;               /* was it zero where the run began ... */
    int32_t side;               /* ... to which side did it go? Else: on which was it all the time (0: none)? */
    int32_t waits;              /* is that still to be found? */
    double noise;
} Counted;

/* What happened, in order of time; changes of states and values stand beside it */
typedef struct Happening {
    int32_t event, acted;       /* acted: ONLY_HAPPENED ... */
    double time;
} Happening;

enum { MOST_AT_ONCE = 18 }; /* actions at one time for each event, with those that are pushed again */
enum { NO_PROBLEM, AGAIN_AT_ONCE, AGAIN_AND_AGAIN, TOO_OFTEN, SETS_NO_NUMBER, NO_VALUES, NOT_ON_CONSTRAINTS, NO_ROW };
enum { ONLY_HAPPENED, ACTED, CHANGED_NOTHING }; /* the last is noted once */
enum { BEGINS, CONTINUES, STATES_ARE_KNOWN }; /* at_zero is that of the other run in the last case */
enum { HOLD_MARK, HOLD_BACK, HOLD_FORTH, HOLD_UNDO };

typedef struct Events {
    int32_t n_events, n_settings, n_values;
    int32_t longest;            /* formula, in steps */
    int32_t n_held;             /* numbers that routines in this file remember */
    int32_t n_modes;            /* numbers that tell how rigid wheels stand */
    const Watched *watched;
    const Setting *settings;
    const FormulaStep *steps;
    const int32_t *follows;     /* of each state: do closed loops move it first where an event has set others? */
    double *values;             /* in, out: of parameters, in the units of the user */
    int (*use_values)(void *job); /* takes them into the parameters of the job; nonzero if that cannot be */
    int (*close)(void *job, int32_t event, double *y); /* closes loops after an event, or (-1) before; NULL: by the kernel */
    int (*row_at)(void *job, double t, double *row); /* a row within a step that was taken elsewhere; else NULL */
    void (*hold)(int32_t what); /* marks what routines elsewhere remember, or brings it back; may be NULL */
    AtZero *at_zero;            /* in, out, as what follows */
    Counted *counted;
    double *times;              /* of the last actions of each */
    double *room;               /* memory; how much says event_room */
    double h, span;             /* step, and length of the run, s */
    double until;               /* end of the run, s */
    int32_t started;            /* has the run been looked at? */
    int32_t continued;          /* does it continue another, so that what is zero at its start has counted? */
    int64_t step;               /* the number of the last step taken ... */
    double begin;               /* ... and when it began, s */
    int32_t failed, refused, reset; /* could a row not be had, an action not be taken, were parameters set? */
    double went_over;           /* out: when stiff steps took the place of explicit ones first, s; 0: never */
    int32_t method;             /* with which a run that chooses its steps begins after an event */
    int32_t stopped;            /* out: the event that stopped the run, or -1 */
    int32_t problem;            /* out: what an event could not do, which ended the run: AGAIN_AT_ONCE ... */
    int32_t culprit, item;      /* ... the event, and what it sets or the row of loops that is open ... */
    double when, amount;        /* ... its time, s, and a number that belongs to it */
    Happening *happenings;      /* out; may be NULL */
    double *changes;            /* out: of each, states before and after, values before and after */
    int64_t n_happenings, most_happenings;
    int64_t n_rows;             /* out: kept so far */
} Events;
