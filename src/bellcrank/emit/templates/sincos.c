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
   the C library beyond 1e6 rad and for what is not finite. The shift needs strict arithmetic: with -ffast-math, or
   where double is evaluated in a longer format, the C library does it all. */
static inline void sincos_all(int n, const double *restrict x, double *restrict s, double *restrict c)
{
#if !defined(__FAST_MATH__) && FLT_EVAL_METHOD == 0
    const double shift = 6755399441055744.0; /* 1.5*2^52: adding it rounds to an integer, which then is in the low bits */
    uint64_t far = 0;
    for (int i = 0; i < n; i++) {
        const double shifted = x[i]*0.63661977236758138 + shift;
        const double k = shifted - shift;
        const double r = ((x[i] - k*1.57079632673412561417e+00) - k*6.07710050630396597660e-11) - k*2.02226624879595063154e-21;
        const double r2 = r*r, r4 = r2*r2, r8 = r4*r4;
        const double sp = ((-1.66666666666666324348e-01 + r2*8.33333333332248946124e-03)
                           + r4*(-1.98412698298579493134e-04 + r2*2.75573137070700676789e-06))
                          + r8*(-2.50507602534068634195e-08 + r2*1.58969099521155010221e-10);
        const double cp = ((4.16666666666666019037e-02 + r2*-1.38888888888741095749e-03)
                           + r4*(2.48015872894767294178e-05 + r2*-2.75573143513906633035e-07))
                          + r8*(2.08757232129817482790e-09 + r2*-1.13596475577881948265e-11);
        const double half = 0.5*r2, top = 1.0 - half;
        const double sine = r + (r*r2)*sp;
        const double cosine = top + (((1.0 - top) - half) + r4*cp);
        uint64_t quadrant, sine_bits, cosine_bits;
        memcpy(&quadrant, &shifted, sizeof quadrant);
        memcpy(&sine_bits, &sine, sizeof sine_bits);
        memcpy(&cosine_bits, &cosine, sizeof cosine_bits);
        const uint64_t swap = (sine_bits ^ cosine_bits) & (0 - (quadrant & 1));
        const uint64_t s_bits = (sine_bits ^ swap) ^ ((quadrant & 2) << 62);
        const uint64_t c_bits = (cosine_bits ^ swap) ^ (((quadrant + 1) & 2) << 62);
        memcpy(&s[i], &s_bits, sizeof s_bits);
        memcpy(&c[i], &c_bits, sizeof c_bits);
        far |= !(fabs(x[i]) <= 1e6);
    }
    if (far == 0)
        return;
#endif
    for (int i = 0; i < n; i++) {
        s[i] = sin(x[i]);
        c[i] = cos(x[i]);
    }
}
