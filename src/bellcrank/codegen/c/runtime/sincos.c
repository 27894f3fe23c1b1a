/* sincos_all: sines and cosines of n angles at once, without branches, right to 1.5 units in the last place below 100
   rad. The C library takes over where an angle is very large or not finite. Rounding by adding a large number needs
   strict arithmetic: with -ffast-math, or where double is evaluated in a longer format, the C library does it all (16
   is a method of half precision, under which double stays double). */

@IF TABLE@
#if !defined(SINCOS_BY_TABLE) && defined(__aarch64__) && defined(__ARM_NEON)
#define SINCOS_BY_TABLE 1
#endif

@END@
#if defined(__FAST_MATH__) || (FLT_EVAL_METHOD != 0 && FLT_EVAL_METHOD != 16)

static inline void sincos_all(int n, const double *restrict x, double *restrict s, double *restrict c)
{
    for (int i = 0; i < n; i++) {
        s[i] = sin(x[i]);
        c[i] = cos(x[i]);
    }
}

@IF TABLE@
#elif SINCOS_BY_TABLE

/* Two angles in a vector: few operations count. An angle is k/128 of a turn and a rest r (three parts of full length,
   for operations that are fused); S = sin(k/128), C = cos(k/128) come from a table, twice as long as double, sin r -
   r and cos r - 1 from short series, and the rest is the theorem of addition (Tang 1991, Table-lookup algorithms for
   elementary functions). */
#define SINCOS_ROWS(R) /* sine, cosine, and what these numbers lack, for k = 0 to 31 */ \
    R(0.0, 1.0, 0.0, 0.0) \
    R(0.049067674327418015, 0.9987954562051724, -6.79610372051828e-19, -1.2291693337075465e-17) \
    R(0.0980171403295606, 0.9951847266721969, -1.634582362244256e-18, -4.248691367830441e-17) \
    R(0.14673047445536175, 0.989176509964781, 3.726947147046568e-18, -4.098730993704711e-17) \
    R(0.19509032201612828, 0.9807852804032304, -7.991079068461731e-18, 1.8546939997825006e-17) \
    R(0.2429801799032639, 0.970031253194544, -8.751431529719663e-18, 1.8365300348428844e-17) \
    R(0.2902846772544624, 0.9569403357322088, -1.892797870777425e-17, 4.05538698618757e-17) \
    R(0.33688985339222005, 0.9415440651830208, -4.200094003347509e-19, -2.789637954769834e-17) \
    R(0.3826834323650898, 0.9238795325112867, -1.0050772696461588e-17, 1.7645047084336677e-17) \
    R(0.4275550934302821, 0.9039892931234433, 9.411189816295473e-18, -6.609754468748431e-18) \
    R(0.47139673682599764, 0.881921264348355, 6.516678136069013e-18, -1.9843248405890562e-17) \
    R(0.5141027441932218, 0.8577286100002721, -4.5712707523615624e-17, -4.818344793633662e-17) \
    R(0.5555702330196022, 0.8314696123025452, 4.709410940561677e-17, 1.4073856984728024e-18) \
    R(0.5956993044924334, 0.8032075314806449, -1.3438641936579467e-17, -3.306060980481491e-17) \
    R(0.6343932841636455, 0.773010453362737, 1.0420901929280035e-17, -3.256590703364977e-17) \
    R(0.6715589548470184, 0.7409511253549591, -4.048903774929669e-17, -1.4708616952297345e-17) \
    R(0.7071067811865476, 0.7071067811865476, -4.833646656726457e-17, -4.833646656726457e-17) \
    R(0.7409511253549591, 0.6715589548470184, -1.4708616952297345e-17, -4.048903774929669e-17) \
    R(0.773010453362737, 0.6343932841636455, -3.256590703364977e-17, 1.0420901929280035e-17) \
    R(0.8032075314806449, 0.5956993044924334, -3.306060980481491e-17, -1.3438641936579467e-17) \
    R(0.8314696123025452, 0.5555702330196022, 1.4073856984728024e-18, 4.709410940561677e-17) \
    R(0.8577286100002721, 0.5141027441932218, -4.818344793633662e-17, -4.5712707523615624e-17) \
    R(0.881921264348355, 0.47139673682599764, -1.9843248405890562e-17, 6.516678136069013e-18) \
    R(0.9039892931234433, 0.4275550934302821, -6.609754468748431e-18, 9.411189816295473e-18) \
    R(0.9238795325112867, 0.3826834323650898, 1.7645047084336677e-17, -1.0050772696461588e-17) \
    R(0.9415440651830208, 0.33688985339222005, -2.789637954769834e-17, -4.200094003347509e-19) \
    R(0.9569403357322088, 0.2902846772544624, 4.05538698618757e-17, -1.892797870777425e-17) \
    R(0.970031253194544, 0.2429801799032639, 1.8365300348428844e-17, -8.751431529719663e-18) \
    R(0.9807852804032304, 0.19509032201612828, 1.8546939997825006e-17, -7.991079068461731e-18) \
    R(0.989176509964781, 0.14673047445536175, -4.098730993704711e-17, 3.726947147046568e-18) \
    R(0.9951847266721969, 0.0980171403295606, -4.248691367830441e-17, -1.634582362244256e-18) \
    R(0.9987954562051724, 0.049067674327418015, -1.2291693337075465e-17, -6.79610372051828e-19)
