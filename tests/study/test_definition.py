"""What a study file may say, and what is reported when it says something else."""

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.cli.main import main
from bellcrank.core.files.shipped_files import example_folder
from bellcrank.simulation.many.sample_plans import SamplePlan
from bellcrank.study.study_file import read_definition
from bellcrank.study.study_parts import StudyPart
from bellcrank.study.study_records import (
    ModelSpec,
    OutputSpec,
    PlotSpec,
    StudyDefinition,
    TableSpec,
)
from tests.study.studies import mass, toml


def problems(study):
    with pytest.raises(bc.ModelError) as told:
        bc.Study.read(study)
    return told.value.problems


def test_every_problem_is_named_at_once():
    wrong = mass(
        grid={"k": [1, 2], "kk": [1], "q(mas)": [0.1], "run.backend": ["c"]},
        run={"backend": "python", "t_end": -1, "stepp": 0.1},
        metrics={
            "a": {"kind": "rmss", "of": "q(mass)"},
            "b": {"kind": "rms", "of": "q(masss)"},
            "c": {"kind": "rms"},
        },
        initial={"u(mass)": "2*w"},
        inputs={"force": 1},
        tables=[{"value": "d", "rows": "m"}],
        colour="red",
    )
    text = "\n".join(problems(wrong))
    for sentence in (
        "'colour' is not known",
        "[run]: 'stepp' is not known. Did you mean 'step'?",
        "[run]: t_end = -1 must be positive",
        "[metrics] a: the metric 'rmss' is not known. Did you mean 'rms'? It is one of final, ",
        "[metrics] c: of is missing",
        "no parameter 'kk', and no formula uses it. Did you mean 'k'? Parameters: k.",
        "no state 'q(mas)'. Did you mean 'q(mass)'? States: q(mass), u(mass).",
        "'run.backend' cannot vary",
        "no channel 'q(masss)'. Did you mean 'q(mass)'? Channels: q(mass), u(mass)",
        "[initial] u(mass): nobody gives 'w'",
        "no input 'force'",
        "[[tables]] 1: no metric 'd'",
        "[[tables]] 1: 'm' does not vary there",
    ):
        assert sentence in text, sentence


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"grid": {}}, "nothing to vary"),
        ({"grid": {"k": []}}, "must be a list of values"),
        ({"grid": {"k": [1, float("nan")]}}, "not a finite number"),
        ({"grid": {"k": [1, 1.0]}}, "stands there twice"),
        ({"grid": {"k": ["soft"]}}, "'soft' is not a number"),
        ({"grid": {"k": {"from": 1, "to": 2}}}, "count is missing"),
        ({"grid": {"k": {"from": 0, "to": 2, "count": 3, "spacing": "log"}}}, "must be positive"),
        ({"grid": {"k": [1], "model.stiffness": [1]}}, "takes no argument 'stiffness'"),
        ({"samples": {"count": 3, "of": {"k": {"uniform": [2, 1]}}}}, "low below high"),
        (
            {"samples": {"count": 3, "seed": 1, "of": {"k": {"gauss": [2, 1]}}}},
            "not a distribution",
        ),
        (
            {"samples": {"count": 0, "seed": 1, "of": {"w": {"uniform": [1, 2]}}}},
            "whole number of at least 1",
        ),
        (
            {"samples": {"count": 3, "seed": 1, "of": {"k": {"normal": [1, 2]}}}},
            "both in grid and in samples",
        ),
        (
            {"tables": [{"value": "fastes", "rows": "k"}]},
            "no metric 'fastes'. Did you mean 'fastest'? Metrics: end, fastest.",
        ),
        ({"metrics": {}}, "there is no metric"),
        (
            {"metrics": {"a": {"kind": "max", "of": "q(mass)", "from": 9}}},
            "lies after the end of the runs",
        ),
        ({"metrics": {"a": {"kind": "max", "of": ["q(mass)", "u(mass)"]}}}, "different units"),
        ({"metrics": {"k": {"kind": "max", "of": "q(mass)"}}}, "needs another name"),
        ({"model": {}}, "either vehicle = or file = is needed"),
        ({"model": {"file": "nothing.py"}}, "no file nothing.py"),
        (
            {"model": {"vehicle": "motorcicle"}},
            "Did you mean 'motorcycle'? It is one of car, motorcycle",
        ),
        (
            {"model": {"vehicle": "motorcycle", "terrain": {"kind": "hil"}}},
            "no terrain 'hil'. Did you mean 'hill'?",
        ),
        (
            {"model": {"vehicle": "motorcycle", "terrain": {"kind": "hill", "hight": 1}}},
            "Did you mean 'height'?",
        ),
        (
            {"model": {"vehicle": "motorcycle", "terrain": {"kind": "iso8608"}}},
            "missing a required",
        ),
        (
            {"model": {"vehicle": "motorcycle", "arguments": {"rim": -1}}},
            "the mass must be positive",
        ),
        ({"run": {"method": "rk5"}}, "method='rk5' is not known"),
        ({"run": {"dae": "magic"}}, "method='magic' is not known"),
        ({"run": {"backend": "cobol"}}, "backend = 'cobol' is not known"),
        ({"parameters": {"k": "2*("}}, "[parameters]: k:"),
        ({"outputs": {"e": "sqrt("}}, "output"),
        (
            {
                "grid": {},
                "parts": [{"name": "a", "grid": {"k": [1]}}, {"name": "b", "grid": {"k": [2]}}],
                "plots": [{"file": "x.png", "value": "end", "x": "k"}],
            },
            "part is missing; it is one of",
        ),
        ({"plots": [{"file": "../x.png", "value": "end", "x": "k"}]}, "without a folder"),
        ({"parts": [{"grid": {"k": [1]}}]}, "must stand in one of the [[parts]]"),
    ],
)
def test_mistakes_of_one_kind(change, sentence):
    assert sentence in "\n".join(problems(mass(**change)))


