"""Time to derive equations of motion: Bellcrank beside SymPy's KanesMethod, and how it grows with
the number of links.

    python benchmarks/derivation.py [--no-sympy]

SymPy gets the Stanford arm as its documentation would have it written: dynamicsymbols for
coordinates and speeds, one ReferenceFrame and RigidBody per link, KanesMethod, mass matrix and
forcing vector; no simplification, no linear solve. Bellcrank's time includes the symbolic solve and
the finished straight-line program.
"""

import argparse
from pathlib import Path
from runpy import run_path
from time import perf_counter

EXAMPLES = Path(__file__).parents[1] / "examples"
LINKS = (2, 4, 8, 16, 24, 32)


def seconds(work, repeats=1):
    """Wall time of the first call, and the least of the repeated ones."""
    times = []
    for _ in range(repeats):
        start = perf_counter()
        result = work()
        times.append(perf_counter() - start)
    return times[0], min(times), result


def sympy_stanford_arm():
    """Mass matrix and forcing of the Stanford arm without actuators, with symbolic parameters."""
    import sympy as sm
    import sympy.physics.mechanics as me

    q, u = me.dynamicsymbols("q1:7"), me.dynamicsymbols("u1:7")
    l1, l2, l3, l5, l6, g = sm.symbols("l1 l2 l3 l5 l6 g")
    N = me.ReferenceFrame("N")
    frames, parent = [], N
    for i, (name, axis) in enumerate(zip("ABCDEF", "yx-yxy")):
        F = me.ReferenceFrame(name)
        if axis == "-":
            F.orient_axis(parent, parent.y, 0)
            F.set_ang_vel(parent, 0)
        else:
            F.orient_axis(parent, getattr(parent, axis), q[i])
            F.set_ang_vel(parent, u[i] * getattr(parent, axis))
        frames.append(F)
        parent = F
    _, B, _, D, E, F = frames

    O = me.Point("O")
    O.set_vel(N, 0)
    B_cm = O.locatenew("B_cm", l1 * B.x)
    C_cm = B_cm.locatenew("C_cm", q[2] * B.y)
    D_cm = C_cm.locatenew("D_cm", l5 * D.y)
    E_0 = C_cm.locatenew("E_0", l2 * D.y)
    E_cm = E_0.locatenew("E_cm", l6 * E.y)
    F_cm = E_0.locatenew("F_cm", l3 * F.y)
    B_cm.v2pt_theory(O, N, B)
    C_cm.set_vel(B, u[2] * B.y)
    C_cm.v1pt_theory(B_cm, N, B)
    D_cm.v2pt_theory(C_cm, N, D)
    E_0.v2pt_theory(C_cm, N, D)
    E_cm.v2pt_theory(E_0, N, E)
    F_cm.v2pt_theory(E_0, N, F)

    bodies, loads = [], []
    for name, frame, cm in zip("abcdef", frames, (O, B_cm, C_cm, D_cm, E_cm, F_cm)):
        mass, moments = sm.Symbol(f"m{name}"), sm.symbols(f"{name}1:4")
        bodies.append(me.RigidBody(name, cm, frame, mass, (me.inertia(frame, *moments), cm)))
        loads.append((cm, -mass * g * N.y))
    kinematics = [ui - qi.diff() for qi, ui in zip(q, u)]
    kane = me.KanesMethod(N, q_ind=q, u_ind=u, kd_eqs=kinematics)
    kane.kanes_equations(bodies, loads)
    return q, u, kane.mass_matrix, kane.forcing


def example(name, **arguments):
    return run_path(str(EXAMPLES / f"{name}.py"))["model"](**arguments)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--no-sympy", action="store_true", help="leave out SymPy, which takes longest"
    )
    arguments = parser.parse_args()

    rows = []

    def ours(label, name, **model_arguments):
        system = example(name, **model_arguments)
        first, best, eom = seconds(system.equations, repeats=3)
        count = eom.operation_count()["classic"]
        rows.append((label, "Bellcrank", first, best, f"{count['add']} / {count['muldiv']}"))

    ours("Stanford arm", "stanford_arm")
    if not arguments.no_sympy:
        first, best, _ = seconds(sympy_stanford_arm)
        rows.append(("Stanford arm", "SymPy KanesMethod", first, best, "not solved, not shared"))
    for n in LINKS:
        ours(f"chain of {n} links", "n_link_chain", n=n)

    print(f"{'model':20}{'program':20}{'first, s':>10}{'best, s':>10}  add / mul+div")
    for model, program, first, best, count in rows:
        print(f"{model:20}{program:20}{first:10.3f}{best:10.3f}  {count}")


if __name__ == "__main__":
    main()
