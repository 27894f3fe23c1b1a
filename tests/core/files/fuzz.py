"""Seeded mutations of valid files, and every reader they are given to: a result, or an error of
ours, in a short time.

While a reader is at work nothing may be executed, compiled, opened for writing, started or
connected to (`watched`).
"""

import codecs
import csv
import importlib
import io
import json
import os
import random
import re
import signal
import sys
import warnings
import zlib
from contextlib import contextmanager, suppress
from itertools import zip_longest
from pathlib import Path

import numpy as np

import bellcrank as bc
from bellcrank.cli import files as command_files
from bellcrank.cli import options
from bellcrank.cli.analyse import parse_frequencies, parse_sweep
from bellcrank.cli.kinematics import parse_travel_range
from bellcrank.core.files.format_choice import read_record, write_record
from bellcrank.core.files.parsfile import ParsFile
from bellcrank.core.files.record import FileChannel, Record
from bellcrank.core.files.stl import read_stl
from bellcrank.core.files.text_files import to_one_line
from bellcrank.core.units import parse_dimension, unit_system
from bellcrank.export.model_setup import program_setup
from bellcrank.export.parameter_files import read_settings
from bellcrank.formats.decks.interpreter import interpret_deck
from bellcrank.formats.decks.reader import read_deck
from bellcrank.kane.autolev import ScriptFiles, run_script
from bellcrank.kane.autolev.inputs import read_values
from bellcrank.linkage import Linkage, Table
from bellcrank.linkage.hard_point_files import read_hard_points
from bellcrank.mechanics.interface.formula_units import formula_units
from bellcrank.simulation.run.event_conditions import (
    comparison_operator,
    compile_condition,
    formula_function,
)
from bellcrank.study.pivot import _read_published
from bellcrank.study.store import RECORDS, STUDY, RecordReader, StudyStore
from bellcrank.study.study_file import read_definition
from bellcrank.study.study_formulas import FormulaValues, names_in_formula
from bellcrank.symbolic.expr.formula_parser import parse_formula
from bellcrank.vehicles.cars.metrics.load_cases import read_load_cases
from bellcrank.vehicles.manoeuvres.car_report.key_metrics import read_targets

SECONDS = 5.0  # of computing, for one input
EXAMPLES = Path(__file__).parents[3] / "examples"

