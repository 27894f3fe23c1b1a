"""Forward dynamics by composite rigid bodies and L'DL on CasADi's SX: what a careful user of CasADi
would write.

Parameters are numbers, so CasADi folds all that is constant; inertias are carried as mass, first
and second moments about the link origin; hinge rotations are written out, so that zeros and ones
vanish. `casadi.cse` follows, then its C generator.
"""

import casadi as ca


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def plus(*vectors):
    return [sum(parts[1:], parts[0]) for parts in zip(*vectors)]


def times(s, a):
    return [s * x for x in a]


def rotated(link, cosine, sine, a, back=False):
    """A vector of the link in its parent's axes (`back`: the other way)."""
    if link.kind != "hinge":
        return list(a)
    i, j = (link.axis + 1) % 3, (link.axis + 2) % 3
    s = -sine if back else sine
    result = list(a)
    result[i], result[j] = cosine * a[i] - s * a[j], s * a[i] + cosine * a[j]
    return result


def rotated_tensor(link, cosine, sine, tensor):
    rows = [rotated(link, cosine, sine, row) for row in tensor]
    columns = [rotated(link, cosine, sine, column) for column in zip(*rows)]
    return [list(row) for row in zip(*columns)]


def forward_dynamics(links, gravity):
    """The CasADi function (q, u) -> (q', u'); a free base has Euler angles 3-2-1 and speeds along
    its own axes."""
    free = links[0].kind == "free"
    n = len(links) + (5 if free else 0)
    first = 6 if free else 0  # states before the first joint
    q, u = ca.SX.sym("q", n), ca.SX.sym("u", n)
    zero = [ca.SX(0)] * 3
    unit = [[ca.SX(float(i == k)) for i in range(3)] for k in range(3)]
    place = {i: (first + i - free) for i in range(len(links))}
    trig = {
        i: (ca.cos(q[place[i]]), ca.sin(q[place[i]])) if x.kind == "hinge" else (1, 0)
        for i, x in enumerate(links)
    }

    def offset(i):
        p = [ca.SX(x) for x in links[i].offset]
        if links[i].kind == "slide":
            p[links[i].axis] += q[place[i]]
        return p

    # bias accelerations and forces, link by link in link axes
    w, alpha, a, force, moment = {}, {}, {}, {}, {}
    for i, link in enumerate(links):
        if link.kind == "free":
            w[i], alpha[i], a[i] = (
                [u[3], u[4], u[5]],
                zero,
                cross([u[3], u[4], u[5]], [u[0], u[1], u[2]]),
            )
        else:
            up = link.parent
            w_p, alpha_p, a_p = (
                (w[up], alpha[up], a[up]) if up >= 0 else (zero, zero, [ca.SX(-x) for x in gravity])
            )
            p = offset(i)
            at = plus(a_p, cross(alpha_p, p), cross(w_p, cross(w_p, p)))
            rate = times(u[place[i]], unit[link.axis])
            if link.kind == "slide":
                at = plus(at, times(2, cross(w_p, rate)))
            w_here, alpha_here, a[i] = (
                rotated(link, *trig[i], x, back=True) for x in (w_p, alpha_p, at)
            )
            if link.kind == "hinge":
                alpha_here = plus(alpha_here, cross(w_here, rate))
                w_here = plus(w_here, rate)
            w[i], alpha[i] = w_here, alpha_here
        h = [ca.SX(link.mass * x) for x in link.cm]
        J = [[ca.SX(x) for x in row] for row in link.inertia_at_origin]
        Jw = [sum(J[r][c] * w[i][c] for c in range(3)) for r in range(3)]
        Ja = [sum(J[r][c] * alpha[i][c] for c in range(3)) for r in range(3)]
        force[i] = plus(times(link.mass, a[i]), cross(alpha[i], h), cross(w[i], cross(w[i], h)))
        moment[i] = plus(Ja, cross(w[i], Jw), cross(h, a[i]))

    # composite bodies and forces, from the tips
    mass = {i: ca.SX(x.mass) for i, x in enumerate(links)}
    h = {i: [ca.SX(x.mass * c) for c in x.cm] for i, x in enumerate(links)}
    J = {i: [[ca.SX(c) for c in row] for row in x.inertia_at_origin] for i, x in enumerate(links)}
    M = [[ca.SX(0)] * n for _ in range(n)]
    right = [ca.SX(0)] * n
    for i in reversed(range(len(links))):
        link, p = links[i], offset(i)
        if link.kind == "free":
            for r in range(3):
                right[r], right[3 + r] = -force[i][r], -moment[i][r]
                M[r][r] = mass[i]
                for c in range(3):
                    M[3 + r][3 + c] = J[i][r][c]
                    M[r][3 + c] = M[3 + c][r] = cross(unit[c], h[i])[r]
            continue
        k, at = link.axis, place[i]
        right[at] = (
            (moment if link.kind == "hinge" else force)[i][k] * -1
            - link.stiffness * q[at]
            - link.damping * u[at]
        )
        if link.kind == "hinge":
            f, m = cross(unit[k], h[i]), [J[i][r][k] for r in range(3)]
            M[at][at] = m[k]
        else:
            f, m = times(mass[i], unit[k]), cross(h[i], unit[k])
            M[at][at] = f[k]
        j = i
        while links[j].kind != "free" and links[j].parent >= 0:
            f, m = (rotated(links[j], *trig[j], x) for x in (f, m))
            m = plus(m, cross(offset(j), f))
            j = links[j].parent
            if links[j].kind == "free":
                for r in range(3):
                    M[at][r] = M[r][at] = f[r]
                    M[at][3 + r] = M[3 + r][at] = m[r]
            else:
                M[at][place[j]] = M[place[j]][at] = (m if links[j].kind == "hinge" else f)[
                    links[j].axis
                ]
        if link.parent >= 0:
            up = link.parent
            turned_force, turned_moment = (
                rotated(link, *trig[i], x) for x in (force[i], moment[i])
            )
            force[up] = plus(force[up], turned_force)
            moment[up] = plus(moment[up], turned_moment, cross(p, turned_force))
            h_p, J_p = rotated(link, *trig[i], h[i]), rotated_tensor(link, *trig[i], J[i])
            whole = plus(times(2, h_p), times(mass[i], p))
            inner = sum(p[r] * whole[r] for r in range(3))
            for r in range(3):
                for c in range(r + 1):
                    shift = -(h_p[r] * p[c] + p[r] * h_p[c] + mass[i] * p[r] * p[c]) + (
                        inner if r == c else 0
                    )
                    J[up][r][c] = J[up][c][r] = J[up][r][c] + J_p[r][c] + shift
            mass[up] = mass[up] + mass[i]
            h[up] = plus(h[up], h_p, times(mass[i], p))
    udot = solved(M, right, n)
    return ca.Function("f", [q, u], ca.cse([ca.vertcat(*rates(links, q, u, n)), ca.vertcat(*udot)]))


