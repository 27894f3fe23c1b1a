/* What the files of the kernel know of each other, and what stands in the place of parts that a model lacks. */

static int advance(GIVEN Job *job, real h, real t, real middle, real end, const real *y, const real *k, real *next,
    real *w);

#define ONE_BY_ROOT(x) (1/sqrt(x))
#define CORRECTION_TURNS(n) ((n) < CORRECTIONS && !(size < SETTLED))

#if HAS_LOOPS
static int wary_rates(GIVEN Job *job, real t, const real *y, real *k, real *w);
#else
#define wary_rates(job, t, y, k, w) FINISHED
#define admit_step(job, h, t, next, end, w) FINISHED
#define close_within(job, t, y, w) FINISHED
#define begin(job, t, w) FINISHED
#define accept(job, t, k) ((void)0)
#define remember(job, t, k) ((void)0)
#endif

#if HAS_CORRECTION
static int staged_rates(GIVEN Job *job, real t, const real *y, real *k, real *w);
#else
#define staged_rates(job, t, y, k, w) FINISHED
#define correct_dependent(job, h, t, y, w) ((void)(h), 1)
#endif

#if !HAS_BRIDGES
#if !LINKED
enum { N_BLOCKS };
#endif
#define find_bridges(job, t, y, J, w) ((void)0)
#define put_bridges(job, y, all) ((void)(y), (void)(all), 0)
#define visit_bridges(job, y) ((void)(y))
#define too_far(job, h, t, end, y, next, w) 0
#define on_bridge(job, b, y) 0
#define in_front(job, b, y) 0
#define singular_at_rest(y, J) 0
#endif

#if HAS_DAE
#if !LINKED
#define derivatives(t, q, u, p, c, w, qd, ud, x) ((void)0)
#endif
static int dae_rates(GIVEN Job *job, real t, const real *y, real *k, real *w);
#endif

#if HAS_WHEELS
static void with_ground(GIVEN Job *job, double t, const double *y, double *w);
#else
#define with_ground(job, t, y, w) ((void)0)
#define land(job, t, y, w) ((void)0)
#endif
