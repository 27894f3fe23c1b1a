/* The same, as Fortran calls it. */
void rates_on_constraints(const real *mass, const real *force, const real *rows, const real *right, real *rates)
{
    constrained_rates(mass, force, rows, right, rates);
}
