/* Sines and cosines of n angles on a GPU in single precision, without branches: reduction by pi/2 in two parts, of
   which the first product is exact, the quadrant from the low bits of a shifted number, kernels of degree 7 and 8
   (Cephes). */
#define LANES(n) (n)
#define FILL_1(x)
#define FILL_2(x)
#define FILL_3(x)

static inline void sincos_all(int n, const float *restrict x, float *restrict s, float *restrict c)
{
    const float shift = 12582912.0f; /* 1.5*2^23: adding it rounds to an integer */
    for (int i = 0; i < n; i++) {
        const float shifted = fmaf(x[i], 0.636619772f, shift), k = shifted - shift;
        const float r = fmaf(k, 4.37113883e-8f, fmaf(k, -1.57079637f, x[i])), r2 = r*r;
        const float sp = fmaf(fmaf(r2, -1.9515295891e-4f, 8.3321608736e-3f), r2, -1.6666654611e-1f);
        const float cp = fmaf(fmaf(r2, 2.443315711809948e-5f, -1.388731625493765e-3f), r2, 4.166664568298827e-2f);
        const float sine = fmaf(r*r2, sp, r), cosine = fmaf(r2, fmaf(r2, cp, -0.5f), 1.0f);
        int32_t quadrant;
        memcpy(&quadrant, &shifted, sizeof quadrant);
        const float s_size = quadrant & 1 ? cosine : sine, c_size = quadrant & 1 ? sine : cosine;
        s[i] = quadrant & 2 ? -s_size : s_size;
        c[i] = (quadrant + 1) & 2 ? -c_size : c_size;
    }
}