FORMULAS = (
    "-k*(x - x0) - d*v",
    "ca1*alpha + cg1*ccoef1*q(1)",
    "dot(vel(b.cm), [n1])*k - 3.5e2*sin(q(b) + 0.1)**2",
    "where(u(1) > 0, f0*atan2(u(1), v0), -abs(q(2))*k)",
    "min(k*q(1), f0, sqrt(k)*exp(-t/t0)) + max(0, log(1 + q(1)**2))",
    "2*zeta*sqrt(k*m)",
    "Fz < 0",
    "1e-3 + .5 - 2.",
    "dot(dxdt(vel(c.cm)), [n3])/9.81",
    "a.b.c(1, -2)",
    "kg*m/s**2",
    "M*L**2/T",
)
SCALARS = (
    "2*zeta*sqrt(k*m)",
    "k**-2 + min(m, k, 3)",
    "where(k > 1, atan2(m, k), -abs(k))",
    "1e3*pi/(k - 2.5)",
    "mod(k, m)*hypot(3, 4)",
)
CONDITIONS = (
    "q(rod) > 0",
    "u(rod)",
    "load < k*sin(q(rod))",
    "max(q(rod), u(rod), 2) >= 1e-3",
    "where(q(rod) > 0, 1, -1)",
)
PARAMETERS = """PARSFILE
* a comment
TITLE some words
k      10.0   N/m  stiffness
q(rod) -0.5   rad
c      2D-1
stopt  2
step   .01
method rk4
load   step 0.5 0.05 0
END
"""
TABLE = "t,load,b\ns,Nm,m\n0,1,2\n0.1,1.5,-2e-3\n0.2,3,4\n"
POINTS = (
    "# units: mm\n# axes: SAE\n# side: left\n# kind: "
    "macpherson\nname,x,y,z,body\nlower_front,25,365,200,chassis\nwheel_centre,0,750,300,\n"
)
PUBLISHED = "# from a table\npart,k,largest\na,1,2.5\nb,2,\n"
ERD = (
    "ERDFILEV2.00\n     2,     2,    -1,     1,     5,0.1\nTITLE x\nSHORTNAMt       a       "
    '\nLONGNAME{:<32}{:<32}\nUNITSNAMs       m       \nCHANNEL "t" "s" "Time" "Time" '
    '""\nCHANNEL "a" "m" "" "" ""\nHISTORY made\nEND\n0.0 1.0\n0.1 2.0\n'
).format("Time", "a")
RUN = '{"title": "r", "history": ["x"], "channels": [\n{"name": "t", "unit": "s", "values": [0.0, 0.1]},\n{"name": "a", "unit": "m", "label": "l", "values": [1.0, null]}\n]}\n'
RECORD = '{"key": "k1", "values": {"m": 1}, "metrics": {"largest": 0.3, "other": null}, "ended": "finished", "notes": ["n"], "seconds": 0.1, "by": "h:1"}\n'
INPUT_OF_SCRIPT = "1.0 2.0 3.0\n0.5, 0.1\n10 0.1\n"
SCRIPT = """! a rod
DOF(1)
FRAMES(A)
SIMPROT(N,A,3,PHI1)
PHI1'=U1
WAN=PHI1'*N3
CONST(LA,G)
POINTS(Q)
MASSLESS(Q)
PQASTAR=LA*A1
VASTARN=PHI1'*LA*A2
PRINCIPAL(A)
FORCE(ASTAR)=G*MASSA*N1
SAVE(x)
"""
DECK = """(reset)
(add-body b :name "cart" :translate (1 2) :parent-rotation-axis 3 :cm-coordinates #(cmb1 0 0))
(add-body f :parent b :parent-rotation-axis 3 :joint-coordinates #(L1 !"-eps" 0) :inertia-matrix #(it ia it) :mass mw)
(add-line-force F :point1 b0 :direction [b1] :magnitude !"-k*x - d*v")
(add-constraint !"dot([b2], vel(f0))")
(add-out !"dot([n3], rot(b))" "r" :long-name "yaw rate" :body b :units !"a/t")
(dynamics) (mks)
(set-defaults BM 20 L1 1.5 K 100) ; STEP .02
"""
STUDY_TEXT = """name = "course"
[model]
vehicle = "motorcycle"
arguments = { rim = 5, k = [1e4, 1e4] }
terrain = { kind = "course" }
[run]
t_end = 6.0
step = 0.001
[parameters]
c_strut = "2*zeta*sqrt(k_strut)"
[inputs]
load = { step = { at = 1.0, to = 2.0 } }
[metrics]
wk = { kind = "wk", of = ["rear.az", "front.az"] }
[samples]
count = 200
seed = 2003
how = "latin-hypercube"
[samples.of]
k_strut = { log-uniform = [4000, 20000] }
[[plots]]
file = "a.png"
value = "wk"
x = "k_strut"
"""
OPTIONS = (
    "k=3",
    "q(f)=.25",
    "n=32",
    "small=true",
    "lift=Fz < 0",
    "12",
    "0.1",
    "u(chassis, 1)=10:40:4",
    "name=text",
)

HEIGHTS = "# ground\n,0,1,2\n0,0,0.1,0.2\n1,0.1,0.2,0.3\n2,0,0,1e-3\n"
ROAD = """$CT
a road
$
$ROAD_CRG
REFERENCE_LINE_START_U   = 0.0
REFERENCE_LINE_INCREMENT = 1.0
LONG_SECTION_V_RIGHT     = -1.0
LONG_SECTION_V_INCREMENT = 1.0
$
$KD_DEFINITION
#:LRFI
U:reference line u,m,0.0,1.0
D:reference line phi,rad
D:long section 1,m
D:long section 2,m
D:long section 3,m
$
$$$$
********** 0.0000000 0.0100000 0.0200000
 0.0000000 0.0000000 0.0100000 0.0200000
 0.0000000 0.0000000 0.0000000 0.0300000
"""
SOLID = (
    "solid part\n" + 2 * "facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 "
    "-1e-1\nendloop\nendfacet\n" + "endsolid part\n"
)
CASES = (
    '[braking]\nbraking = 1.0\n["kerb strike"]\nfx = "5000 N"\nfz = "1.2e4 '
    'N"\n[corner]\ncornering = 0.8\n'
)
TARGETS = (
    "[iso4138]\nunderseer = [1, 3]\nroll = {min = 2.0, max = 6, target = 4}\n[car]\nmass = "
    "{max = 1500}\n"
)

