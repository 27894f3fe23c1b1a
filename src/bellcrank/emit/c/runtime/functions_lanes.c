/* ---- functions of every lane without branches, right to about a unit of the last place; the C library takes over in
   lanes where an argument is not finite or the result not normal. Reductions and fractions are those of Moshier's
   Cephes. */

static inline masks not_finite(lanes x)
{
    return ~(masks)(x - x == SAME(0.0));
}

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
    const masks sign = (masks)x & (masks)SAME(-0.0), far = ~(masks)(lanes_abs(x) < SAME(1e300));
    lanes value = (lanes)((masks)angle_of(lanes_abs(x), SAME(1.0)) | sign);
    if (any(far))
        for (int j = 0; j < N_LANES; j++)
            if (far[j])
                LANE(value, j) = atan(LANE(x, j));
    return value;
}

static inline lanes lanes_atan2(lanes y, lanes x)
{
    const masks sign = (masks)y & (masks)SAME(-0.0), behind = (masks)x < 0;
    const lanes a = lanes_abs(y), b = lanes_abs(x), largest = lanes_max(a, b);
    const masks usual = (masks)(largest > SAME(1e-290)) | (masks)(largest == SAME(0.0));
    const masks far = ~usual | ~(masks)(largest < SAME(1e300)) | not_finite(y) | not_finite(x);
    const lanes angle = angle_of(a, b);
    const lanes turned = SAME(3.14159265358979323846) - (angle - SAME(1.2246467991473531772e-16));
    lanes value = (lanes)((masks)choose(behind, turned, angle) | sign);
    if (any(far))
        for (int j = 0; j < N_LANES; j++)
            if (far[j])
                LANE(value, j) = atan2(LANE(y, j), LANE(x, j));
    return value;
}

static inline lanes lanes_exp(lanes x)
{
    const masks far = ~(masks)(lanes_abs(x) < SAME(700.0));
    const lanes shift = SAME(6755399441055744.0); /* 1.5*2^52: adding it rounds to an integer */
    const lanes shifted = x*SAME(1.4426950408889634073599) + shift, k = shifted - shift;
    const lanes r = (x - k*SAME(6.93145751953125e-1)) - k*SAME(1.42860682030941723212e-6), z = r*r;
    const lanes p = r*((SAME(1.26177193074810590878e-4)*z + SAME(3.02994407707441961300e-2))*z + SAME(1.0));
    const lanes q = ((SAME(3.00198505138664455042e-6)*z + SAME(2.52448340349684104192e-3))*z
                     + SAME(2.27265548208155028766e-1))*z + SAME(2.0);
    const lanes power = (lanes)(((masks)shifted + 1023) << 52); /* 2^k: k stands in the low bits */
    lanes value = (SAME(1.0) + SAME(2.0)*(p/(q - p)))*power;
    if (any(far))
        for (int j = 0; j < N_LANES; j++)
            if (far[j])
                LANE(value, j) = exp(LANE(x, j));
    return value;
}

static inline lanes lanes_tanh(lanes x)
{
    const lanes size = lanes_abs(x), z = x*x;
    const masks sign = (masks)x & (masks)SAME(-0.0), small = size < SAME(0.625), far = not_finite(x);
    const lanes p = (SAME(-9.64399179425052238628e-1)*z + SAME(-9.92877231001918586564e1))*z
                    + SAME(-1.61468768441708447952e3);
    const lanes q = ((z + SAME(1.12811678491632931402e2))*z + SAME(2.23548839060100448583e3))*z
                    + SAME(4.84406305325125486048e3);
    const lanes near_zero = size + size*z*(p/q);
    const lanes away = SAME(1.0) - SAME(2.0)/(lanes_exp(SAME(2.0)*lanes_min(size, SAME(30.0))) + SAME(1.0));
    lanes value = (lanes)((masks)choose(small, near_zero, away) | sign);
    if (any(far))
        for (int j = 0; j < N_LANES; j++)
            if (far[j])
                LANE(value, j) = tanh(LANE(x, j));
    return value;
}
