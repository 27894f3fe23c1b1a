/* Parts that a model has, unless it says otherwise before; no inputs, routines or Euler parameters. */
#ifndef HAS_LOOPS
#define HAS_LOOPS 0
#endif
#ifndef HAS_DAE
#define HAS_DAE 0
#endif
#ifndef HAS_ADAPTIVE
#define HAS_ADAPTIVE 1
#endif
#ifndef HAS_STIFF
#define HAS_STIFF 1
#endif
#define HAS_SYSTEM (HAS_LOOPS || HAS_DAE)
#define HAS_CORRECTION 0
#define HAS_BRIDGES 0
#define HAS_SIDES 0
#define CLOSURE_INPUTS 0
#define HAS_WHEELS 0
#define HAS_SLOPES 0
#define HAS_CALLS 0
#define HAS_STEPS 0
#ifndef HAS_LOOKS
#define HAS_LOOKS 0
#endif
#define HAS_ASSEMBLY 0
#define REMEMBERS 0
#define N_START 0
#define N_UPDATE 0

enum { N_UNIT = 0 };
static const int UNIT_AT[] = {0};
