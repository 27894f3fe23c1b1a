#ifndef @NAME@_TURN
#define @NAME@_TURN
/* How the normal changes with the place: xx, xy, xz, yy, yz, zz; is the ground in reach? */
static void @NAME@_turn(double x, double y, double z, double reach, double *found)
{
    double near[6], jet[6];
    surface_near(&@NAME@_is, x, y, z, reach, near, jet);
    if (!(near[0] < reach)) {
        memset(found, 0, 7 * sizeof *found);
        return;
    }
    const double u = jet[1], v = jet[2], d = near[0], size = sqrt(1 + u * u + v * v);
    const double g11 = 1 + u * u, g12 = u * v, g22 = 1 + v * v;
    const double b11 = jet[3] / size, b12 = jet[4] / size, b22 = jet[5] / size;
    const double m11 = g11 - d * b11, m12 = g12 - d * b12, m22 = g22 - d * b22;
    const double both = (g11 * g22 - g12 * g12) * (m11 * m22 - m12 * m12);
    const double p11 = g22 * b11 - g12 * b12, p12 = g22 * b12 - g12 * b22;
    const double p21 = g11 * b12 - g12 * b11, p22 = g11 * b22 - g12 * b12;
    const double s11 = -(p11 * m22 - p12 * m12) / both, s12 = -(p12 * m11 - p11 * m12) / both;
    const double s22 = -(p22 * m11 - p21 * m12) / both;
    found[0] = s11;
    found[1] = s12;
    found[2] = s11 * u + s12 * v;
    found[3] = s22;
    found[4] = s12 * u + s22 * v;
    found[5] = u * found[2] + v * found[4];
    found[6] = 1;
}
#endif
