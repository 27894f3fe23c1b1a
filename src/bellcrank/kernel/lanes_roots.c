/* ---- square roots of every lane, and their reciprocals */

#if !SINGLE
#if defined(__AVX512F__) && !defined(__FAST_MATH__)
/* A root and a division of eight take a processor four times as long as those of one: a reciprocal root is estimated,
   and one step of fifth order brings it from 14 bits to all of them. A root is made of it. */
static inline lanes lanes_rsqrt(lanes x)
{
    lanes r;
    __asm__("vrsqrt14pd {%1, %0|%0, %1}" : "=v"(r) : "v"(x));
    const lanes e = SAME(1.0) - (x*r)*r;
    const lanes value = r + (r*e)*(SAME(0.5) + e*(SAME(0.375) + e*(SAME(0.3125) + e*SAME(0.2734375))));
    return choose(e == e, value, r); /* those of zero and of infinity are exact */
}

static inline lanes lanes_sqrt(lanes x)
{
    const lanes r = lanes_rsqrt(x), s = x*r;
    const masks itself = (masks)(x + x == x) & (masks)(x >= SAME(0.0)); /* zero, infinity */
    return choose(itself, x, s + (x - s*s)*(SAME(0.5)*r));
}
#define ESTIMATED_ROOTS
#endif

#endif
#ifndef ESTIMATED_ROOTS
static inline lanes lanes_sqrt(lanes x)
{
    lanes value;
    for (int j = 0; j < N_LANES; j++)
        LANE(value, j) = sqrt(LANE(x, j));
    return value;
}

static inline lanes lanes_rsqrt(lanes x)
{
    return SAME(1.0)/lanes_sqrt(x);
}
#endif
