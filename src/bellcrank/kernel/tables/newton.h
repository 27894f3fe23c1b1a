enum { NEWTON_TURNS = 8 };      /* most iterations */
#define LEFT_OVER 0.03          /* of the tolerance that is left of a stage at most */
#define HOPELESS 1000.0         /* by how much convergence is too slow where there is none */
#define KEPT 0.001              /* rate of convergence up to which slopes are kept for the next step ... */
#define STEADY 1.2              /* ... and factor up to which its length is kept */
#define DIFFERENCE 1.5e-08      /* fraction of a state by which it is moved for derivatives of state derivatives ... */
#define LEAST_MOVED 0.001       /* ... where it is larger than this */
#define ROUNDING 2.2e-16        /* of numbers */
#define MOMENT 1e-06            /* fraction of a step over which the derivative of state derivatives with respect to time is found */
#define OWN_PIVOT 0.1           /* smallest fraction of s in s x - slopes x = r that divides a state eliminated first */
