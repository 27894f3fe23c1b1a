static real length(int n, const real *x)
{
    real sum = 0.0;
    for (int j = 0; j < n; j++)
        sum += x[j]*x[j];
    return sqrt(sum);
}

