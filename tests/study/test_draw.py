"""Pictures and tables of rows that are made up: what is drawn where, without runs."""

from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from matplotlib.colors import to_rgba

import bellcrank as bc
from bellcrank.simulation.many.sample_plans import SamplePlan
from bellcrank.study.pivot import Pivot, make_pivot_table
from bellcrank.study.study_parts import StudyPart
from bellcrank.study.study_plots import default_plots, draw_plot
from bellcrank.study.study_records import ModelSpec, PlotSpec, StudyDefinition, TableSpec
from bellcrank.study.study_result import StudyResult
from bellcrank.study.study_rows import Row, StudyColumn

UNITS = {
    "k": StudyColumn("N/m", ""),
    "c": StudyColumn("", ""),
    "kind": StudyColumn("", ""),
    "sd": StudyColumn("m/s^2", ""),
    "n": StudyColumn("1", ""),
}


def study(grid, value, samples=None, **more):
    """Rows of a grid with sd = value(k, c, kind)."""
    part = StudyPart("", grid, samples)
    metrics = {"sd": bc.metrics.sd("a"), "n": bc.metrics.max("n")}
    definition = StudyDefinition("made up", ModelSpec("car"), {}, {}, {}, {}, {}, (part,), metrics)
    rows = []
    for given in product(*grid.values()):
        sd = value(*given)
        rows.append(
            Row(
                "",
                dict(zip(grid, given, strict=True)),
                {"sd": sd, "n": 2.0},
                "finished" if sd else "stopped",
            )
        )
    columns = {name: UNITS[name] for name in (*grid, "sd", "n")}
    return StudyResult(
        definition,
        columns,
        tuple(rows),
        Path("folder"),
        **{"notes": (), "made": 1, "found": 2, "seconds": 3.0, **more},
    )


def wave(k, c, kind="a"):
    """None for a run that failed."""
    return None if (k, c) == (3, 20) else k * c + (1.0 if kind == "b" else 0.0)


GRID = {"k": [3, 1, 2], "c": [10, 20], "kind": ["b", "a"]}


def test_a_map_has_the_best_of_each_pair_in_its_place():
    for best, frame in (("min", (0, 0)), ("max", (1, 1))):
        figure = draw_plot(study(GRID, wave), PlotSpec("m.png", "sd", "k", "c", best=best))
        axis, bar = figure.axes
        more = best == "max"  # of kind b
        z = np.array([[10.0, 20, 30], [20, 40, np.nan]]) + more
        assert axis.images[0].get_array().filled(np.nan) == pytest.approx(z, nan_ok=True)
        assert axis.images[0].origin == "lower"
        assert [t.get_text() for t in axis.get_xticklabels()] == ["1", "2", "3"]
        assert [t.get_text() for t in axis.get_yticklabels()] == ["10", "20"]
        assert (*axis.get_xticks(), *axis.get_yticks()) == (0, 1, 2, 0, 1)
        assert (axis.get_xlabel(), axis.get_ylabel(), bar.get_ylabel()) == (
            "k (N/m)",
            "c",
            "sd (m/s²)",
        )
        told = {(t.get_position(), t.get_text(), t.get_color()) for t in axis.texts}
        middle = 25 + more
        assert told == {
            ((i, j), f"{z[j, i]:.3g}", "black" if z[j, i] > middle else "white")
            for i, j in product(range(3), range(2))
            if np.isfinite(z[j, i])
        }
        (mark,) = axis.lines
        assert (mark.get_xdata()[0], mark.get_ydata()[0]) == frame
        assert axis.get_title() == f"made up, {best} over kind"


def test_a_large_map_has_no_figures_and_turns_its_labels():
    figure = draw_plot(
        study({"k": [*range(8)], "c": [*range(19)]}, lambda k, c: k + c + 1.0),
        PlotSpec("m.png", "sd", "k", "c"),
    )
    assert not figure.axes[0].texts
    assert {t.get_rotation() for t in figure.axes[0].get_xticklabels()} == {0}
    figure = draw_plot(
        study({"k": [*range(9)], "c": [*range(16)]}, lambda k, c: k + c + 1.0),
        PlotSpec("m.png", "sd", "k", "c"),
    )
    assert len(figure.axes[0].texts) == 144
    assert {t.get_rotation() for t in figure.axes[0].get_xticklabels()} == {45}
    nothing = draw_plot(
        study({"k": [1, 2], "c": [1, 2]}, lambda k, c: None), PlotSpec("m.png", "sd", "k", "c")
    )
    assert not nothing.axes[0].lines


def test_lines_over_one_name():
    result = study(GRID, wave)
    figure = draw_plot(result, PlotSpec("l.png", "sd", "k", lines="c", where={"kind": "b"}))
    axis = figure.axes[0]
    ten, twenty = axis.lines
    assert [*ten.get_xdata()] == [*twenty.get_xdata()] == [3, 1, 2]
    assert [*ten.get_ydata()] == [31, 11, 21]
    assert twenty.get_ydata() == pytest.approx([np.nan, 21, 41], nan_ok=True)
    assert [line.get_label() for line in axis.lines] == ["c = 10", "c = 20"]
    assert [to_rgba(line.get_color()) for line in axis.lines] == [to_rgba("C0"), to_rgba("C1")]
    assert (axis.get_xlabel(), axis.get_ylabel(), axis.get_title()) == (
        "k (N/m)",
        "sd (m/s²)",
        "made up, kind = b",
    )
    (only,) = draw_plot(result, PlotSpec("l.png", "sd", "c", best="max", title="T")).axes[0].lines
    assert ([*only.get_xdata()], [*only.get_ydata()]) == ([10, 20], [31, 41])
    assert (
        draw_plot(result, PlotSpec("l.png", "n", "c")).axes[0].get_ylabel() == "n"
    )  # a number without a unit
    many = study({"k": [1, 2], "c": [*range(12)]}, lambda k, c: k + c)
    styles = [
        (line.get_linestyle(), line.get_color())
        for line in draw_plot(many, PlotSpec("l.png", "sd", "k", lines="c")).axes[0].lines
    ]
    assert styles == [*(("-", f"C{i}") for i in range(10)), ("--", "C0"), ("--", "C1")]


