enum { GRID_FEET = 20 };        /* most iterations for it */
#define GRID_FOOT 1e-10         /* a change that ends them */
enum { GRID_HALVES = 12 };      /* of a step that leads away */
#define GRID_ROUNDS 1e-14       /* share by which a square of the distance may grow and counts as none */
#define GRID_FLAT 0.1           /* fraction of the curvature of the distance that is left, below which slopes alone are used */
enum { GRID_SAMPLES = 8 };      /* of each side of a square around, where there may be several */
