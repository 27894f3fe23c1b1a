#define WHEEL_TOUCH 1e-11       /* length by which a wheel may be in ground that it rolls on */
#define WHEEL_BENT 0.003        /* rad by which the normal may turn in a step of a wheel that rolls on curved ground */
#define WHEEL_FINE 0.3          /* what curved ground turns at least, in a radius, for this */
#define WHEEL_AHEAD 1e-07       /* s, to see into which part of the ground a wheel moves */
#define WHEEL_NARROW (-20.0)    /* turn of the normal in a radius from which on a valley is a notch */
#define WHEEL_SHORTEST 0.0001   /* fraction of a step that is taken at least where the normal turns quickly */
#define WHEEL_SOON 0.01         /* fraction of a step within which a wheel in a notch goes back to its other side ... */
enum { WHEEL_FLIPS = 8 };       /* ... so many times in a row before it is held */
enum { WHEEL_RAISES = 20 };     /* turns in which wheels are moved out of the ground */
enum { WHEEL_IMPACTS = 50 };    /* at one instant */
enum { WHEEL_HALVINGS = 60 };   /* of a step, to find an event ... */
#define WHEEL_INSTANT 1e-14     /* s, or fraction of the time: within this it is found */
#define WHEEL_CREEP 1e-09       /* least speed that counts: it is divided by, or leads into the ground; ... */
enum { WHEEL_AFTER = 10 };      /* ... more of it with every impact at an instant */
#define WHEEL_PEEK 0.02         /* fraction of a radius by which a wheel in a narrow valley sees ahead */
#define WHEEL_ASIDE 1e-06       /* fraction of a radius that distinguishes the sides of a notch */
#define WHEEL_DEEPER 1e-13      /* length by which a wheel that has got into the ground may continue into it */
#define WHEEL_STUCK 1e-12       /* an eigenvalue of the wheels' response that is none, against the largest */
