from math import cos, sin


def implicit_turn(s, i, a, b, c):
    """Euler parameters s[i:i + 4] after a rotation by a small vector."""
    x = 0.25 * (a * a + b * b + c * c)
    r = math.sqrt(x)
    f, w = 0.5 * (math.sin(r) / r if x > @SMALL@ else 1 - x / 6 + x * x / 120), math.cos(r)
    p, q, v = f * a, f * b, f * c
    e0, e1, e2, e3 = s[i : i + 4]
    n = (w * e0 - p * e1 - q * e2 - v * e3, w * e1 + p * e0 + q * e3 - v * e2)
    n += (w * e2 + q * e0 + v * e1 - p * e3, w * e3 + v * e0 + p * e2 - q * e1)
    size = math.sqrt(sum(x * x for x in n))
    s[i : i + 4] = [x / size for x in n]


@NAME@_start = (
    @START@
)


@EQUATIONS@

@BY_INPUT@

@BIAS@

def @NAME@(@GIVEN@):
    lost = (math.nan,) * @VALUES@
    place = (z - @LOW@) * @PER@
    if not 0.0 <= place <= @LAST@:
        return lost
    i = min(int(place), @LAST@ - 1)
    t, a, b = place - i, @NAME@_start[i], @NAME@_start[i + 1]
    h = ((1 + 2 * t) * (1 - t) ** 2, t * t * (3 - 2 * t), t * (1 - t) ** 2 / @PER@, t * t * (t - 1) / @PER@)
    s = [
        h[0] * a[k] + h[1] * b[k] + h[2] * a[@SIZE@ + k] + h[3] * b[@SIZE@ + k]@SECOND@
        for k in range(@SIZE@)
    ]
    @PRESCRIBED@
    @NORMAL@
    for _ in range(@TURNS@):
        g, *J = @NAME@_rows(s, @GIVEN@)
        try:
            g = np.linalg.solve(J, g).tolist()
        except np.linalg.LinAlgError:
            return lost
        largest = max(map(abs, g))
        @UPDATES@
        if not largest < 1.0:
            return lost
        if largest < @SETTLED@:
            break
    else:
        return lost
    J = np.array(@NAME@_rows(s, @GIVEN@)[1:])
    y = [[0.0] * @UNKNOWNS@ for _ in range(@INPUTS@)]
    for j, g in enumerate(@NAME@_by_input(s, @GIVEN@)):
        g = np.linalg.solve(J, g).tolist()
        @FIRST@
    values = [*s, *(x for row in y for x in row)]
    for g in @NAME@_bias(s, @GIVEN@, y):
        g = np.linalg.solve(J, g).tolist()
        second = [0.0] * @UNKNOWNS@
        @SCATTER@
        values += second
    return values
