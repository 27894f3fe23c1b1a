#ifndef @NAME@_TURN
#define @NAME@_TURN
/* By how much the normal turns per length along the nearest ground; is that in reach? */
static void @NAME@_turn(double x, double z, double reach, double *found)
{
    double near[5];
    ground_near(&@NAME@_is, x, z, reach, near);
    ground_shape(&@NAME@_is, near, &found[0]);
    found[1] = near[0] < reach;
    found[0] = near[0] < reach ? found[0] : 0;
}
#endif