PIECES = (
    "(", ")", "[", "]", "{", "}", '"', "'", "'''", '"""', ",", ";", ":", "=", "==", "#", "!", '!"', "*", "**", "/", "//", "\\", "|", "`", "%",
    "0", "-1", "-0", "1e308", "1e999", "-1e999", "1e-400", "nan", "inf", "-inf", "1/0", "0x10", "1_000", "9" * 25, "9" * 5000, "1e9999999",
    "null", "nil", "t", "T", "true", "None", "()", "[]", "{}", "#(", "#.(run)", "#2a((1 2) (3 4))", "[n1]", "[n9]", "q(99)", "u(-1)", "**9999",
    "sin(", "dot(", "where(", "<", ">", "&", "END", "PARSFILE", "PARSFILE x", "TITLE", "PARSFILE /dev/zero", "..", "../../x", "/etc/passwd",
    "\n", "\n\n", "\r", "\t", " ", "\x00", "\x1a", "\x1b", "\x7f", "\u00b0", "\u03b1", "\u2028", "\ufeff", "\U0001f600", "\u0130", "\u00df",
    "__import__('os').system('x')", "{{", "@X@", "%s", "${HOME}", "$(x)", "<script>", "(" * 50, "[" * 50, "-" * 50, "a" * 300, "1979-05-27",
    "inf=1", "a.b=1", "[[x]]", "[x]", "x = 1\n", "kind = 1\n", ".", "e", "E", "d", "0.5.5", "1e", "--1", "+", "CODE(x)", "SAVE(../x)", "LOAD(x)",
)  # fmt: skip
BYTES = (
    b"\xff",
    b"\xfe\xff",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"\x80",
    b"\xc3",
    b"\xed\xa0\x80",
    b"\xe4",
    b"\x00\x00",
)
WORD = re.compile(r"\w+|\s+|[^\w\s]")


def mutated(text, other, rng):
    """A text with one to four changes; `other` is one that parts may be taken from."""
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        at = rng.randrange(len(text) + 1)
        end = min(len(text), at + rng.choice((1, 1, 2, 5, 20, 200)))
        match rng.randrange(9):
            case 0:
                text = text[:at] + rng.choice(PIECES) + text[at:]
            case 1:
                text = text[:at] + rng.choice(PIECES) + text[end:]
            case 2:
                text = text[:at] + text[end:]
            case 3:
                text = text[:end] + text[at:]
            case 4:
                text = text[:at] + chr(rng.randrange(32, 127)) + text[at + 1 :]
            case 5:
                cut = rng.randrange(len(other) + 1)
                text = text[:at] + other[cut : cut + rng.choice((3, 30, 300))] + text[end:]
            case 6:
                words = WORD.findall(text[at : at + 60])
                rng.shuffle(words)
                text = text[:at] + "".join(words) + text[at + 60 :]
            case 7:
                number = re.search(r"\d[\d.eE+-]*", text[at:])
                if number:
                    text = (
                        text[: at + number.start()] + rng.choice(PIECES) + text[at + number.end() :]
                    )
            case _:
                text = text[: rng.choice((at, end))] if rng.random() < 0.3 else text[at:]
    return text[:20000]


