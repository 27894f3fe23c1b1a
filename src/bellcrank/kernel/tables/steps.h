#define GAP 1e-09               /* fraction of a step: nearer to its end, a break of an input lies at it */
