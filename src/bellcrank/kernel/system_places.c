/* The redundant equations: M u' = f + J' lambda with J u' = gamma. */
enum { /* places of what `system` stores: q', the lower triangle of M, f, J, gamma, g, v */
    AT_M = N_Q,
    AT_F = AT_M + N_U*(N_U + 1)/2,
    AT_J = AT_F + N_U,
    AT_GAMMA = AT_J + N_V*N_U,
    AT_G = AT_GAMMA + N_V,
    AT_V = AT_G + N_G,
    N_SYSTEM = AT_V + N_V
};

