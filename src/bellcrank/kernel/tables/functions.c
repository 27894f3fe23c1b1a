__attribute__((export_name("modulo"))) double modulo(double a, double b)
{
    const double rest = fmod(a, b);
    if (rest == 0)
        return copysign(rest, b);
    return (rest < 0) != (b < 0) ? rest + b : rest;
}
