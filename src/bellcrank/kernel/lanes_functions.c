/* ---- functions of every lane, right to about a unit of the last place. Nowhere is there a branch or a call, which
   would part what stands around it, and take all registers: numbers that are very large or not finite go the same
   way. Reductions and fractions are those of Moshier's Cephes. */

/* The angle whose tangent is a/b, from 0 to a quarter of a turn, and 0 for 0/0: a, b >= 0. */
static inline lanes angle_of(lanes a, lanes b)
{
    const masks steep = a > SAME(2.41421356237309504880)*b, middle = ~steep & (masks)(a > SAME(0.66)*b);
    const lanes above = choose(steep, -b, choose(middle, a - b, a));
    const lanes below = choose(steep, a, choose(middle, a + b, b));
    const lanes x = above/choose(below == SAME(0.0), SAME(1.0), below), z = x*x;
    const lanes p = (((SAME(-8.750608600031904122785e-1)*z + SAME(-1.615753718733365076637e1))*z
                      + SAME(-7.500855792314704667340e1))*z + SAME(-1.228866684490136173410e2))*z
                    + SAME(-6.485021904942025371773e1);
    const lanes q = ((((z + SAME(2.485846490142306297962e1))*z + SAME(1.650270098316988542046e2))*z
                      + SAME(4.328810604912902668951e2))*z + SAME(4.853903996359136964868e2))*z
                    + SAME(1.945506571482613964425e2);
    const lanes rest = choose(steep, SAME(6.123233995736765886130e-17),
                              choose(middle, SAME(3.061616997868382943065e-17), SAME(0.0)));
    const lanes start = choose(steep, SAME(1.57079632679489661923), choose(middle, SAME(0.78539816339744830962),
                                                                          SAME(0.0)));
    return start + (x + (x*(z*p/q) + rest));
}

static inline lanes lanes_atan(lanes x)
{
    return (lanes)((masks)angle_of(lanes_abs(x), SAME(1.0)) | ((masks)x & (masks)SAME(-0.0)));
}

static inline lanes lanes_atan2(lanes y, lanes x)
{
    const masks sign = (masks)y & (masks)SAME(-0.0), behind = (masks)x < 0;
    const lanes most = SAME(4e307); /* as good as infinity: sums and products of it are finite, or compared */
    const lanes angle = angle_of(lanes_min(lanes_abs(y), most), lanes_min(lanes_abs(x), most));
    const lanes turned = SAME(3.14159265358979323846) - (angle - SAME(1.2246467991473531772e-16));
    return (lanes)((masks)choose(behind, turned, angle) | sign);
}

#define SHIFT SAME(6755399441055744.0) /* 1.5*2^52: adding it rounds to an integer */

/* 2^k of a whole number that is shifted, and so stands in the low bits. */
static inline lanes power_of_two(lanes shifted)
{
    return (lanes)(((masks)shifted + 1023) << 52);
}

/* e^x without the power of two, which is k. */
static inline lanes exp_rest(lanes x, lanes k)
{
    const lanes r = (x - k*SAME(6.93145751953125e-1)) - k*SAME(1.42860682030941723212e-6), z = r*r;
    const lanes p = r*((SAME(1.26177193074810590878e-4)*z + SAME(3.02994407707441961300e-2))*z + SAME(1.0));
    const lanes q = ((SAME(3.00198505138664455042e-6)*z + SAME(2.52448340349684104192e-3))*z
                     + SAME(2.27265548208155028766e-1))*z + SAME(2.0);
    return SAME(1.0) + SAME(2.0)*(p/(q - p));
}

/* Infinite beyond 720, zero below -750; the power of two is taken in two parts, since it may be no number itself. */
static inline lanes lanes_exp(lanes any_x)
{
    const lanes x = lanes_max(lanes_min(any_x, SAME(720.0)), SAME(-750.0));
    const lanes k = (x*SAME(1.4426950408889634073599) + SHIFT) - SHIFT, half = k*SAME(0.5) + SHIFT;
    return exp_rest(x, k)*power_of_two(half)*power_of_two((k - (half - SHIFT)) + SHIFT);
}

static inline lanes lanes_tanh(lanes x)
{
    const lanes size = lanes_abs(x), z = x*x;
    const masks sign = (masks)x & (masks)SAME(-0.0), small = size < SAME(0.625);
    const lanes p = (SAME(-9.64399179425052238628e-1)*z + SAME(-9.92877231001918586564e1))*z
                    + SAME(-1.61468768441708447952e3);
    const lanes q = ((z + SAME(1.12811678491632931402e2))*z + SAME(2.23548839060100448583e3))*z
                    + SAME(4.84406305325125486048e3);
    const lanes near_zero = size + size*z*(p/q), twice = SAME(2.0)*lanes_min(size, SAME(30.0));
    const lanes shifted = twice*SAME(1.4426950408889634073599) + SHIFT;
    const lanes grown = exp_rest(twice, shifted - SHIFT)*power_of_two(shifted);
    const lanes away = SAME(1.0) - SAME(2.0)/(grown + SAME(1.0));
    return (lanes)((masks)choose(small, near_zero, away) | sign);
}