def solved(M, right, n):
    """M x = right by L'DL, the last unknown first (Featherstone 2008, section 6.5): no fill in the
    zeros of a tree."""
    L = {}
    for k in reversed(range(n)):
        row = [i for i in range(k) if not M[k][i].is_zero()]
        for i in row:
            L[k, i] = M[k][i] / M[k][k]
            for j in row:
                if j <= i:
                    M[i][j] = M[i][j] - L[k, i] * M[k][j]
            right[i] = right[i] - L[k, i] * right[k]
    x = [right[k] / M[k][k] for k in range(n)]
    for k in range(n):
        for i in range(k):
            if (k, i) in L:
                x[k] = x[k] - L[k, i] * x[i]
    return x


def rates(links, q, u, n):
    if links[0].kind != "free":
        return [u[i] for i in range(n)]
    (ca_, sa), (cb, sb), (cc, sc) = ((ca.cos(q[i]), ca.sin(q[i])) for i in (3, 4, 5))
    v = [u[0], u[1], u[2]]
    v = [v[0], cc * v[1] - sc * v[2], sc * v[1] + cc * v[2]]
    v = [cb * v[0] + sb * v[2], v[1], cb * v[2] - sb * v[0]]
    v = [ca_ * v[0] - sa * v[1], sa * v[0] + ca_ * v[1], v[2]]
    turn = (u[4] * sc + u[5] * cc) / cb
    return [*v, turn, u[4] * cc - u[5] * sc, u[3] + sb * turn, *(u[i] for i in range(6, n))]


def operations(f):
    """Additions and multiplications or divisions that the function executes; functions apart."""
    add = mul = calls = 0
    for k in range(f.n_instructions()):
        op = f.instruction_id(k)
        if op in (ca.OP_ADD, ca.OP_SUB):
            add += 1
        elif op in (ca.OP_MUL, ca.OP_DIV, ca.OP_SQ, ca.OP_TWICE, ca.OP_INV):
            mul += 1
        elif op in (ca.OP_SIN, ca.OP_COS):
            calls += 1
    return add, mul, calls
