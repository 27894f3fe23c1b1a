/* How much memory the functions of a kernel take at most that was compiled before, in numbers, for a model whose sizes
   are known. A step with closed loops takes its halves and closes the loops within each: so its states count most. */

#if !LINKED
#if !HAS_SYSTEM
enum { N_G, N_V };
#endif
#if !HAS_BRIDGES
enum { WIDEST };
#endif
#if !HAS_WHEELS
enum { N_WHEELS };
#endif
#endif
#define ROOM_OF_LOOPS (N_G*(1 + N_Q) + N_V*(1 + N_U) + 4)
#define ROOM_OF_SYSTEM (N_Q + N_U*(N_U + 3)/2 + N_V*N_U + N_G + 2*N_V + 4)
#define ROOM_OF_MATRICES (8*(N_U + 1)*(N_U + 1) + 4*(N_V + 1)*(N_U + N_V + 2) + 2*(N_Q + 1)*(N_Q + N_G + 1))
#define ROOM (200 + 120*(N_S + 2) + 6*(N_W + 2) + 100*WIDEST \
    + 120*N_WHEELS + 40*N_WHEELS*N_WHEELS + (HAS_SYSTEM ? 5*ROOM_OF_LOOPS + 5*ROOM_OF_SYSTEM + ROOM_OF_MATRICES : 0))
#define ROOM_WITH_SLOPES (ROOM + 2*(N_S*N_S + 2)) /* where it is asked whether motions are slow */
