#ifndef POSE_OF
#define POSE_OF
/* sin(x)/x, (1 - cos x)/x^2, (x - sin x)/x^3 and the slopes of the last two, at X = x^2. */
static inline void pose_shapes(double X, double *f)
{
    if (X < 0.3) {
        f[0] = 1.0 - X/6.0*(1.0 - X/20.0*(1.0 - X/42.0*(1.0 - X/72.0*(1.0 - X/110.0*(1.0 - X/156.0)))));
        f[1] = 0.5*(1.0 - X/12.0*(1.0 - X/30.0*(1.0 - X/56.0*(1.0 - X/90.0*(1.0 - X/132.0*(1.0 - X/182.0))))));
        f[2] = (1.0 - X/20.0*(1.0 - X/42.0*(1.0 - X/72.0*(1.0 - X/110.0*(1.0 - X/156.0*(1.0 - X/210.0))))))/6.0;
        f[3] = -1.0/24.0 + X*(1.0/360.0 + X*(-1.0/13440.0 + X*(1.0/907200.0 + X*(-1.0/95800320.0 + X/14529715200.0))));
        f[4] = -1.0/120.0 + X*(1.0/2520.0 + X*(-1.0/120960.0 + X*(1.0/9979200.0 + X*(-1.0/1245404160.0 + X/217945728000.0))));
        return;
    }
    const double x = sqrt(X), s = sin(x), c = cos(x);
    f[0] = s/x;
    f[1] = (1.0 - c)/X;
    f[2] = (x - s)/(X*x);
    f[3] = (f[0] - 2.0*f[1])/(2.0*X);
    f[4] = (f[1] - 3.0*f[2])/(2.0*X);
}

static inline void pose_cross(const double *a, const double *b, double *c)
{
    c[0] = a[1]*b[2] - a[2]*b[1];
    c[1] = a[2]*b[0] - a[0]*b[2];
    c[2] = a[0]*b[1] - a[1]*b[0];
}

static inline void pose_apply(const double *R, const double *v, double *w)
{
    for (int i = 0; i < 3; i++)
        w[i] = R[3*i]*v[0] + R[3*i + 1]*v[1] + R[3*i + 2]*v[2];
}

/* R0 exp(p), row by row. */
static inline void pose_turn(const double *R0, const double *p, const double *f, double *R)
{
    const double X = p[0]*p[0] + p[1]*p[1] + p[2]*p[2];
    double E[9];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            E[3*i + j] = f[1]*p[i]*p[j] + (i == j ? 1.0 - f[1]*X : 0.0);
    E[1] -= f[0]*p[2];
    E[2] += f[0]*p[1];
    E[3] += f[0]*p[2];
    E[5] -= f[0]*p[0];
    E[6] -= f[0]*p[1];
    E[7] += f[0]*p[0];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            R[3*i + j] = R0[3*i]*E[j] + R0[3*i + 1]*E[3 + j] + R0[3*i + 2]*E[6 + j];
}

/* w = J dp */
static inline void pose_spin(const double *p, const double *dp, const double *f, double *w)
{
    double n[3], m[3];
    pose_cross(p, dp, n);
    pose_cross(p, n, m);
    for (int i = 0; i < 3; i++)
        w[i] = dp[i] + f[1]*n[i] + f[2]*m[i];
}

/* w' = J ddp + J' dp */
static inline void pose_spin_rate(const double *p, const double *dp, const double *ddp, const double *f, double *w)
{
    double n[3], m[3], pn[3], pm[3], dn[3];
    pose_cross(p, dp, n);
    pose_cross(p, ddp, m);
    pose_cross(p, n, pn);
    pose_cross(p, m, pm);
    pose_cross(dp, n, dn);
    const double dX = 2.0*(p[0]*dp[0] + p[1]*dp[1] + p[2]*dp[2]);
    for (int i = 0; i < 3; i++)
        w[i] = ddp[i] + f[1]*m[i] + f[2]*(dn[i] + pm[i]) + f[3]*dX*n[i] + f[4]*dX*pn[i];
}
#endif