def test_a_file_is_the_same_as_a_mapping(tmp_path):
    path = tmp_path / "mass.toml"
    path.write_text(toml(mass()), encoding="utf-8")
    assert bc.Study.read(path, allow_outside=True).definition == bc.Study.read(mass()).definition


@pytest.mark.parametrize(("text", "sentence"), [("[[", "not a TOML file"), (None, "cannot read")])
def test_unreadable_files(tmp_path, text, sentence):
    path = tmp_path / "study.toml"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    with pytest.raises(bc.ModelError, match=sentence):
        bc.Study.read(path)


@pytest.mark.parametrize("ends", [(0.01, 100.0), (1e-6, 2e-6), (30.0, 0.3)])
def test_ranges_are_even_or_in_equal_ratios(ends):
    """Whatever the size of the ends, which are met exactly."""

    def values(**spacing):
        low, high = ends
        study = bc.Study.read(mass(grid={"k": {"from": low, "to": high, "count": 5, **spacing}}))
        return [values["k"] for _, values in study.run_points]

    assert values(spacing="log") == pytest.approx(np.geomspace(*ends, 5), rel=1e-14)
    assert values() == pytest.approx(np.linspace(*ends, 5), rel=1e-14)
    assert values(spacing="log")[-1] == values()[-1] == ends[1]


