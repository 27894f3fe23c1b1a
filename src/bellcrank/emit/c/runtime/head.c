#include <float.h>
#include <@MATH@>
#include <stdint.h>
#include <string.h>

#ifdef _WIN32
#define EXPORT __declspec(dllexport)
#else
#define EXPORT
#endif
#ifdef __GNUC__
#define SEPARATE __attribute__((noinline)) /* joined again, long functions would take long to compile */
#else
#define SEPARATE
#endif
