/* Sines and cosines of n angles by the C library. */
#define LANES(n) (n)
#define FILL_1(x)
#define FILL_2(x)
#define FILL_3(x)

static inline void sincos_all(int n, const real *restrict x, real *restrict s, real *restrict c)
{
    for (int i = 0; i < n; i++) {
        s[i] = sin(x[i]);
        c[i] = cos(x[i]);
    }
}
