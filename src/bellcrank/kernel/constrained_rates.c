/* rates: u' of M u' = force + J' lambda with J u' = right, then the ratio of pivots. */
static void constrained_rates(GIVEN const real *restrict mass, const real *restrict force, const real *restrict rows,
    const real *restrict right, real *restrict rates)
{
    rates[N_U] = reduced(HERE mass, force, rows, right, 0, rates);
}
