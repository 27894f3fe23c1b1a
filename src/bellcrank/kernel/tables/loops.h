#define CLOSED 1e-13            /* largest residual of a closed loop, in units of its equations ... */
#define TIGHT 1e-15             /* ... near a singular configuration, where residuals are magnified */
#define OPEN 1e-09              /* ... and of a loop that is not closed */
#define SETTLED 1e-07           /* a correction of q below this leaves a residual of rounding only */
#define NEAR 0.1                /* ratio of pivots below which a step that has ended is taken again with care */
#define WATCHED 0.3             /* ratio below which the next step is taken with care: all its stages are closed */
enum { CORRECTIONS = 4 };       /* most corrections of q at a step */
enum { FIXED_CORRECTIONS = 2 }; /* so many at every step, where a step takes a fixed number of operations ... */
enum { FIRST_CORRECTIONS = 20 }; /* ... and at the start */
enum { HALVINGS = 10 };         /* of a step that needs a large correction */
#define SHARE 0.1               /* a correction is large above this fraction of what a step moves ... */
#define LEAST 1e-06             /* ... and this length */
#define SHORT 1e-10             /* a row that vanishes against the longest */
#define REPEATED 1e-12          /* a pivot of a row that repeats others, against the largest */
