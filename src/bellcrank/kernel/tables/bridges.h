#define ZONE 0.02               /* ratio of pivots of a block below which its rows give way to a curve */
#define EDGE 1.5                /* a curve begins with a ratio between one and so many zones ... */
#define BEHIND 1.02             /* ... and ends with one of so many zones at least */
#define GLANCE 0.0001           /* length of a look ahead */
#define PACE 0.05               /* longest pace on the way to the beginning of a curve */
#define REACH 0.5               /* longest curve */
#define WIDEN 1.3               /* factor by which a look goes farther */
#define OUTSIDE 0.5             /* distance of points outside of the ends of a curve, against its length ... */
#define ALIGNED 0.5             /* ... and cosine of the angle between the tangents there, at least */
#define SURE 0.001              /* ratio above which a position determines the direction of its branch */
#define STILL 1e-09             /* speed of a block at rest, 1/s */
#define ROUND_OFF 4e-16         /* residual of a scaled row that cannot be smaller */
#define OFF_BRANCH 1e-06        /* change of a speed of the start, onto its branch, that is reported */
#define FOREIGN 1e-09           /* scaled slope of a row by what is not in its block */
#define CERTIFIED 1e-12         /* largest residual of a scaled row along a curve */
#define FALLS 0.3               /* largest fraction of the residual left by half the zone, unless branches miss each other */
enum { ZONES = 4 };             /* halvings of the zone, the first included */
#define LEAP 0.25               /* fraction of the ratio that a step may be long where branches miss each other ... */
#define TURN 0.1                /* ... and angle by which the speeds of a block may turn in it, rad */
enum { DIVISIONS = 24 };        /* of a step that is too long or turns too far ... */
enum { PORTIONS = 400 };        /* ... into so many at most: a step that needs more is none for this motion */
