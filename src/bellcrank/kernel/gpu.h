/* What the text of a program needs where it is compiled for a GPU, one thread per run: as C has it elsewhere. */
#ifndef ON_HOST
#define int32_t int /* the compiler may have types of these names */
#define int64_t long long
#define uint64_t unsigned long long
#undef UINT64_C
#define UINT64_C(x) x##ULL
#undef NULL
#define NULL 0
#undef NAN
#define NAN __longlong_as_double(0x7ff8000000000000LL)
#undef HUGE_VAL
#define HUGE_VAL __longlong_as_double(0x7ff0000000000000LL)
#undef INFINITY
#define INFINITY HUGE_VAL
#define RARE __noinline__ /* what happens seldom keeps nothing in the registers of what happens often */
#else
#define RARE
#endif
#undef FLT_EVAL_METHOD
#define FLT_EVAL_METHOD 0
#define restrict __restrict__
#define EXPORT static
#define SEPARATE
#define ONCE
#define real double
#if SINGLE
typedef float scalar; /* what runs compute in */
#else
typedef double scalar;
#endif

