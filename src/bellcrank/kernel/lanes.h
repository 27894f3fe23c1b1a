/* ---- numbers of several runs side by side, each in a lane of its own; what is chosen is chosen without branches */

#if defined(__AVX512F__)
enum { N_LANES = 64/sizeof(scalar) };
#elif defined(__AVX__)
enum { N_LANES = 32/sizeof(scalar) };
#else
enum { N_LANES = 16/sizeof(scalar) };
#endif

typedef scalar lanes __attribute__((vector_size(N_LANES*sizeof(scalar))));
#if SINGLE
typedef int32_t bits;
#else
typedef int64_t bits;
#endif
typedef bits masks __attribute__((vector_size(N_LANES*sizeof(scalar)))); /* all bits of a lane, or none */

#define SAME(x) ((scalar)(x) - (lanes){0})
#define LANE(x, i) (x)[i]
#define MASK(test) ((masks)(test)) /* all bits where it holds */
#define STOPPED(b) (*(volatile const int32_t *)(b)->stop) /* another thread may change it */
#define RARE SEPARATE
#ifdef __GNUC__
#define UNROLLED _Pragma("GCC unroll 4") /* a vector at a time, a loop would take longer to count than to compute */
#else
#define UNROLLED
#endif

static inline lanes choose(masks which, lanes a, lanes b)
{
    return (lanes)((which & (masks)a) | (~which & (masks)b));
}

static inline lanes one_if(masks which)
{
    return (lanes)(which & (masks)SAME(1));
}

static inline lanes lanes_abs(lanes x)
{
    return (lanes)((masks)x & ~(masks)SAME(-0.0));
}

static inline lanes lanes_min(lanes a, lanes b)
{
    return choose((a < b) | (a != a), a, b);
}

static inline lanes lanes_max(lanes a, lanes b)
{
    return choose((a > b) | (a != a), a, b);
}

static inline lanes lanes_sign(lanes x)
{
    return choose(x == x, one_if(x > SAME(0)) - one_if(x < SAME(0)), x);
}

static inline int any(masks which)
{
#if defined(__AVX512F__)
    unsigned char found; /* a bit for every 64; compilers would look at one lane after another */
    __asm__("vptestmq {%1, %1, %0|%0, %1, %1}" : "=k"(found) : "v"(which));
    return found != 0;
#else
    int found = 0;
    for (int i = 0; i < N_LANES; i++)
        found |= which[i] != 0;
    return found;
#endif
}
