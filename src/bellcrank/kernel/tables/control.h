#define SAFETY 0.9              /* fraction of the step that the error would allow */
#define SHRINK 0.2              /* least factor between two steps */
#define TENTH 0.1               /* factor after a step without finite numbers ... */
enum { TENTHS = 10 };           /* ... and after so many in a row there are none */
#define SMOOTH 1e-10            /* error below which a step is not lengthened further ... */
#define CALM 0.0001             /* ... and below which the next step does not remember it */
#define PATIENT 0.01            /* ... with stiff methods */
#define LOWER 0.01              /* weight of the square of a second estimate of the error */
#define OPENING 0.01            /* what the first step changes, against the state and in powers of its length ... */
#define VAGUE 1e-05             /* ... a size without information ... */
#define GUESS 1e-06             /* ... the length there, s ... */
#define FLAT 1e-15              /* ... rates that do not change it ... */
#define LEAP_MOST 100.0         /* ... and the longest, against the first guess */
#define OUTLOOK 10.0            /* first steps in which a motion that begins at zero shows its size */
#define FITTED 1.01             /* factor by which the last step of a segment may be longer */
#define SHORTEST 3.6e-15        /* fraction of the time below which a step is too small */
#define NEAR_SHARE 0.5          /* fraction of the ratio of pivots that a step near a singular configuration leaves at least ... */
#define NEAR_ZONE 0.02          /* ... down to this ratio, where a curve carries it */
enum { STIFF_STEPS = 15 };      /* in so many steps that a fast mode holds, a run is stiff ... */
enum { FREE_STEPS = 6 };        /* ... unless so many in a row are free of it */
#define DOUBTFUL 0.5            /* fraction of steps limited by a fast mode, or with Newton failures, that is reported */
enum { TRIAL_STEPS = 10 };      /* steps of a stiff method over which it is compared with the explicit one ... */
#define SOONER 1.5              /* ... and so many times sooner it has to come on, to go back to it ... */
enum { TRIALS = 6 };            /* ... which takes twice the steps to be held after it was better, so many times */
enum { TURNS_OF_RATE = 16 };    /* products of slopes and a vector to find the rate of the fastest mode */
#define FINEST 1e-13            /* smallest relative tolerance */
#define ABSOLUTE 0.01           /* fraction of the relative tolerance that is the absolute one of 1 m, 1 rad, 1 m/s ... */
#define NEAR_BREAKS 1e-12       /* fraction of the time within which breaks of inputs are one */
enum { MOST_STEPS = 100000000 }; /* of a run, those that are rejected included, besides ... */
enum { STEPS_OF_ROW = 100 };    /* ... so many for every row */
