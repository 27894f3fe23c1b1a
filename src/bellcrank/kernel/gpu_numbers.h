/* ---- a run is alone in its thread: vectors of one number */

enum { N_LANES = 1 };
typedef scalar lanes;
typedef int masks;

#define SAME(x) ((scalar)(x))
#define LANE(x, i) (x)
#define MASK(test) (-(masks)(test)) /* all bits if it holds */
#define UNROLLED
#define STOPPED(b) 0 /* between launches alone */

#if !OWN_VALUES
extern "C" { /* parameters and constants of all runs */
__constant__ lanes shared_p[N_P + 1], shared_c[N_C + 1];
}

#endif

static inline lanes choose(masks which, lanes a, lanes b)
{
    return which ? a : b;
}

#if HAS_CORRECTION
static inline lanes lanes_abs(lanes x)
{
    return fabs(x);
}

static inline lanes lanes_min(lanes a, lanes b)
{
    return b < a ? b : a;
}

#endif
static inline lanes lanes_sqrt(lanes x)
{
    return sqrt(x);
}

static inline int any(masks which)
{
    return which != 0;
}
