#include <float.h>
#include <@MATH@>
#include <stdint.h>
#include <string.h>

@IF LOCAL@
#ifdef __GNUC__
#define EXPORT static __attribute__((unused)) /* not all are called by the file that includes this one */
#else
#define EXPORT static
#endif
#if defined(_MSC_VER) && !defined(__clang__)
#define restrict __restrict
#endif
@ELSE@
#ifdef _WIN32
#define EXPORT __declspec(dllexport)
#else
#define EXPORT
#endif
@END@
#ifdef __GNUC__
#define SEPARATE __attribute__((noinline)) /* joined again, long functions would take long to compile */
#else
#define SEPARATE
#endif
#if defined(__GNUC__) && !defined(__clang__)
#define ONCE __attribute__((optimize("O0"))) /* called once in a run */
#else
#define ONCE
#endif
