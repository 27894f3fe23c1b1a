enum { TRIES = 60 };            /* most Newton steps of an assembly */
#define STRIDE 0.5              /* length of the longest of them */
enum { CUTS = 12 };             /* most halvings of one that leads away ... */
#define CRUMB 0.001             /* ... down to this fraction of it */
#define LOCKED 1e-06            /* sine of the angle between two axes of rotation that lock each other */
#define OPPOSITE 1e-12          /* 1 + the cosine of an angle: a direction that points the wrong way altogether */
enum { NUDGES = 6 };            /* starts next to the given one from which that is mended ... */
#define NUDGE 0.2               /* ... each further away by this */
#define ASSEMBLED 1e-10         /* largest residual that may be left */
#define CARRIED 1e-09           /* ... and of speeds, against the largest of them */
#define TOLD 1e-09              /* a change of a given value that is reported */
enum { SWEEPS = 30 };           /* most over all pairs of columns, to make them orthogonal ... */
#define ORTHOGONAL 1e-15        /* ... which they are at this cosine */
#define LIGHT 0.001             /* fraction of the largest inertia: smaller ones count as this */