def test_all_that_a_file_may_say(tmp_path):
    """Read as it stands there, nothing omitted."""
    (tmp_path / "profile.csv").write_text("x (m),h (m)\n0,0.5\n2,0.25\n", encoding="utf-8")
    (tmp_path / "all.toml").write_text(
        """
        note = "not read"
        model = { vehicle = "motorcycle", arguments = { rim = 2 }, terrain = { kind = "profile", file = "profile.csv" } }
        run = { t_end = 3, step = 0.5, method = "rk4", output_every = 2, rtol = 1e-6, atol = { m = 1e-9 } }
        parameters = { a = 1, b = "2*a" }
        initial = { "q(x)" = 0.25 }
        guess = { "q(y)" = "a" }
        inputs = { f = 3, g = "b", h = { step = { at = 1, height = "a" } }, i = { t = [0, 2], value = [3, 5] } }
        outputs = { y = "x + 1", z = { formula = "x", units = "N", label = "force" } }
        metrics = { m = { kind = "max", of = "y" }, n = { kind = "sd", of = ["y", "z"], from = 1, until = 2.5 } }
        [[parts]]
        grid = { a = [1, "soft"], c = { from = 1, to = 4, count = 3, spacing = "log" } }
        [[parts]]
        name = "drawn"
        grid = { c = { from = 1, to = 2, count = 2 } }
        samples = { count = 1, seed = 0, how = "random", of = { b = { uniform = [2, 6] }, d = { normal = [0, 1] } } }
        [[tables]]
        value = "m"
        rows = "a"
        [[tables]]
        title = "T"
        value = "n"
        rows = "c"
        columns = "a"
        part = "1"
        where = { b = 2 }
        best = "max"
        beside = "book.csv"
        source = "a book"
        [[plots]]
        file = "p.svg"
        value = "m"
        x = "a"
        y = "c"
        title = "P"
        best = "max"
        """,
        encoding="utf-8",
    )
    found, wrong = read_definition(tmp_path / "all.toml")
    assert wrong == []
    assert found == StudyDefinition(
        "all",
        ModelSpec(
            "motorcycle", None, {"rim": 2}, {"kind": "profile", "x": [0, 2], "h": [0.5, 0.25]}
        ),
        {"y": OutputSpec("x + 1"), "z": OutputSpec("x", "N", "force")},
        {
            "t_end": 3,
            "step": 0.5,
            "method": "rk4",
            "output_every": 2,
            "rtol": 1e-6,
            "atol": {"m": 1e-9},
        },
        {"a": 1, "b": "2*a"},
        {"q(x)": 0.25},
        {
            "f": 3,
            "g": "b",
            "h": {"step": {"at": 1, "height": "a"}},
            "i": {"t": [0, 2], "value": [3, 5]},
        },
        (
            StudyPart("1", {"a": [1, "soft"], "c": [1, pytest.approx(2), 4]}),
            StudyPart(
                "drawn",
                {"c": [1, 2]},
                SamplePlan(1, 0, "random", {"b": ("uniform", (2, 6)), "d": ("normal", (0, 1))}),
            ),
        ),
        {"m": bc.metrics.max("y"), "n": bc.metrics.sd(["y", "z"], start=1, end=2.5)},
        (
            TableSpec("", "m", "a"),
            TableSpec("T", "n", "c", "a", "1", {"b": 2}, "max", tmp_path / "book.csv", "a book"),
        ),
        (PlotSpec("p.svg", "m", "a", "c", None, "P", None, {}, "max"),),
        {"q(y)": "a"},
    )
    assert found.varied == ["a", "c", "b", "d"]


@pytest.mark.parametrize(
    ("count", "grid", "right"), [(500_000, 2, True), (500_000, 3, False), (333_334, 3, False)]
)
def test_a_study_has_a_million_runs_at_most(count, grid, right):
    samples = {"count": count, "seed": 1, "of": {"w": {"uniform": [1, 2]}}}
    _, wrong = read_definition(mass(grid={"k": list(range(grid))}, samples=samples))
    assert wrong == ([] if right else [f"the study: {count * grid} runs are more than 1000000."])


