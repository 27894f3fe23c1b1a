/* Sines and cosines of the kernel in WebAssembly: the same numbers in pages and outside, in a few lines. Within half a
   right angle they are the polynomials of Sun's fdlibm; whole right angles are taken off in two parts, of which the
   first has so few digits that its product is exact. Angles beyond a million are left to a
   library, in pages that of the browser. */

/* The sine of an angle and so many right angles, 0 or 1. */
__attribute__((noinline)) static double sine(double x, int right)
{
    if (!(fabs(x) < 1e6))
        return right ? cos(x) : sin(x);
    const double n = rint(x*0.6366197723675814), near = x - n*1.57079632673412561417;
    const double rest = n*6.07710050650619224932e-11;
    const double y = near - rest, tail = (near - y) - rest, z = y*y;
    const int k = (int)n + right;
    double found;
    if (k & 1) {
        const double r = z*(4.16666666666666019037e-02 + z*(-1.38888888888741095749e-03
            + z*(2.48015872894767294178e-05 + z*(-2.75573143513906633035e-07 + z*(2.08757232129817482790e-09
            + z*-1.13596475577881948265e-11)))));
        const double half = 0.5*z, w = 1.0 - half;
        found = w + (((1.0 - w) - half) + (z*r - y*tail));
    } else {
        const double r = 8.33333333332248946124e-03 + z*(-1.98412698298579493134e-04 + z*(2.75573137070700676789e-06
            + z*(-2.50507602534068634195e-08 + z*1.58969099521155010221e-10)));
        found = y - ((z*(0.5*tail - z*y*r) - tail) - z*y*-1.66666666666666324348e-01);
    }
    return k & 2 ? -found : found;
}

#define sin(x) sine(x, 0)
#define cos(x) sine(x, 1)
