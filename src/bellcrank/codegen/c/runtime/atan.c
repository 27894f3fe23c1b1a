/* atan_all: n angles by their tangents at once, without branches, right to 2 units in the last place (by the table to
   0.8); n fills whole vectors. */

#if !defined(ATAN_BY_TABLE) && defined(__aarch64__) && defined(__ARM_NEON)
#define ATAN_BY_TABLE 1
#endif

#if ATAN_BY_TABLE

/* Two tangents in a vector: few operations count. The first bits of a tangent a choose the row: a tangent c in the
   middle of a quarter of an octave, of which the angle is as good as exactly a double. The rest has the tangent
   r = (a - c)/(1 + a c), below a sixteenth, and atan r a short series. */
static const double atan_rows[34][2] = { /* below 2^-4, four to each octave, from 2^4 on */
    {0.0, 0.0}, {0.07030822983601846, 0.07019272191380337},
    {0.08593229355763418, 0.08572170749509454}, {0.10155636477212836, 0.10120936907425439},
    {0.11718044475644164, 0.11664847576831756}, {0.1405913413948299, 0.13967586823538658},
    {0.1718342517381091, 0.17017234595988245}, {0.20307738469620104, 0.20035282484678807},
    {0.23432077098032558, 0.23016818141232792}, {0.28099568840317984, 0.2739317657510357},
    {0.3434500159891984, 0.3308277693229627}, {0.4059097167758674, 0.38559055593407865},
    {0.46837494598448626, 0.4380290252991327}, {0.5608346172074501, 0.5111234621724005},
    {0.6856796740975185, 0.6010502120685439}, {0.8105909435325199, 0.6811655542076609},
    {0.9355530918918789, 0.7521140815097239}, {1.1172650153490653, 0.8407267739846023},
    {1.3675814891475457, 0.9394245539095838}, {1.6180339887502724, 1.0172219678979557},
    {1.868517091822179, 1.0793994651714212}, {2.226843842088354, 1.148719333738365},
    {2.7299442150854154, 1.2196678610405347}, {3.2324406820352536, 1.2707712200941248},
    {3.7344441359745293, 1.3091571657289565}, {4.447088449070413, 1.3496092153065513},
    {5.456011348961011, 1.38952420816273}, {6.462432795018117, 1.4172734607855415},
    {7.467251416998651, 1.4376703022194608}, {8.890260421991655, 1.4587845032759565},
    {10.909842172579411, 1.479391384605065}, {12.923532073269952, 1.4935719784579886},
    {14.93362962377707, 1.5039331894042727}, {1.633123935319537e+16, 1.5707963267948966},
};

static inline void atan_all(int n, const double *restrict x, double *restrict angle)
{
    const PairBits signs = {UINT64_C(1) << 63, UINT64_C(1) << 63};
    int far = 0;
    for (int i = 0; i < n; i += 2) {
        int64_t k[2];
        memcpy(k, x + i, sizeof k);
        for (int j = 0; j < 2; j++) {
            k[j] = (k[j] >> 50 & 8191) - (4*1019 - 1); /* eleven bits of the exponent, and two */
            far |= k[j] > 4*1028; /* not finite */
            k[j] = k[j] > 33 ? 33 : k[j];
            k[j] = k[j] < 0 ? 0 : k[j];
        }
        const Pair t = {x[i], x[i + 1]}, a = (Pair)((PairBits)t & ~signs);
        const Pair first = pair_at(atan_rows[k[0]]), second = pair_at(atan_rows[k[1]]);
        const Pair c = {first[0], second[0]}, whole = {first[1], second[1]};
        const Pair r = (a - c)/FUSED(BOTH(1.0), a, c), z = r*r;
        const Pair series = FUSED(BOTH(-0.3333333333333332), z, FUSED(BOTH(0.19999999999826557), z,
                            FUSED(BOTH(-0.1428571393037775), z, FUSED(BOTH(0.11110856205699567), z,
                            BOTH(-0.09016200248147936)))));
        const Pair found = (Pair)((PairBits)(whole + FUSED(r, r*z, series)) | ((PairBits)t & signs));
        memcpy(angle + i, &found, sizeof found);
    }
    if (__builtin_expect(far, 0))
        for (int i = 0; i < n; i++)
            angle[i] = atan(x[i]);
}

#else

/* The loop becomes vector code. An angle is 0, 1 or 2 eighths of a turn and a rest, whose tangent is x,
   (x - 1)/(x + 1) or -1/x and below that of a sixteenth of a turn: there the polynomial of fdlibm holds. */
static inline int64_t bits_of(double x)
{
    int64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline double number_of(int64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline double chosen(int64_t first, double a, int64_t second, double b, double c)
{
    return number_of((first & bits_of(a)) | (second & bits_of(b)) | (~(first | second) & bits_of(c)));
}

static inline void atan_all(int n, const double *restrict x, double *restrict angle)
{
    for (int i = 0; i < n; i++) {
        const double a = fabs(x[i]);
        const int64_t size = bits_of(a), sign = bits_of(x[i]) ^ size;
        const int64_t steep = -(int64_t)(size > INT64_C(0x4003504f333f9de6)); /* beyond 67.5 degrees */
        const int64_t middle = -(int64_t)(size > INT64_C(0x3fda827999fcef32)) & ~steep; /* beyond 22.5 */
        const double above = chosen(steep, -1.0, middle, a - 1.0, a), below = chosen(steep, a, middle, a + 1.0, 1.0);
        const double whole = chosen(steep, 1.5707963267948966, middle, 0.78539816339744828, 0.0);
        const double lack = whole*3.8981718325193755e-17;
        const double r = above/below, z = r*r, w = z*z;
        const double even = 3.33333333333329318027e-01 + w*(1.42857142725034663711e-01 + w*(9.09088713343650656196e-02
                            + w*(6.66107313738753120669e-02 + w*(4.97687799461593236017e-02
                            + w*1.62858201153657823623e-02))));
        const double odd = -1.99999999998764832476e-01 + w*(-1.11111104054623557880e-01 + w*(-7.69187620504482999495e-02
                           + w*(-5.83357013379057348645e-02 + w*-3.65315727442169155270e-02)));
        angle[i] = number_of(bits_of(whole - ((r*(z*even + w*odd) - lack) - r)) | sign);
    }
}

#endif
