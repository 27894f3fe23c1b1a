/* The redundant equations: M u' = f + J' lambda with J u' = gamma. */
/* Places of what `system` stores: q', the lower triangle of M, f, J, gamma, g, v. */
#define AT_M N_Q
#define AT_F (AT_M + N_U*(N_U + 1)/2)
#define AT_J (AT_F + N_U)
#define AT_GAMMA (AT_J + N_V*N_U)
#define AT_G (AT_GAMMA + N_V)
#define AT_V (AT_G + N_G)
#define N_SYSTEM (AT_V + N_V)
