"""Time of one right-hand side in nanoseconds: Bellcrank's C beside CasADi's C, Pinocchio's aba and
MuJoCo's mj_forward.

    python benchmarks/rhs.py [--ideas] [--no-pinocchio] [--instructions]

All run in one process: interleaved repeats, minimum, states that change from call to call;
"chained" lets each state depend on the result before, as an integrator does. Bellcrank and CasADi
compute q' and u', the others u' alone. Results are compared before anything is timed. The C++ of
Pinocchio takes two minutes to compile and is kept in the cache folder. --ideas times the steps of
the scheduling one by one. CC=clang chooses another compiler for all but the C++, which g++ compiles
with the same flags as gcc has.
"""

import argparse
import ctypes
import hashlib
import importlib.util
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from dataclasses import dataclass
from pathlib import Path
from runpy import run_path

import numpy as np

from bellcrank.codegen.c.source import c_source
from bellcrank.codegen.schedule import ScheduleOptions
from bellcrank.simulation.backend.cache import usable_folder
from bellcrank.simulation.backend.compiler import FAST, GCC, GCC_X86, find_compiler
from bellcrank.symbolic.expr import evaluate

HERE = Path(__file__).parent
PEERS = HERE / "peers"
STATES = 16
REPEATS, CALLS = 300, 200
CASES = {  # example, arguments, gravity, stiffness and damping of the hinges
    "Stanford arm": ("stanford_arm", {}, (0.0, -9.80665, 0.0), (0.0, 0.0)),
    "Spacecraft #2": ("spacecraft_2", {}, (0.0, 0.0, 0.0), (2.85e-5, 0.001359)),
    "chain of 8": ("n_link_chain", {"n": 8}, (0.0, 0.0, 9.80665), (0.0, 0.0)),
    "chain of 16": ("n_link_chain", {"n": 16}, (0.0, 0.0, 9.80665), (0.0, 0.0)),
    "chain of 32": ("n_link_chain", {"n": 32}, (0.0, 0.0, 9.80665), (0.0, 0.0)),
}
IDEAS = {
    "depth first": {
        "balance": False,
        "reciprocals": False,
        "critical_path": False,
        "together": False,
    },
    "+ balanced": {"reciprocals": False, "critical_path": False, "together": False},
    "+ critical path": {"reciprocals": False, "together": False},
    "+ reciprocals": {"together": False},
    "+ vector sincos": {},
}


@dataclass(frozen=True)
class Link:
    """A body with numbers: joint `kind` hinge, slide or free, `axis` 0 to 2, all axes parallel at
    zero."""

    parent: int
    kind: str
    axis: int
    offset: tuple[float, ...]
    mass: float
    cm: tuple[float, ...]
    inertia: np.ndarray
    stiffness: float
    damping: float

    @property
    def inertia_at_origin(self):
        c = np.array(self.cm)
        return self.inertia + self.mass * (c @ c * np.eye(3) - np.outer(c, c))


@dataclass
class Contender:
    """A right-hand side that can be called: its library, its states and how its results are to be
    read."""

    name: str
    library: Path
    setup: str
    q: np.ndarray
    u: np.ndarray
    joints: slice  # of the results: accelerations of the joints, which all contenders share
    operations: str = ""

    def load(self):
        library = ctypes.CDLL(str(self.library))
        if hasattr(library, "setup"):
            assert library.setup(self.setup.encode()) >= 0, self.name
        self.call = library.call
        self.out = np.zeros(4096)

    def results(self, state):
        self.call(
            *(
                ctypes.c_void_p(np.ascontiguousarray(x[state]).ctypes.data)
                for x in (self.q, self.u)
            ),
            pointer(self.out),
        )
        return self.out[self.joints].copy()


def pointer(array):
    return ctypes.c_void_p(array.ctypes.data)


def example(name, **arguments):
    return run_path(str(HERE.parent / "examples" / f"{name}.py"))["model"](**arguments)


