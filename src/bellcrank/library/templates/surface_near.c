#ifndef @NAME@_NEAR
#define @NAME@_NEAR
static void @NAME@(double x, double y, double z, double reach, double *near)
{
    double jet[6];
    surface_near(&@NAME@_is, x, y, z, reach, near, jet);
}
#endif
