/* Slopes of @BASE@ by one of its arguments: central differences of fourth order. */
static @KIND@ @NAME@(@ARGUMENTS@)
{
    const double h = @STEP@*(fabs(@MOVED@) > 1.0 ? fabs(@MOVED@) : 1.0);
@IF VALUES@
    double a[@VALUES@] = {0.0}, b[@VALUES@] = {0.0}, c[@VALUES@] = {0.0}, d[@VALUES@] = {0.0};
    @BASE@(@AHEAD@, a);
    @BASE@(@BEHIND@, b);
    @BASE@(@FAR_AHEAD@, c);
    @BASE@(@FAR_BEHIND@, d);
    for (int k = 0; k < @VALUES@; k++)
        returns[k] = (8.0*(a[k] - b[k]) - (c[k] - d[k]))/(12.0*h);
@ELSE@
    const double near = @BASE@(@AHEAD@) - @BASE@(@BEHIND@);
    return (8.0*near - (@BASE@(@FAR_AHEAD@) - @BASE@(@FAR_BEHIND@)))/(12.0*h);
@END@
}