#define SINCOS_1(s, c, s_lack, c_lack) {s, c},
#define SINCOS_2(s, c, s_lack, c_lack) {c, -(s)},
#define SINCOS_3(s, c, s_lack, c_lack) {-(s), -(c)},
#define SINCOS_4(s, c, s_lack, c_lack) {-(c), s},
#define SINCOS_LACK(quadrant, s, c, s_lack, c_lack) quadrant(s_lack, c_lack, s, c)
#define SINCOS_LACK_1(...) SINCOS_LACK(SINCOS_1, __VA_ARGS__)
#define SINCOS_LACK_2(...) SINCOS_LACK(SINCOS_2, __VA_ARGS__)
#define SINCOS_LACK_3(...) SINCOS_LACK(SINCOS_3, __VA_ARGS__)
#define SINCOS_LACK_4(...) SINCOS_LACK(SINCOS_4, __VA_ARGS__)
static const double sincos_turn[160][2] = { /* a quarter more than a turn: what stands 32 rows further is C, -S */
    SINCOS_ROWS(SINCOS_1) SINCOS_ROWS(SINCOS_2) SINCOS_ROWS(SINCOS_3) SINCOS_ROWS(SINCOS_4) SINCOS_ROWS(SINCOS_1)
};
static const double sincos_lack[128][2] = {
    SINCOS_ROWS(SINCOS_LACK_1) SINCOS_ROWS(SINCOS_LACK_2) SINCOS_ROWS(SINCOS_LACK_3) SINCOS_ROWS(SINCOS_LACK_4)
};

/* sin = S + (C r + (C (sin r - r) + (S (cos r - 1) + what S lacks))); cos likewise, with C, -S instead of S, C */
#define SINCOS_OF(k, lane) \
    (pair_at(sincos_turn[k]) \
     + FUSED(FUSED(FUSED(pair_at(sincos_lack[k]), pair_at(sincos_turn[k]), BOTH(cos_less[lane])), \
                   pair_at(sincos_turn[(k) + 32]), BOTH(sin_less[lane])), \
             pair_at(sincos_turn[(k) + 32]), BOTH(r[lane])))

#ifndef TERM
#define TERM(i, beside) sincos_terms[i]
#endif
static const Pair sincos_terms[] = { /* to which products are added */
    {6755399441055744.0, 6755399441055744.0}, /* 1.5*2^52: adding it rounds to an integer */
    {-0.16666666666666666, -0.16666666666666666}, {0.008333333332770842, 0.008333333332770842},
    {-0.49999999999999983, -0.49999999999999983}, {0.041666666661604256, 0.041666666661604256},
};

/* first, second: sine and cosine of two angles */
#define SINCOS_PAIR(angle) /* k is in the low bits of a number that is shifted */ \
    const Pair shifted = FUSED(TERM(0, angle), angle, BOTH(20.371832715762604)); \
    const Pair k = shifted - sincos_terms[0]; \
    const Pair r = FUSED(FUSED(FUSED(angle, k, BOTH(-0.04908738521234052)), k, BOTH(-1.9135106236677394e-18)), k, \
                         BOTH(4.6793278276849057e-35)); \
    const Pair r2 = r*r; \
    const Pair sin_less = r*r2*FUSED(TERM(1, r2), r2, \
                                     FUSED(TERM(2, r2), r2, BOTH(-0.00019841020837774474))); \
    const Pair cos_less = r2*FUSED(TERM(3, r2), r2, \
                                   FUSED(TERM(4, r2), r2, BOTH(-0.0013888664786049871))); \
    const PairBits bits = (PairBits)shifted; \
    const uint64_t k0 = bits[0] & 127, k1 = bits[1] & 127; \
    const Pair first = SINCOS_OF(k0, 0), second = SINCOS_OF(k1, 1);