class Readers:
    """Everything that reads what users write, by name: texts to begin with, and what is done with a
    changed one."""

    def __init__(self, folder):
        np.random.default_rng(0)  # is imported when it is first used, as are codecs
        for coding in ("utf-8-sig", "utf-16"):
            codecs.lookup(coding)
        importlib.import_module("scipy.spatial")
        self.folder = Path(folder)
        system = bc.System("rod")
        rod = system.add_body("rod", rotate=3, cm=(0, -1, 0), mass=2, inertia=(0.1, 0.1, 0.1))
        system.add_input("load", units="Nm")
        system.add_moment(
            "drive", magnitude="-k*q(rod) - c*u(rod) + load", direction=rod[3], on=rod
        )
        system.set_defaults(k=3.0, c=0.5)
        self.equations = system.equations()
        self.setup = program_setup(self.equations.derived)
        self.files = ScriptFiles(self.folder / "script", at_once=False)
        (self.folder / "script").mkdir()
        (self.folder / "x").write_text("PARSFILE\nk 1\n")
        store = self.folder / "study"
        (store / RECORDS).mkdir(parents=True)
        linkage = (EXAMPLES / "suspension.toml").read_text("utf-8")
        car = (
            Path(bc.__file__).parent / "vehicles" / "cars" / "data" / "passenger.toml"
        ).read_text("utf-8")
        tyre = (EXAMPLES / "tyres" / "book_205_60R15.tir").read_text("utf-8")
        Linkage.read(EXAMPLES / "suspension.toml").table(
            step=0.1, range=(-0.05, 0.05), links=[]
        ).save(self.folder / "t.json")
        self.columns = {x.name: (x.column, 1.0) for x in self.equations.interface.channels}
        self.units = formula_units(self.equations.interface)
        self.kinds = {  # with a fraction of all inputs, fewer of those that take longer
            "formula": (FORMULAS, parse_formula, 150),
            "formula of a study": (SCALARS, self.formula, 80),
            "condition": (CONDITIONS, self.condition, 80),
            "unit": (
                ("kg*m/s**2", "N-m", "g's", "1/(m*s)", "deg", "lb*in/(ft**0.5)"),
                unit_system("mks").parse,
                60,
            ),
            "dimension": (("M*L**2/T", "F*L", "1/T**2", "L**(1/2)"), parse_dimension, 60),
            "option": (OPTIONS, self.option, 60),
            "deck": ((DECK,), self.deck, 25),
            "script": ((SCRIPT,), self.script, 20),
            "script input": (
                (INPUT_OF_SCRIPT,),
                lambda text: read_values(text, [["a", "b", "c"], ["d", "e"]], "x.in"),
                80,
            ),
            "parameters": ((PARAMETERS,), self.parameters, 50),
            "linkage": ((linkage,), lambda text: read_hard_points(self.file("l.toml", text)), 20),
            "points": ((POINTS,), lambda text: read_hard_points(self.file("l.csv", text)), 30),
            "tyre": (
                (tyre,),
                lambda text: bc.vehicles.tyres.MagicFormula.read(self.file("t.tir", text)),
                8,
            ),
            "study": ((STUDY_TEXT,), lambda text: read_definition(self.file("s.toml", text)), 20),
            "inputs": (
                (TABLE,),
                lambda text: command_files.read_input_files(
                    str(self.file("i.csv", text)), self.equations
                ),
                45,
            ),
            "csv": (
                (TABLE, TABLE.replace("s,Nm,m\n", "")),
                lambda text: self.channels(self.file("r.csv", text), text),
                60,
            ),
            "published": (
                (PUBLISHED,),
                lambda text: _read_published(self.file("p.csv", text), "largest"),
                50,
            ),
            "erd": ((ERD,), lambda text: self.channels(self.file("r.erd", text)), 60),
            "json": ((RUN,), lambda text: self.channels(self.file("r.json", text), text), 50),
            "netcdf": (self.binary("r.nc"), lambda text: self.channels(self.raw("r.nc", text)), 20),
            "mat": (self.binary("r.mat"), lambda text: self.channels(self.raw("r.mat", text)), 20),
            "parquet": (
                self.binary("r.parquet"),
                lambda text: self.channels(self.raw("r.parquet", text)),
                5,
            ),
            "heights": (
                (HEIGHTS,),
                lambda text: bc.vehicles.terrain.Surface.read(self.file("g.csv", text)),
                30,
            ),
            "npy": (
                arrays(np.save),
                lambda text: bc.vehicles.terrain.Surface.read(self.raw("g.npy", text), spacing=1.0),
                20,
            ),
            "npz": (
                arrays(np.savez_compressed),
                lambda text: bc.vehicles.terrain.Surface.read(self.raw("g.npz", text)),
                20,
            ),
            "crg": (
                (ROAD,),
                lambda text: bc.vehicles.terrain.Road.read(self.file("r.crg", text)),
                20,
            ),
            "stl": ((SOLID, triangles()), lambda text: read_stl(self.raw("p.stl", text)), 40),
            "car": ((car,), lambda text: bc.vehicles.Car.read(self.file("c.toml", text)), 6),
            "load cases": ((CASES,), lambda text: read_load_cases(self.file("l.toml", text)), 30),
            "targets": ((TARGETS,), lambda text: read_targets(self.file("g.toml", text)), 30),
            "table": (
                ((self.folder / "t.json").read_text("utf-8"),),
                lambda text: Table.read(self.file("t.json", text)),
                20,
            ),
            "record": ((RECORD, RECORD + RECORD), self.record, 50),
        }

    def file(self, name, text):
        path = self.folder / name
        data = text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text
        path.write_bytes(data)
        return path

    def binary(self, name):
        """A file of channels as text of single bytes."""
        channels = (FileChannel("a", np.arange(5.0), "m", "label", "generic", "body"),)
        return (
            write_record(self.folder / name, Record("run", np.arange(5.0), channels, ("made",)))
            .read_bytes()
            .decode("latin-1"),
        )

    def channels(self, path, text=None):
        """Channels as they are in a file: what a text says without Bellcrank, and what is read back
        of them."""
        record = read_record(path)
        names = [c.name for c in record.channels]
        assert np.all(np.isfinite(record.time)) and np.all(np.diff(record.time) >= 0), "time"
        assert len({*names}) == len(names) and all(names), "names"
        if text is not None and (
            plain := (plain_csv if path.suffix == ".csv" else plain_json)(text)
        ):
            time, channels = plain
            assert record.time.tolist() == time, "time of the text"
            assert [(c.name, c.unit) for c in record.channels] == channels, (
                "names and units of the text"
            )
        if zlib.crc32(path.read_bytes()) % 8 == 0:
            with unwatched():
                back = read_record(write_record(path.with_stem("back"), record))
            assert back.time.tolist() == record.time.tolist(), "time read back"
            assert [(c.name, c.unit) for c in back.channels] == [
                (c.name, c.unit) for c in record.channels
            ], "read back"
            for a, b in zip(record.channels, back.channels, strict=True):
                assert np.array_equal(a.values, b.values, equal_nan=True), "values read back"

    def raw(self, name, text):
        return self.file(name, text.encode("latin-1", "replace"))

    def formula(self, text):
        names_in_formula(text)
        return FormulaValues({"a": text, "k": 2.0, "zeta": "k/3", "m": 1.0})["a"]

    def condition(self, text):
        comparison_operator(text)
        values = {"k": 3.0}
        return formula_function(
            compile_condition(text, self.columns, values, "event", self.units), self.columns, values
        )

    def option(self, text):
        for read in (
            options.parse_value,
            options.parse_argument,
            options.parse_integer_option,
            options.parse_condition,
            parse_frequencies,
            parse_sweep,
            parse_travel_range,
        ):
            with suppress(options.ArgumentTypeError):
                read(text)

    def deck(self, text):
        interpret_deck(read_deck(text), {}, "deck")

    def script(self, text):
        run_script(text, "script", self.files)
        self.files.waiting.clear()

    def parameters(self, text):
        read_settings(self.setup, ParsFile.read(self.file("p.par", text)))

    def record(self, text):
        self.file(f"study/{RECORDS}/a.jsonl", text)
        for record in RecordReader(self.folder / "study").read_new().values():
            assert (
                isinstance(record["ended"], str)
                and sum(x for x in record["metrics"].values() if x is not None) is not None
            )
        self.file(f"study/{STUDY}", text)
        StudyStore(self.folder / "study").previous_job()


