enum { IMPLICIT_TURNS = 20 };   /* most iterations */
#define IMPLICIT_SETTLED 1e-12  /* a change that ends them; slopes are those before it */
#define IMPLICIT_SMALL 0.0001   /* square of half an angle below which its sine is a series */
