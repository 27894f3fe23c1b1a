@SOLVE@
@START@

@EQUATIONS@
@BY_INPUT@
@BIAS@
/* Values of a function given by equations: state, its derivatives by the inputs, second derivatives. Newton's method
   from a start on a grid; not-a-number outside the grid or where it does not settle. */
static void @NAME@(@ARGUMENTS@, double *values)
{
    double s[@SIZE@], g[@ROWS@], J[@ROWS@*@ROWS@], y[@INPUTS@][@UNKNOWNS@];
    int pivot[@ROWS@];
    const double place = (z - (@LOW@))*@PER@;
    int settled = 0;
    if (place >= 0.0 && place <= @LAST@.0) {
        const int i = place < @LAST@.0 ? (int)place : @LAST@ - 1;
        const int n = @SIZE@;
        const double t = place - i, v = 1.0 - t, h = 1.0/@PER@, low = v*v*v, high = t*t*t;
        const double a = low*(1.0 + t*(3.0 + 6.0*t)), b = high*(1.0 + v*(3.0 + 6.0*v));
        const double c = h*t*low*(1.0 + 3.0*t), d = -h*v*high*(1.0 + 3.0*v);
        const double e = 0.5*h*h*t*t*low, f = 0.5*h*h*v*v*high;
        const double *from = @NAME@_start[i], *to = @NAME@_start[i + 1];
        for (int k = 0; k < n; k++) {
            s[k] = a*from[k] + b*to[k] + c*from[n + k] + d*to[n + k] + e*from[2*n + k] + f*to[2*n + k];
            @SECOND@
        }
        @PRESCRIBED@
        @NORMAL@
        for (int turn = 0; turn < @TURNS@ && !settled; turn++) {
            @NAME@_rows(s, @GIVEN@, g, J);
            if (implicit_factor(@ROWS@, J, pivot))
                break;
            implicit_solve(@ROWS@, J, pivot, g);
            double largest = 0.0;
            for (int k = 0; k < @ROWS@; k++)
                largest = fabs(g[k]) > largest ? fabs(g[k]) : largest;
            @UPDATES@
            settled = largest < @SETTLED@;
            if (!(largest < 1.0))
                break;
        }
    }
    if (!settled) {
        for (int k = 0; k < @VALUES@; k++)
            values[k] = NAN;
        return;
    }
    for (int k = 0; k < @SIZE@; k++)
        values[k] = s[k];
    double *out = values + @SIZE@;
    for (int j = 0; j < @INPUTS@; j++, out += @UNKNOWNS@) {
        @NAME@_by_input(s, @GIVEN@, j, g);
        implicit_solve(@ROWS@, J, pivot, g);
        for (int k = 0; k < @UNKNOWNS@; k++)
            y[j][k] = 0.0;
        @FIRST@
        for (int k = 0; k < @UNKNOWNS@; k++)
            out[k] = y[j][k];
    }
    double right[@PAIRS@*@ROWS@];
    @NAME@_bias(s, @GIVEN@, @RATES@, right);
    for (int j = 0; j < @PAIRS@; j++, out += @UNKNOWNS@) {
        double *solved = right + j*@ROWS@;
        implicit_solve(@ROWS@, J, pivot, solved);
        for (int k = 0; k < @UNKNOWNS@; k++)
            out[k] = 0.0;
        @SCATTER@
    }
}
