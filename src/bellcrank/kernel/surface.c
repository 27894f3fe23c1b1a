/* One variable of a surface within an interval: value or d-th derivative of a[0] + a[1] s + a[2] s^2 + a[3] s^3. */
static real cubic(const real *a, int d, real s)
{
    switch (d) {
    case 0: return a[0] + s*(a[1] + s*(a[2] + s*a[3]));
    case 1: return a[1] + s*(2*a[2] + s*(3*a[3]));
    case 2: return 2*a[2] + s*(6*a[3]);
    case 3: return 6*a[3];
    default: return 0;
    }
}

/* A function of two arguments over a grid, or a derivative of it: bicubic pieces of 4 by 4 coefficients in
   coordinates that go from 0 to 1 in each cell. Outside the grid it keeps the value of the nearest edge. */
static real surface_value(int64_t nx, const real *x, int64_t ny, const real *y, const real *pieces, int dx, int dy,
                            real v, real w)
{
    const real a = v < x[0] ? x[0] : v > x[nx - 1] ? x[nx - 1] : v;
    const real b = w < y[0] ? y[0] : w > y[ny - 1] ? y[ny - 1] : w;
    const int64_t i = interval(nx, x, a), j = interval(ny, y, b);
    const real hx = x[i + 1] - x[i], hy = y[j + 1] - y[j];
    const real *cell = pieces + 16*(i*(ny - 1) + j);
    real along[4];
    for (int k = 0; k < 4; k++)
        along[k] = cubic(cell + 4*k, dy, (b - y[j])/hy);
    real value = cubic(along, dx, (a - x[i])/hx);
    for (int k = 0; k < dx; k++)
        value /= hx;
    for (int k = 0; k < dy; k++)
        value /= hy;
    return value;
}
