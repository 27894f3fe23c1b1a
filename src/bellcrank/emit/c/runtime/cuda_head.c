/* What the text of a program needs where it is compiled for a GPU, one thread per run: as C has it elsewhere. */
#ifndef ON_HOST
typedef int int32_t;
typedef long long int64_t;
typedef unsigned long long uint64_t;
#define UINT64_C(x) x##ULL
#define NULL 0
#define NAN __longlong_as_double(0x7ff8000000000000LL)
#define HUGE_VAL __longlong_as_double(0x7ff0000000000000LL)
#endif
#undef FLT_EVAL_METHOD
#define FLT_EVAL_METHOD 0
#define SINCOS_BY_TABLE 0
#define restrict __restrict__
#define EXPORT static
#define SEPARATE
#define real double
typedef double scalar;

