@HEAD@
@PARTS@
EXPORT void poses(int64_t n, const double *z, const double *r, double *out)
{
    @UNUSED@
    for (int64_t i = 0; i < n; i++) {
        double *v = out + @WIDTH@*i;
        @CALLS@
    }
}