def test_plots_that_nobody_asked_for():
    """A map over the first two names with several numbers, a line over the only one, points over
    each sampled one."""

    def axes(grid, samples=None):
        return [
            (s.file, s.value, s.x, s.y)
            for s in default_plots(study(grid, lambda *_: 1.0, samples), ".svg")
        ]

    assert axes(GRID) == [("sd.svg", "sd", "c", "k"), ("n.svg", "n", "c", "k")]
    assert axes({"k": [1], "c": [1, 2], "kind": ["a", "b"]}) == [
        ("sd.svg", "sd", "c", None),
        ("n.svg", "n", "c", None),
    ]
    assert axes({"kind": ["a", "b"]})[0] == ("sd.svg", "sd", "kind", None)
    drawn = SamplePlan(3, 0, "random", {"k": ("uniform", (0, 1)), "c": ("uniform", (0, 1))})
    assert [x[:3] for x in axes({}, drawn)] == [
        (f"{m}_{x}.svg", m, x) for m in ("sd", "n") for x in ("k", "c")
    ]
    state = SamplePlan(3, 0, "random", {"q(mass, 1)": ("uniform", (0, 1))})
    assert axes({}, state)[0][:3] == ("sd_q_mass_1_.svg", "sd", "q(mass, 1)")
    result = study({"k": [1, 2, 3], "c": [20]}, wave, drawn)
    (points,) = draw_plot(result, PlotSpec("p.png", "sd", "k")).axes[0].lines
    assert ([*points.get_xdata()], [*points.get_ydata()]) == (
        [1, 2],
        [20, 40],
    )  # without the run that failed


def test_a_table_beside_published_values(tmp_path):
    (tmp_path / "book.csv").write_text(
        "# a book\nk,c,kind,sd\n1,10,,11\n2,20,,44\n", encoding="utf-8"
    )
    spec = TableSpec(
        "",
        "sd",
        "k",
        "c",
        best="max",
        published_file=tmp_path / "book.csv",
        source="A. Uthor (1999)",
    )
    found = make_pivot_table(study(GRID, wave).rows, spec, {"sd": "m/s^2"})
    assert found.title == "sd (m/s^2); next to it A. Uthor (1999)"
    assert found.lines() == [
        ["k \\ c", "10", "20"],
        ["3", "31 (b)", "-"],
        ["1", "11 (b) | 11", "21 (b)"],
        ["2", "21 (b)", "41 (b) | 44"],
    ]
    assert found.as_dict()["values"] == [[31, None], [11, 21], [21, 41]]
    assert found.as_dict()["published"] == [[None, None], [11, None], [None, 44]]
    alone = make_pivot_table(
        study(GRID, wave).rows,
        replace(spec, published_file=None, columns=None, where={"kind": "a"}),
        {},
    )
    assert alone.title == "sd, kind = a"
    assert alone.lines() == [["k", "sd"], ["3", "30 (10)"], ["1", "20 (20)"], ["2", "40 (20)"]]
    assert isinstance(alone, Pivot) and alone.as_dict()["published"] is None


def test_a_result_in_a_notebook():
    """30 rows, and how many more there are."""
    large = study({"k": [*range(33)], "c": [1]}, lambda k, c: 0.5 * k, notes=("a note",))
    page = large._repr_html_()
    assert repr(large) == "StudyResult('made up': 33 rows, 1 failed, the first: stopped)"
    assert "and 3 more rows" in page and "a note" in page
    assert page.count("<tr") == 31
    told = large.as_dict()
    assert (told["runs"], told["seconds"]) == (
        {"rows": 33, "made": 1, "found": 2, "failed": 1},
        3.0,
    )
    assert large.best("sd").values["k"] == 0 and large.best("sd", "max").values["k"] == 32
    thirty = study({"k": [*range(30)], "c": [1]}, lambda k, c: 1.0)
    assert "more rows" not in thirty._repr_html_()


def test_a_table_has_the_best_of_every_row_and_column():
    rows = [
        Row("", {"a": a, "b": b, "c": c}, {"m": a + 10 * b + 100 * c}, "finished")
        for a in (1, 2)
        for b in (3, 4, 5)
        for c in (0, 1)
    ]
    table = make_pivot_table(rows, TableSpec("t", "m", "a", "b"), {"m": "N"})
    assert (table.rows, table.columns, table.unit) == ((1, 2), (3, 4, 5), "N")
    assert [[c.value for c in line] for line in table.cells] == [[31, 41, 51], [32, 42, 52]]
    assert table.cells[0][0].best_at == {"c": 0}
    (one,) = zip(
        *make_pivot_table(rows, TableSpec("t", "m", "a", best="max"), {}).cells, strict=True
    )
    assert [c.value for c in one] == [151, 152]
