/* Sines and cosines of angles in every lane, without branches, by the method that suits the machine best for numbers
   (above); the C library takes over in lanes whose angle is large or not finite. */
#if defined(SINCOS_ROWS) && defined(__GNUC__)
/* A term to which a product is added, read anew: what adds overwrites it, and a copy would take as long as a sum. What
   stands `beside` it keeps compilers from reading it once for all. */
static inline Pair read_term(const Pair *x, Pair beside)
{
    Pair value;
    __asm__("ldr %q0, %1" : "=w"(value) : "m"(*x), "w"(beside));
    return value;
}
#undef TERM
#define TERM(i, beside) read_term(sincos_terms + (i), beside)
#endif

typedef struct Sines {
    lanes sine, cosine;
} Sines;

static inline Sines sines_of(lanes x)
{
    Sines both;
#if defined(__FAST_MATH__) || (FLT_EVAL_METHOD != 0 && FLT_EVAL_METHOD != 16)
    both.sine = both.cosine = x;
#elif defined(SINCOS_ROWS)
    const Pair angle = (Pair)x;
    SINCOS_PAIR(angle)
    both.sine = (lanes)(Pair){first[0], second[0]};
    both.cosine = (lanes)(Pair){first[1], second[1]};
#else
    /* Reduction by pi/2 in three parts (Cody & Waite), the quadrant from the low bits of a shifted number, kernels of
       degree 13 and 14 (fdlibm). */
    const lanes shift = SAME(6755399441055744.0); /* 1.5*2^52: adding it rounds to an integer */
    const lanes shifted = x*SAME(0.63661977236758138) + shift;
    const lanes k = shifted - shift;
    const lanes first = x - k*SAME(1.57079632673412561417e+00);
    const lanes r = (first - k*SAME(6.07710050630396597660e-11)) - k*SAME(2.02226624879595063154e-21);
    const lanes r2 = r*r, r4 = r2*r2;
    const lanes sp = (SAME(-1.66666666666666324348e-01) + r2*SAME(8.33333333332248946124e-03))
                     + r4*((SAME(-1.98412698298579493134e-04) + r2*SAME(2.75573137070700676789e-06))
                           + r4*(SAME(-2.50507602534068634195e-08) + r2*SAME(1.58969099521155010221e-10)));
    const lanes cp = (SAME(4.16666666666666019037e-02) + r2*SAME(-1.38888888888741095749e-03))
                     + r4*((SAME(2.48015872894767294178e-05) + r2*SAME(-2.75573143513906633035e-07))
                           + r4*(SAME(2.08757232129817482790e-09) + r2*SAME(-1.13596475577881948265e-11)));
    const lanes sine = r + (r*r2)*sp;
    const lanes cosine = SAME(1.0) + r2*(SAME(-0.5) + r2*cp);
    const masks quadrant = (masks)shifted, odd = -(quadrant & 1);
    both.sine = (lanes)((masks)choose(odd, cosine, sine) ^ ((quadrant & 2) << 62));
    both.cosine = (lanes)((masks)choose(odd, sine, cosine) ^ (((quadrant + 1) & 2) << 62));
#endif
    return both;
}

/* Lanes whose angles are large or not finite, by the sum of their squares: beyond 2^20 right angles. */
static inline masks far_angles(lanes squares)
{
#if defined(__FAST_MATH__) || (FLT_EVAL_METHOD != 0 && FLT_EVAL_METHOD != 16)
    return (masks)squares | ~(masks)squares;
#else
    return ~(masks)(squares < SAME(2.56e12));
#endif
}

/* Those of the C library where an angle is far, and otherwise the ones that are given; given and taken by value, so
   that they may stay in registers. What stands before is the same for all lanes, and not parted by this. */
RARE static Sines far_sines(masks far, lanes x, Sines both)
{
    for (int j = 0; j < N_LANES; j++)
        if (far[j]) {
            LANE(both.sine, j) = sin(LANE(x, j));
            LANE(both.cosine, j) = cos(LANE(x, j));
        }
    return both;
}

static inline void sincos_lanes(int n, const lanes *restrict x, lanes *restrict s, lanes *restrict c)
{
    lanes squares = SAME(0);
    for (int i = 0; i < n; i++)
        squares += x[i]*x[i];
    const masks far = far_angles(squares);
    const int some_far = any(far);
#ifdef __GNUC__
#pragma GCC unroll 8 /* one after another, each would wait for its own results */
#endif
    for (int i = 0; i < n; i++) {
        Sines both = sines_of(x[i]);
        if (some_far)
            both = far_sines(far, x[i], both);
        s[i] = both.sine;
        c[i] = both.cosine;
    }
}
