/* The interval of x[0] < x[1] < ... < x[n - 1] that holds v, the first or last one for what lies outside. */
static int64_t interval(int64_t n, const real *x, real v)
{
    int64_t low = 0, high = n - 1;
    while (high - low > 1) {
        const int64_t middle = (low + high)/2;
        if (v >= x[middle])
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* A function of one argument through n points, or its d-th derivative: cubic pieces, four coefficients each, lowest
   power first. Outside its points it goes on with the end slope. */
static real spline_value(int64_t n, const real *x, const real *pieces, int d, real v)
{
    const real inside = v < x[0] ? x[0] : v > x[n - 1] ? x[n - 1] : v;
    const int64_t i = interval(n, x, inside);
    const real s = inside - x[i], *a = pieces + 4*i;
    const real slope = a[1] + s*(2*a[2] + s*(3*a[3]));
    if (d == 0)
        return a[0] + s*(a[1] + s*(a[2] + s*a[3])) + (v - inside)*slope;
    if (d == 1)
        return slope;
    return v < inside || v > inside ? 0 : d == 2 ? 2*a[2] + 6*a[3]*s : d == 3 ? 6*a[3] : 0;
}