def links_of(eom, springs):
    """The bodies of a model with numbers (SI units). The first body of the arm has two moments of
    inertia that do not act."""
    records = eom.analysis.mechanism.description.parameters.values()
    known = {"a1": 0.02, "a3": 0.02} | {
        r.name: float(r.value) for r in records if r.value is not None
    }
    links = []
    for b in eom.analysis.mechanism.bodies:
        numbers = lambda row: tuple(evaluate(row, known))  # noqa: E731
        slides, turns = b.joint.slides, b.joint.rotation.axes
        free = len(slides) == 3
        axis = 0 if free else int(np.argmax(np.abs(numbers((turns or slides)[0]))))
        kind = "free" if free else "hinge" if turns else "slide"
        spring = springs if kind == "hinge" else (0.0, 0.0)
        inertia = np.array([numbers(row) for row in b.inertia])
        links.append(
            Link(
                b.parent,
                kind,
                axis,
                numbers(b.joint.at),
                numbers((b.mass,))[0],
                numbers(b.cm),
                inertia,
                *spring,
            )
        )
    return links


# ---- building


def kept(key, suffix, make):
    """A file made once and kept by content."""
    folder = usable_folder() / "benchmarks"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{hashlib.sha256(key.encode()).hexdigest()[:24]}{suffix}"
    if not path.exists():
        with tempfile.TemporaryDirectory(dir=folder) as inside:
            made = Path(inside) / path.name
            make(made)
            made.replace(path)
    return path


def built(command, source, name, extra=()):
    """The shared library of a source text."""

    def make(path):
        text = path.with_name(name)
        text.write_text(source)
        subprocess.run(
            [*command, *extra, "-fPIC", "-shared", str(text), "-o", str(path), "-lm"], check=True
        )

    return kept("\x00".join([*command, *extra, source]), ".so", make)


def c_library(source, flags=None, extra=()):
    compiler = find_compiler()
    flags = compiler.fast_flags if flags is None else flags
    return built(
        [*compiler.command, "-std=c99", "-fno-math-errno", *flags], source, "model.c", extra
    )


def bellcrank_library(program, p, options):
    adapter = f"""
    static const double parameters[N_P + 1] = {{{", ".join(map(repr, p))}}};
    static double constant[N_C + 1];
    int setup(const char *ignored) {{ (void)ignored; constants(parameters, constant); return N_U; }}
    void call(const double *q, const double *u, double *out)
    {{
        derivatives(0.0, q, u, parameters, constant, 0, out, out + N_Q, 0);
    }}
    """
    return c_library(c_source(program, options=options) + adapter)


def casadi_library(links, gravity):
    spec = importlib.util.spec_from_file_location("casadi_crba", PEERS / "casadi_crba.py")
    crba = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(crba)
    f = crba.forward_dynamics(links, gravity)
    with tempfile.TemporaryDirectory() as folder:
        generator = crba.ca.CodeGenerator("model.c", {"casadi_real": "double"})
        generator.add(f)
        generator.generate(folder + "/")
        source = Path(folder, "model.c").read_text()
    n = f.size1_in(0)
    adapter = f"""
    void call(const double *q, const double *u, double *out)
    {{
        const double *arg[{f.sz_arg()}] = {{q, u}};
        double *res[{f.sz_res()}] = {{out, out + {n}}}, w[{f.sz_w() + 1}];
        casadi_int iw[{f.sz_iw() + 1}];
        f(arg, res, iw, w, 0);
    }}
    """
    add, mul, calls = crba.operations(f)
    flags = [
        f for f in find_compiler().fast_flags if f not in GCC_X86
    ]  # its long functions lose by them
    return c_library(source + adapter, flags), f"{add} / {mul}, {calls} calls"


def pinocchio_library():
    prefix = Path(sysconfig.get_paths()["purelib"]) / "cmeel.prefix" / "include"
    defines = [
        "-DNDEBUG",
        "-DBOOST_MPL_LIMIT_LIST_SIZE=30",
        "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS",
        "-Wno-psabi",
    ]
    command = ["g++", "-std=c++17", *FAST, *GCC, *defines, f"-I{prefix}", f"-I{prefix / 'eigen3'}"]
    if not shutil.which("g++") or not (prefix / "eigen3").exists():
        print("Pinocchio is left out: needs g++ and `pip install pin cmeel-eigen`", file=sys.stderr)
        return None
    return built(command, (PEERS / "pinocchio_aba.cpp").read_text(), "model.cpp")


