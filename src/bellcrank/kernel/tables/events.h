#define EVENT_INSTANT 1e-14     /* s, or fraction of the time: events so near to each other are at one time */
#define EVENT_LOCATED 1e-15     /* s, or fraction of the time, to which the zero of a condition is found */
#define EVENT_ROUNDING 1e-15    /* share by which values are moved to see what rounding does to a condition */
#define EVENT_ZERO 1e-09        /* fraction of its size about an event below which a condition is zero after the action */
#define EVENT_JUMP 0.001        /* fraction of its values about a step that a condition has where it jumps across zero */
enum { EVENT_TRIES = 400 };     /* evaluations of a condition in the search for its zero */
enum { EVENT_LOOKS = 4 };       /* in each step of an adaptive method, which may be long */
enum { EVENT_HALVINGS = 40 };   /* of the first step after an event, to see where its condition goes */
#define EVENT_GLANCE 1e-06      /* fraction of a step over which the rate of a condition is found */
#define EVENT_STILL 1e-06       /* fraction of that rate that is none */
#define EVENT_SOON 1e-09        /* fraction of a step: an event that fires again so soon chatters ... */
enum { EVENT_MOST = 100 };      /* ... and so do so many actions of one event within ... */
#define EVENT_SPAN 0.0001       /* ... this fraction of a run, or a step if that is shorter */
#define EVENT_FOLLOWED 1e-12    /* fraction of a state by which it has moved with one that an action set */
