/* Sines and cosines of n angles in every lane, without branches, by the method that suits the machine best for numbers
   (above); the C library takes over in lanes whose angle is large or not finite. */
static inline void sincos_lanes(int n, const lanes *restrict x, lanes *restrict s, lanes *restrict c)
{
    masks far = {0};
#if defined(__FAST_MATH__) || FLT_EVAL_METHOD != 0
    far = ~far;
#elif defined(SINCOS_ROWS)
    const Pair shift = BOTH(6755399441055744.0);
#ifdef __GNUC__
#pragma GCC unroll 8 /* one after another, each would wait for its own results */
#endif
    for (int i = 0; i < n; i++) {
        const Pair angle = (Pair)x[i];
        SINCOS_PAIR(angle)
        s[i] = (lanes)(Pair){first[0], second[0]};
        c[i] = (lanes)(Pair){first[1], second[1]};
        far |= ~(masks)(lanes_abs(x[i]) < SAME(1.6e6));
    }
#else
    /* Reduction by pi/2 in three parts (Cody & Waite), the quadrant from the low bits of a shifted number, kernels of
       degree 13 and 14 (fdlibm). */
    const lanes shift = SAME(6755399441055744.0); /* 1.5*2^52: adding it rounds to an integer */
    for (int i = 0; i < n; i++) {
        const lanes shifted = x[i]*SAME(0.63661977236758138) + shift;
        const lanes k = shifted - shift;
        const lanes first = x[i] - k*SAME(1.57079632673412561417e+00);
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
        s[i] = (lanes)((masks)choose(odd, cosine, sine) ^ ((quadrant & 2) << 62));
        c[i] = (lanes)((masks)choose(odd, sine, cosine) ^ (((quadrant + 1) & 2) << 62));
        far |= ~(masks)(lanes_abs(x[i]) < SAME(1.6e6)); /* 2^20 right angles */
    }
#endif
    if (any(far))
        for (int i = 0; i < n; i++)
            for (int j = 0; j < N_LANES; j++)
                if (far[j]) {
                    s[i][j] = sin(x[i][j]);
                    c[i][j] = cos(x[i][j]);
                }
}
