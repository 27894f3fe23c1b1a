/* Sines and cosines of n angles by the C library. */
#define LANES(n) (n)

static inline void sincos_all(int n, const real *restrict x, real *restrict s, real *restrict c)
{
    for (int i = 0; i < n; i++) {
        s[i] = sin(x[i]);
        c[i] = cos(x[i]);
    }
}
