#define SINGULAR 0.0001         /* last pivot over the first, relative to its usual value, in a singular configuration */
#define VANISHING 1e-12         /* a scaled pivot in fixed order that is none */
#define DEPENDENT 1e-15         /* a pivot of a symmetric matrix that is none, against its largest entry */
#define TIED 1.0001             /* ratio of two pivots above which the larger one goes first */
#define SPARSER 0.5             /* fraction of the largest entry of a row that a pivot in an emptier column has at least */
