/* Sines and cosines of n angles in every lane in single precision, without branches: reduction by pi/2 in three parts
   (Cody & Waite), the quadrant from the low bits of a shifted number, kernels of degree 7 and 8 (Cephes); the C library
   takes over in lanes whose angle is large or not finite. */
static inline void sincos_lanes(int n, const lanes *restrict x, lanes *restrict s, lanes *restrict c)
{
    masks far = {0};
#if defined(__FAST_MATH__) || (FLT_EVAL_METHOD != 0 && FLT_EVAL_METHOD != 16)
    far = ~far;
#else
    const lanes shift = SAME(12582912.0); /* 1.5*2^23: adding it rounds to an integer */
    for (int i = 0; i < n; i++) {
        const lanes shifted = x[i]*SAME(0.636619772) + shift;
        const lanes k = shifted - shift;
        const lanes r = ((x[i] - k*SAME(1.5703125)) - k*SAME(4.837512969970703e-4)) - k*SAME(7.54978995489e-8);
        const lanes r2 = r*r;
        const lanes sp = SAME(-1.6666654611e-1) + r2*(SAME(8.3321608736e-3) + r2*SAME(-1.9515295891e-4));
        const lanes cp = SAME(4.166664568298827e-2) + r2*(SAME(-1.388731625493765e-3) + r2*SAME(2.443315711809948e-5));
        const lanes sine = r + (r*r2)*sp;
        const lanes cosine = SAME(1.0) + r2*(SAME(-0.5) + r2*cp);
        const masks quadrant = (masks)shifted, odd = -(quadrant & 1);
        s[i] = (lanes)((masks)choose(odd, cosine, sine) ^ ((quadrant & 2) << 30));
        c[i] = (lanes)((masks)choose(odd, sine, cosine) ^ (((quadrant + 1) & 2) << 30));
        far |= ~(masks)(lanes_abs(x[i]) < SAME(8192.0));
    }
#endif
    if (any(far))
        for (int i = 0; i < n; i++)
            for (int j = 0; j < N_LANES; j++)
                if (far[j]) {
                    s[i][j] = (scalar)sin(x[i][j]);
                    c[i][j] = (scalar)cos(x[i][j]);
                }
}
