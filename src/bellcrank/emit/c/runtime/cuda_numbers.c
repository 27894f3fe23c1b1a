/* ---- a run is alone in its thread: vectors of one number */

enum { N_LANES = 1 };
typedef scalar lanes;
typedef int64_t masks;

#define SAME(x) ((scalar)(x))
#define LANE(x, i) (x)
#define EQUAL(a, b) (-(masks)((a) == (b)))

static inline lanes choose(masks which, lanes a, lanes b)
{
    return which ? a : b;
}

static inline int any(masks which)
{
    return which != 0;
}
