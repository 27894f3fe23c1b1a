/* Sines and cosines of n angles on a GPU, without branches: reduction by pi/2 in two parts, of which the first product
   is exact, the quadrant from the low bits of a shifted number, kernels of degree 13 and 14 (fdlibm). The library,
   whose arithmetic of long numbers would take registers from all the rest, is called apart, beyond 2^49 rad. */
#define LANES(n) (n)
#define FILL_1(x)
#define FILL_2(x)
#define FILL_3(x)

RARE static void sincos_far(double x, double *s, double *c)
{
    *s = sin(x);
    *c = cos(x);
}

static inline void sincos_all(int n, const double *restrict x, double *restrict s, double *restrict c)
{
    const double shift = 6755399441055744.0; /* 1.5*2^52: adding it rounds to an integer */
    uint64_t far = 0;
    for (int i = 0; i < n; i++) {
        const double shifted = fma(x[i], 0.63661977236758138, shift), k = shifted - shift;
        const double r = fma(k, -6.123233995736766e-17, fma(k, -1.5707963267948966, x[i])), r2 = r*r;
        double sp = fma(r2, 1.58969099521155010221e-10, -2.50507602534068634195e-08);
        sp = fma(sp, r2, 2.75573137070700676789e-06);
        sp = fma(sp, r2, -1.98412698298579493134e-04);
        sp = fma(sp, r2, 8.33333333332248946124e-03);
        sp = fma(sp, r2, -1.66666666666666324348e-01);
        double cp = fma(r2, -1.13596475577881948265e-11, 2.08757232129817482790e-09);
        cp = fma(cp, r2, -2.75573143513906633035e-07);
        cp = fma(cp, r2, 2.48015872894767294178e-05);
        cp = fma(cp, r2, -1.38888888888741095749e-03);
        cp = fma(cp, r2, 4.16666666666666019037e-02);
        const double sine = fma(r*r2, sp, r), cosine = fma(r2, fma(r2, cp, -0.5), 1.0);
        uint64_t quadrant, bits;
        memcpy(&quadrant, &shifted, sizeof quadrant);
        memcpy(&bits, &x[i], sizeof bits);
        far |= (bits & UINT64_C(0x7fffffff00000000)) >= UINT64_C(0x4300000000000000);
        const double s_size = quadrant & 1 ? cosine : sine, c_size = quadrant & 1 ? sine : cosine;
        s[i] = quadrant & 2 ? -s_size : s_size;
        c[i] = (quadrant + 1) & 2 ? -c_size : c_size;
    }
    if (!far)
        return;
    for (int i = 0; i < n; i++) {
        double sine, cosine; /* not s and c, which may be in registers */
        sincos_far(x[i], &sine, &cosine);
        s[i] = sine;
        c[i] = cosine;
    }
}
