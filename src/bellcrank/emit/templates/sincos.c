/* A number of angles rounded up to whole vectors. */
#if defined(__AVX512F__)
#define LANES(n) (((n) + 7)/8*8)
#elif defined(__AVX__)
#define LANES(n) (((n) + 3)/4*4)
#else
#define LANES(n) (((n) + 1)/2*2)
#endif

/* Sines and cosines of n angles at once, without branches, so that the loop becomes vector code. Reduction by pi/2 in
   three parts (Cody & Waite), the quadrant from the low bits of a shifted number, kernels of degree 13 and 14 (fdlibm),
   the C library beyond 2^20 right angles and for what is not finite. The shift needs strict arithmetic: with -ffast-math, or
   where double is evaluated in a longer format, the C library does it all. */
static inline void sincos_all(int n, const double *restrict x, double *restrict s, double *restrict c)
{
#if !defined(__FAST_MATH__) && FLT_EVAL_METHOD == 0
    const double shift = 6755399441055744.0; /* 1.5*2^52: adding it rounds to an integer ... */
    const uint64_t shift_bits = UINT64_C(0x4338000000000000); /* ... by which the bits of the sum exceed its own */
    uint64_t far = 0;
    for (int i = 0; i < n; i++) {
        const double shifted = x[i]*0.63661977236758138 + shift;
        const double k = shifted - shift;
        const double r = ((x[i] - k*1.57079632673412561417e+00) - k*6.07710050630396597660e-11) - k*2.02226624879595063154e-21;
        const double r2 = r*r, r4 = r2*r2;
        const double sp = (-1.66666666666666324348e-01 + r2*8.33333333332248946124e-03)
                          + r4*((-1.98412698298579493134e-04 + r2*2.75573137070700676789e-06)
                                + r4*(-2.50507602534068634195e-08 + r2*1.58969099521155010221e-10));
        const double cp = (4.16666666666666019037e-02 + r2*-1.38888888888741095749e-03)
                          + r4*((2.48015872894767294178e-05 + r2*-2.75573143513906633035e-07)
                                + r4*(2.08757232129817482790e-09 + r2*-1.13596475577881948265e-11));
        const double sine = r + (r*r2)*sp;
        const double cosine = 1.0 + r2*(-0.5 + r2*cp);
        uint64_t quadrant, s_bits, c_bits;
        memcpy(&quadrant, &shifted, sizeof quadrant);
        const double s_size = quadrant & 1 ? cosine : sine, c_size = quadrant & 1 ? sine : cosine;
        memcpy(&s_bits, &s_size, sizeof s_bits);
        memcpy(&c_bits, &c_size, sizeof c_bits);
        s_bits ^= (quadrant & 2) << 62;
        c_bits ^= ((quadrant + 1) & 2) << 62;
        memcpy(&s[i], &s_bits, sizeof s_bits);
        memcpy(&c[i], &c_bits, sizeof c_bits);
        far |= quadrant - (shift_bits - 0x100000); /* below 2^21 if |k| < 2^20 */
    }
    if (far < 0x200000)
        return;
#endif
    for (int i = 0; i < n; i++) {
        s[i] = sin(x[i]);
        c[i] = cos(x[i]);
    }
}