@pytest.mark.parametrize(
    ("change", "sentences"),
    [
        (
            {"grid": {"k": {"from": 1, "to": 2, "count": 1}}},
            ["[grid] k: count = 1 must be a whole number of at least 2."],
        ),
        (
            {"grid": {"k": {"from": -1, "to": 2, "count": 2, "spacing": "log"}}},
            ["[grid] k: from and to must be positive with spacing = 'log'."],
        ),
        (
            {"grid": {"k": {"from": 1, "to": 0, "count": 2, "spacing": "log"}}},
            ["[grid] k: from and to must be positive with spacing = 'log'."],
        ),
        (
            {"inputs": {"f": {"t": [1], "value": [1, float("inf")]}}},
            [
                "[inputs] f: t must be a list of finite numbers.",
                "[inputs] f: value must be a list of finite numbers.",
            ],
        ),
        (
            {"metrics": {"a": {"kind": "max", "of": "x", "from": 2, "until": 2}}},
            ["[metrics] a: from = 2 must lie before until = 2."],
        ),
        (
            {"run": {"t_end": 0, "step": float("inf")}},
            ["[run]: t_end = 0 must be positive.", "[run]: step = inf must be a finite number."],
        ),
        (
            {"tables": [{}, {"value": 3, "rows": "k"}]},
            ["[[tables]] 1: value and rows are missing.", "[[tables]] 2: value = 3 must be text."],
        ),
        (
            {
                "parts": [{"name": "1", "grid": {"k": [1]}}, {"name": "1", "grid": {"k": [2]}}],
                "grid": {},
            },
            [
                "the study: grid must stand in one of the [[parts]], or there are no parts.",
                "the study: the parts must have different names, given '1', '1'.",
            ],
        ),
    ],
)
def test_where_a_file_is_wrong(change, sentences):
    assert read_definition(mass(**change))[1] == sentences


MODEL = "raise SystemExit('executed')\n"
PLACES = ["../other.py", "{outside}", "link.py", "sub/../../other.py"]


@pytest.mark.parametrize("place", PLACES)
def test_a_model_file_outside_the_folder_of_the_study_is_not_executed(place, tmp_path):
    """A study file could run any Python file of the machine."""
    folder, other = tmp_path / "study", tmp_path / "other.py"
    (folder / "sub").mkdir(parents=True)
    other.write_text(MODEL, encoding="utf-8")
    (folder / "link.py").symlink_to(other)
    study = folder / "s.toml"
    name = place.format(outside=other.as_posix())
    study.write_text(
        f'model.file = "{name}"\nrun = {{t_end = 1, step = 0.1}}\ngrid = {{k = [1]}}\n'
        '[metrics.end]\nkind = "final"\nof = "q(body)"\n',
        encoding="utf-8",
    )
    with pytest.raises(bc.ModelError, match="is outside the folder of the study"):
        bc.Study.read(study)
    assert main(["study", str(study), "--check"]) == 1
    with pytest.raises(SystemExit, match="executed"):
        bc.Study.read(study, allow_outside=True)


def test_a_model_file_of_the_study_or_of_the_examples_needs_no_option(tmp_path):
    study = tmp_path / "s.toml"
    (tmp_path / "sub").mkdir()
    text = (example_folder() / "planar_pendulum.py").read_text(encoding="utf-8")
    (tmp_path / "sub" / "mine.py").write_text(text, encoding="utf-8")
    for name in ("sub/mine.py", "planar_pendulum"):
        study.write_text(
            f'model.file = "{name}"\nrun = {{t_end = 1, step = 0.1}}\ngrid = {{g = [9, 10]}}\n'
            '[metrics.end]\nkind = "final"\nof = "energy"\n',
            encoding="utf-8",
        )
        assert len(bc.Study.read(study)) == 2


UNHASHABLE = [{}, [], {"a": 1}, ["x"]]


@pytest.mark.parametrize("kind", UNHASHABLE, ids=str)
@pytest.mark.parametrize(
    ("model", "said"),
    [
        (lambda k: {"vehicle": "motorcycle", "terrain": {"kind": k}}, "no terrain"),
        (lambda k: {"vehicle": "motorcycle", "arguments": {"slip": {"kind": k}}}, "no slip"),
        (lambda k: {"vehicle": k}, "must be text"),
    ],
)
def test_kinds_that_are_no_text(model, said, kind):
    assert said in "\n".join(problems(mass(model=model(kind))))


@pytest.mark.parametrize("name", ["b" * 3000, "b\0", "/", "x/" * 2000])
def test_names_that_no_file_can_have(name, tmp_path):
    table = [{"value": "end", "rows": "k", "beside": name}]
    assert "no file" in "\n".join(problems(mass(tables=table)))
    with pytest.raises(bc.BellcrankError):
        bc.Study.read(mass(model={"file": name}), tmp_path)
