/* A number of arguments rounded up to whole vectors, of at most four: compilers prefer these to vectors of eight. What
   fills the last one, after 4 n + 1, 2 or 3 arguments, is an argument again: one of zeros would be gathered in memory,
   number by number, and a processor waits before it reads as a vector what it has just stored so. */
#if defined(__AVX__)
#define LANES(n) (((n) + 3)/4*4)
#define FILL_1(x) , x, x, x
#define FILL_2(x) , x, x
#else
#define LANES(n) (((n) + 1)/2*2)
#define FILL_1(x) , x
#define FILL_2(x)
#endif
#define FILL_3(x) , x

#if defined(__aarch64__) && defined(__ARM_NEON)
/* Two numbers in a vector. The header of vectors alone takes as long as a small model, so it is read only where the
   compiler does not say how it fuses a product and a sum of vectors. */
typedef double Pair __attribute__((vector_size(16)));
typedef uint64_t PairBits __attribute__((vector_size(16)));
#if defined(__has_builtin)
#if __has_builtin(__builtin_aarch64_fmav2df)
#define FUSED(a, b, c) __builtin_aarch64_fmav2df(b, c, a) /* a + b c, rounded once */
#endif
#endif
#ifndef FUSED
#include <arm_neon.h>
#define FUSED(a, b, c) ((Pair)vfmaq_f64((float64x2_t)(a), (float64x2_t)(b), (float64x2_t)(c)))
#endif
#define BOTH(x) ((Pair){x, x})
#define TWO(i) ((Pair){a0[i], a1[i]}) /* of two rows, one in each lane */
#define PAIR_TO(x, p) do { const Pair both = p; memcpy(x, &both, sizeof both); } while (0)

static inline Pair pair_at(const double *x)
{
    Pair p;
    memcpy(&p, x, sizeof p);
    return p;
}
#endif