static inline void sincos_all(int n, const double *restrict x, double *restrict s, double *restrict c)
{
    Pair squares = BOTH(0.0);
    for (int i = 0; i < n; i += 2) {
        const Pair angle = {x[i], i + 1 < n ? x[i + 1] : 0.0};
        squares = FUSED(squares, angle, angle);
    }
    if (__builtin_expect(!(squares[0] + squares[1] < 1e16), 0)) {
        for (int i = 0; i < n; i++) { /* not a call: s and c may stay in registers */
            s[i] = sin(x[i]);
            c[i] = cos(x[i]);
        }
        return;
    }
    for (int i = 0; i < n; i += 2) {
        const Pair angle = {x[i], i + 1 < n ? x[i + 1] : 0.0};
        SINCOS_PAIR(angle)
        s[i] = first[0];
        c[i] = first[1];
        if (i + 1 < n) {
            s[i + 1] = second[0];
            c[i + 1] = second[1];
        }
    }
}

@END@
#else

/* The loop becomes vector code. Reduction by pi/2 in three parts (Cody & Waite), of full length where a product and a
   sum are one operation: the third then counts in the sine of small angles alone, and nothing waits for it. The
   quadrant from the low bits of a shifted number; kernels of degree 13 and 14 (fdlibm), their sums side by side, since
   all that follows waits for them; the C library beyond 2^20 right angles and for what is not finite. */
static inline void sincos_all(int n, const double *restrict x, double *restrict s, double *restrict c)
{
    const double shift = 6755399441055744.0; /* 1.5*2^52: adding it rounds to an integer ... */
    const uint64_t shift_bits = UINT64_C(0x4338000000000000); /* ... by which the bits of the sum exceed its own */
    uint64_t far = 0;
    for (int i = 0; i < n; i++) {
        const double shifted = x[i]*0.63661977236758138 + shift;
        const double k = shifted - shift;
#if defined(__FMA__) || defined(__FP_FAST_FMA)
        const double near = fma(-k, 6.123233995736766e-17, fma(-k, 1.5707963267948966, x[i]));
        const double r = fma(k, 1.4973849048591698e-33, near);
#else
        const double first = x[i] - k*1.57079632673412561417e+00;
        const double r = (first - k*6.07710050630396597660e-11) - k*2.02226624879595063154e-21, near = r;
#endif
        const double r2 = near*near, r4 = r2*r2;
        const double sp = (-1.66666666666666324348e-01 + r2*8.33333333332248946124e-03)
                          + r4*((-1.98412698298579493134e-04 + r2*2.75573137070700676789e-06)
                                + r4*(-2.50507602534068634195e-08 + r2*1.58969099521155010221e-10));
        const double cp = (-0.5 + r2*(4.16666666666666019037e-02 + r2*-1.38888888888741095749e-03))
                          + (r2*r4)*((2.48015872894767294178e-05 + r2*-2.75573143513906633035e-07)
                                     + r4*(2.08757232129817482790e-09 + r2*-1.13596475577881948265e-11));
        const double sine = r + (near*r2)*sp;
        const double cosine = 1.0 + r2*cp;
        uint64_t quadrant, s_bits, c_bits;
        memcpy(&quadrant, &shifted, sizeof quadrant);
        const double s_size = quadrant & 1 ? cosine : sine, c_size = quadrant & 1 ? sine : cosine;
        memcpy(&s_bits, &s_size, sizeof s_bits);
        memcpy(&c_bits, &c_size, sizeof c_bits);
        s_bits ^= (quadrant & 2) << 62;
        c_bits ^= ((quadrant + 1) & 2) << 62;
        memcpy(&s[i], &s_bits, sizeof s_bits);
        memcpy(&c[i], &c_bits, sizeof c_bits);
        far |= quadrant - (shift_bits - 0x100000); /* below 2^21 if |k| < 2^20 */
    }
    if (far < 0x200000)
        return;
    for (int i = 0; i < n; i++) {
        s[i] = sin(x[i]);
        c[i] = cos(x[i]);
    }
}

#endif
