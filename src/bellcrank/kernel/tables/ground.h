enum { GROUND_FEET = 8 };       /* most iterations for it */
#define GROUND_FOOT 1e-09       /* a change that ends them, as the next one would be its square ... */
#define GROUND_EXACT 1e-15      /* ... and where there is no next one */
#define GROUND_LEVEL 1e-12      /* share by which heights and slopes may differ at an edge that is none */
