/* The run-time of every model: steps, methods that choose them, closed loops, stiff methods, rigid wheels. It
   follows the functions of a model and what is told of it: numbers N_... of its quantities, HAS_... of its parts. */

#include "tables/steps.h"
#include "tables/methods.h"
#include "job.h"
#include "internal.h"
#include "inputs.c"
#include "rates.c"
#if HAS_SYSTEM
#include "system_places.c"
#include "redundant.c"
#endif
#if HAS_LOOPS
#include "projection.c"
#endif
#if HAS_DAE
#include "dae.c"
#endif
#include "tables/advance.c"
#if HAS_LOOPS
#include "projected_step.c"
#endif
#if HAS_WHEELS
#include "rigid.c"
#endif
#include "run.c"
#if HAS_LOOKS
#include "within.c"
#endif
#if HAS_ASSEMBLY
#include "assembly.c"
#endif
#if HAS_LOOKS
#include "events.c"
#endif
#include "runs.c"
#if HAS_CALLS
#include "bound.c"
#include "python.c"
#endif
#if HAS_STEPS
#include "stepped.c"
#endif