def mujoco_library():
    if importlib.util.find_spec("mujoco") is None:
        return None
    folder = Path(importlib.util.find_spec("mujoco").origin).parent
    library = next(folder.glob("libmujoco.so*"))
    extra = (f"-I{folder / 'include'}", str(library), f"-Wl,-rpath,{folder}")
    source = (PEERS / "mujoco_forward.c").read_text()

    def make(path):
        text = path.with_name("model.c")
        text.write_text(source)
        command = [
            *find_compiler().command,
            *find_compiler().fast_flags,
            "-fPIC",
            "-shared",
            str(text),
            *extra,
            "-o",
            str(path),
        ]
        subprocess.run(command, check=True)

    return kept("\x00".join([*extra, source]), ".so", make)


# ---- the same tree in other formats


def tree_text(links, gravity):
    kinds = {"hinge": 0, "slide": 1, "free": 2}
    lines = [f"{len(links)} {' '.join(map(repr, gravity))}"]
    for x in links:
        numbers = [*x.offset, x.mass, *x.cm, *x.inertia.ravel(), x.stiffness, x.damping]
        lines.append(
            f"{x.parent} {kinds[x.kind]} {x.axis} {' '.join(repr(float(v)) for v in numbers)}"
        )
    return "\n".join(lines) + "\n"


def mujoco_text(links, gravity):
    def show(values):
        return " ".join(repr(float(v)) for v in values)

    def body(i):
        x = links[i]
        joint = "<freejoint/>"
        if x.kind != "free":
            spring = f'stiffness="{x.stiffness!r}" damping="{x.damping!r}"'
            axis = show(np.eye(3)[x.axis])
            joint = f'<joint type="{x.kind}" axis="{axis}" {spring}/>'
        inertial = (
            f'<inertial pos="{show(x.cm)}" mass="{x.mass!r}" '
            f'diaginertia="{show(np.diag(x.inertia))}"/>'
        )
        inside = "".join(body(j) for j, y in enumerate(links) if y.parent == i)
        return f'<body pos="{show(x.offset)}">{joint}{inertial}{inside}</body>'

    off = (
        'contact="disable" constraint="disable" equality="disable" limit="disable" '
        'frictionloss="disable"'
    )
    bodies = "".join(body(i) for i, x in enumerate(links) if x.parent < 0)
    return f"""<mujoco><compiler boundinertia="1e-9" balanceinertia="true"/><option gravity="{show(gravity)}"><flag {off}/></option>
    <worldbody>{bodies}</worldbody></mujoco>"""


def quaternion(angles):
    """(x, y, z, w) of a body turned by angles about its axes 3, 2, 1 in that order."""
    from scipy.spatial.transform import Rotation

    return Rotation.from_euler("ZYX", angles).as_quat()


# ---- one case


def contenders(case, folder, ideas, with_pinocchio):
    name, arguments, gravity, springs = CASES[case]
    eom = example(name, **arguments).equations()
    sim = eom.compile(backend="python")
    p = sim.parameter_values()
    count = eom.operation_count()["classic"]
    operations = f"{count['add']} / {count['muldiv']}, {count['calls']} calls"
    links = links_of(eom, springs)
    rng = np.random.default_rng(1)
    n = len(eom.coordinates)
    q, u = rng.uniform(-1, 1, (STATES, n)), rng.uniform(-1, 1, (STATES, n))
    free = links[0].kind == "free"
    if free:
        u[:, :3] = (
            0.0  # what the base point is differs; joint accelerations do not depend on its speed
        )
    joints = slice(n + 6 if free else n, 2 * n)

    def ours(label, options):
        return Contender(
            label, bellcrank_library(eom.program, p, options), "", q, u, joints, operations
        )

    if ideas:
        return [ours(label, ScheduleOptions(**o)) for label, o in IDEAS.items()]
    found = [ours("Bellcrank", ScheduleOptions())]
    if importlib.util.find_spec("casadi") is not None:
        library, counted = casadi_library(links, gravity)
        found.append(Contender("CasADi", library, "", q, u, joints, counted))
    tree, xml = Path(folder, f"{name}{n}.txt"), Path(folder, f"{name}{n}.xml")
    tree.write_text(tree_text(links, gravity))
    xml.write_text(mujoco_text(links, gravity))
    turned = np.array([quaternion(row[3:6]) for row in q]) if free else None
    own = slice(6 if free else 0, n)
    if with_pinocchio and (library := pinocchio_library()):
        peer_q = np.column_stack([q[:, :3], turned, q[:, 6:]]) if free else q
        found.append(Contender("Pinocchio aba", library, str(tree), peer_q, u, own))
    if library := mujoco_library():
        peer_q = np.column_stack([q[:, :3], turned[:, [3, 0, 1, 2]], q[:, 6:]]) if free else q
        found.append(Contender("MuJoCo mj_forward", library, str(xml), peer_q, u, own))
    return found