def arrays(save):
    """A file of NumPy as text of single bytes."""
    file, h = io.BytesIO(), np.arange(6.0).reshape(3, 2)
    save(
        file,
        **{"arr": h} if save is np.save else {"x": np.arange(3.0), "y": np.arange(2.0), "h": h},
    )
    return (file.getvalue().decode("latin-1"),)


def triangles():
    """A binary STL file of two triangles as text of single bytes."""
    record = np.zeros(2, [("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("more", "<u2")])
    record["corners"] = np.arange(18.0).reshape(2, 3, 3)
    return (bytes(80) + (2).to_bytes(4, "little") + record.tobytes()).decode("latin-1")


def plain_csv(text):
    """Time, and names with units, of a table as Python's own reader sees it; None where it is no
    plain one."""
    try:
        rows = list(csv.reader(io.StringIO(text), strict=True))
        given = len(rows) > 1 and rows[1][0] == "s"
        time = [float(row[0]) for row in rows[1 + given :]]
    except (csv.Error, ValueError, IndexError):
        return None
    if (
        rows[0][0] != "t"
        or not text.isascii()
        or (not text.isprintable() and set(text) & {"\r", "\t", "#", ";", '"'})
    ):
        return None
    if all(
        row and not row[-1].strip() for row in rows
    ):  # separators at the ends of lines, which have no meaning
        return None
    units = rows[1] if given else [""] * len(rows[0])
    if any(set(u) & set("[]()") for u in (*rows[0], *units)):  # a unit may stand in brackets
        return None
    return time, [
        (to_one_line(n), to_one_line(u))
        for n, u in zip_longest(rows[0][1:], units[1:], fillvalue="")
    ]


def plain_json(text):
    """Time, and names with units, of a run as Python's own reader sees it; None where it has no
    channels."""
    try:
        (first, *others) = json.loads(text)["channels"]
        named = [(to_one_line(c["name"]), to_one_line(c.get("unit", ""))) for c in others]
        return ([float(x) for x in first["values"]], named) if first.get("unit") == "s" else None
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


class Fault(AssertionError):
    """What a reader must not do."""


class Hang(BaseException):
    """More computing than any input of its size should need."""


_state = {"on": False, "folder": ""}
FORBIDDEN = (
    "exec",
    "compile",
    "import",
    "os.system",
    "os.exec",
    "os.posix_spawn",
    "os.fork",
    "subprocess.Popen",
    "socket.connect",
    "socket.bind",
    "ctypes.dlopen",
    "ctypes.dlsym",
    "os.remove",
    "os.rename",
    "os.mkdir",
    "os.rmdir",
    "os.chmod",
    "shutil.rmtree",
    "webbrowser.open",
    "pickle.find_class",
)


def _audit(event, given):
    if not _state["on"]:
        return
    if event == "import" and given[0].startswith(("encodings.", "numpy.", "scipy.", "bellcrank.")):
        return  # what is loaded when it is first used
    if event == "compile" and given[1] == "<unknown>":
        # to a tree, as `ast.literal_eval` does for headers of NumPy; "exec" would follow if it were
        # run
        return
    if event in FORBIDDEN and given and str(given[0]).startswith(_state["folder"]):
        return
    if event in FORBIDDEN:
        raise Fault(f"{event}{given!r:.200}")
    if event == "open":
        path, mode = str(given[0]), given[1]
        if (
            mode is not None
            and any(letter in mode for letter in "wax+")
            and not path.startswith(_state["folder"])
        ):
            raise Fault(f"open{given!r:.200}")


sys.addaudithook(_audit)


@contextmanager
def watched(folder):
    """Nothing is executed meanwhile, and no input takes long."""

    def ring(*_):
        raise Hang

    before = signal.signal(signal.SIGPROF, ring)
    _state.update(on=True, folder=str(folder))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        _state["on"] = False
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@contextmanager
def unwatched():
    """Files may be written meanwhile."""
    _state["on"], before = False, _state["on"]
    try:
        yield
    finally:
        _state["on"] = before


def fuzz(readers, kind, count, seed):
    """Gives so many changed inputs to a reader; what it did wrong, with the input. How many were
    read and rejected."""
    texts, read, _ = readers.kinds[kind]
    rng, outcome, found = random.Random(f"{kind} {seed}"), {"read": 0, "refused": 0}, {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for text in texts:
            read(text)  # what is imported for it is imported now
    with watched(readers.folder):
        for _ in range(count):
            text = mutated(rng.choice(texts), rng.choice(texts), rng)
            if rng.random() < 0.02:
                raw = text.encode("utf-8", "surrogatepass")
                at = rng.randrange(len(raw) + 1)
                text = (raw[:at] + rng.choice(BYTES) + raw[at:]).decode("utf-8", "surrogateescape")
            signal.setitimer(signal.ITIMER_PROF, SECONDS)
            try:
                read(text)
                outcome["read"] += 1
            except bc.InternalError as error:
                found.setdefault(_place(error), (repr(error), text))
            except bc.BellcrankError as error:
                if not str(error).strip():
                    found.setdefault("no words", (repr(error), text))
                outcome["refused"] += 1
            except (Exception, Hang) as error:
                found.setdefault(_place(error), (repr(error)[:300], text))
    return outcome, found


def _place(error):
    trace, places = error.__traceback__, []
    while trace is not None:
        code = trace.tb_frame.f_code
        if "bellcrank" in code.co_filename and "tests" not in code.co_filename:
            places.append(f"{os.path.basename(code.co_filename)}:{trace.tb_lineno}")
        trace = trace.tb_next
    return f"{type(error).__name__} at {' '.join(places[-2:])}"
