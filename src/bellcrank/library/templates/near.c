#ifndef @NAME@_NEAR
#define @NAME@_NEAR
static void @NAME@(double x, double z, double reach, double *near)
{
    double all[5];
    ground_near(&@NAME@_is, x, z, reach, all);
    memcpy(near, all, 4 * sizeof *near);
}
#endif