def compared(found):
    """Largest difference of the joint accelerations from ours, relative."""
    for c in found:
        c.load()
    for c in found[1:]:
        worst = 0.0
        for state in range(STATES):
            expected = found[0].results(state)
            worst = max(worst, np.abs(c.results(state) - expected).max() / np.abs(expected).max())
        assert worst < 1e-6, f"{c.name} differs by {worst:.1e}"


def timed(found, timer, chained):
    best = [np.inf] * len(found)
    for _ in range(REPEATS):
        for i, c in enumerate(found):
            args = [
                c.call,
                pointer(c.q),
                c.q.shape[1],
                pointer(c.u),
                c.u.shape[1],
                STATES,
                pointer(c.out),
                CALLS,
                c.joints.stop - 1 if chained else -1,
            ]
            best[i] = min(best[i], timer.nanoseconds(*args))
    return best


def instructions(c, folder):
    """Machine instructions of one call, by callgrind; None where that does not work."""
    program = Path(folder, "count")
    if not shutil.which("valgrind"):
        return None
    if not program.exists():
        command = [
            *find_compiler().command,
            "-O1",
            str(PEERS / "count.c"),
            "-o",
            str(program),
            "-ldl",
        ]
        subprocess.run(command, check=True)
    total = []
    for calls in (100, 1100):
        state = [repr(float(x)) for x in (*c.q[0], *c.u[0])]
        arguments = [
            str(c.library),
            str(calls),
            c.setup,
            str(c.q.shape[1]),
            str(c.u.shape[1]),
            *state,
        ]
        command = [
            "valgrind",
            "--tool=callgrind",
            f"--callgrind-out-file={folder}/out",
            str(program),
            *arguments,
        ]
        done = subprocess.run(command, capture_output=True, text=True)
        line = [x for x in done.stderr.splitlines() if "Collected" in x]
        if done.returncode or not line:
            return None
        total.append(int(line[0].split()[-1]))
    return (total[1] - total[0]) / 1000


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--ideas", action="store_true", help="what each step of the scheduling is worth"
    )
    parser.add_argument(
        "--no-pinocchio", action="store_true", help="do not compile Pinocchio's C++"
    )
    parser.add_argument(
        "--instructions", action="store_true", help="count machine instructions too (valgrind)"
    )
    arguments = parser.parse_args()
    timer = ctypes.CDLL(
        str(c_library((PEERS / "timer.c").read_text(), ("-O2", "-D_POSIX_C_SOURCE=199309L")))
    )
    timer.nanoseconds.restype = ctypes.c_double
    print(
        f"{find_compiler().name}, {' '.join(find_compiler().fast_flags)} for all; minimum "
        f"of {REPEATS} interleaved repeats of {CALLS} calls"
    )
    print(
        f"{'model':16}{'program':20}{'ns':>9}{'chained':>9}{'ratio':>8}{'instructions':>14} "
        f"  add / mul+div"
    )
    with tempfile.TemporaryDirectory() as folder:
        for case in CASES:
            found = contenders(case, folder, arguments.ideas, not arguments.no_pinocchio)
            compared(found)
            alone, chained = timed(found, timer, False), timed(found, timer, True)
            for c, ns, ns_chained in zip(found, alone, chained, strict=True):
                counted = instructions(c, folder) if arguments.instructions else None
                shown = f"{counted:.0f}" if counted else "-"
                ratio = f"{ns / alone[0]:.2f}"
                print(
                    f"{case:16}{c.name:20}{ns:9.1f}{ns_chained:9.1f}{ratio:>8}{shown:>14}   "
                    f"{c.operations}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
