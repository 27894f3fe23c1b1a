enum { RK2, RK4, HEUN, EULER, AB2, RK3, N_FIXED };
enum { FIRST_CHOSEN = N_FIXED - 1, TSIT5, DOP853, RADAU5, RODAS5P };
#define TWO_STEP(method) ((method) == AB2) /* does a step need the rates at the beginning of the one before? */
