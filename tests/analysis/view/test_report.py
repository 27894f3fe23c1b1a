"""The report: complete, alone, well-formed; and in a browser nothing is missing or complained
of."""

import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest

import bellcrank as bc
from bellcrank import cli
from bellcrank.symbolic.expr.mathml import math_element, math_name, to_mathml
from bellcrank.verify.report_page import write_report
from tests.browser import look_at, needs_chromium
from tests.models import FOLDER, pendulum, system

SECTIONS = [
    "picture",
    "tree",
    "bodies",
    "points",
    "forces",
    "constraints",
    "states",
    "parameters",
    "equations",
    "operations",
    "check",
    "run",
]
VOID = {"meta", "br", "link", "img"}


class Nesting(HTMLParser):
    """Complains of elements that are not closed in order."""

    def __init__(self):
        super().__init__()
        self.open, self.problems = [], []

    def handle_starttag(self, tag, attrs):
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.problems.append((tag, self.getpos()))


def well_formed(text):
    parser = Nesting()
    parser.feed(text)
    return not parser.problems and not parser.open


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "four_bar.html"
    assert (
        cli.main(["report", str(FOLDER / "four_bar.py"), "--out", str(path), "--states", "2"]) == 0
    )
    return path


def test_report_is_complete_and_alone(page):
    text = page.read_text(encoding="utf-8")
    assert well_formed(text)
    assert re.findall(r'<section id="(\w+)">', text) == SECTIONS
    assert not re.search(
        r"(src|href)=[\"'](?!#|data:image/png;)|url\(|@import|https?://(?!www\.w3\.org)", text
    )  # nothing is fetched
    for word in (
        "acceleration of gravity",
        "strut force",
        "pin of B and C",
        "passed (2 random states",
        "finished",
        "10000",
        "N/m",
    ):
        assert word in text, word
    assert text.count("<math") > 60
    assert text.count('class="line"') >= 4  # plots of all outputs
    for formula in re.findall(r"<math.*?</math>", text, re.S):
        ElementTree.fromstring(formula)


@pytest.mark.campaign
@needs_chromium
def test_the_browser_would_complain(tmp_path):
    """What the tests below rely on: an error in a page is seen."""
    (tmp_path / "a.html").write_text(
        "<!DOCTYPE html><body><script>nothing.here</script></body>", encoding="utf-8"
    )
    found, messages = look_at(tmp_path / "a.html", "found = 1", tmp_path)
    assert found == 1
    assert len(messages) == 1 and "nothing is not defined" in messages[0]


@pytest.mark.campaign
@needs_chromium
def test_report_in_a_browser(page, tmp_path):
    script = """
    const box = e => e.getBoundingClientRect();
    found = {
        sections: [...document.querySelectorAll("section")].map(s => [s.id, box(s).height]),
        equations: [...document.querySelectorAll("details[open] .equation math")].map(m => [box(m).width, box(m).height]),
        tables: [...document.querySelectorAll("table")].map(t => box(t).height),
        lines: [...document.querySelectorAll("svg.chart path.line")].map(p => [p.getTotalLength(), box(p).height]),
        tree: box(document.querySelector("svg.sketch")).height,
        math: getComputedStyle(document.querySelector("math")).display,
        wide: document.documentElement.scrollWidth, window: window.innerWidth,
    }"""
    found, messages = look_at(page, script, tmp_path)
    assert messages == []
    assert [name for name, _ in found["sections"]] == SECTIONS
    assert all(height > 40 for _, height in found["sections"])
    assert len(found["equations"]) > 40
    assert all(width > 10 and height > 8 for width, height in found["equations"])
    assert all(height > 20 for height in found["tables"])
    assert len(found["lines"]) >= 4 and all(
        length > 300 and height > 20 for length, height in found["lines"]
    )
    assert found["tree"] > 40
    assert "math" in found["math"]  # the browser knows MathML
    assert found["wide"] <= found["window"]


@pytest.mark.campaign
@pytest.mark.parametrize("name", ["passenger_car", "quarter_car"])
def test_other_reports(tmp_path, name):
    path = write_report(system(name), tmp_path / "a.html", states=1, backend="python", t_end=0.2)
    text = path.read_text(encoding="utf-8")
    assert well_formed(text) and re.findall(r'<section id="(\w+)">', text) == SECTIONS


def test_implicit_form_and_what_is_left_out(tmp_path):
    path = write_report(
        system("stanford_arm"), tmp_path / "a.html", states=0, run=False, solve="implicit"
    )
    text = path.read_text(encoding="utf-8")
    assert text.count("<p>not made</p>") == 2
    assert "<mtable>" in text
    assert well_formed(text)


def test_names_and_labels_are_made_plain(tmp_path):
    s = pendulum(
        "-k*q(rod)", lambda s: s.add_parameter("k", 3.0, label='<script>alert(1)</script> & "more"')
    )
    s.description.name = "a <b>& machine"
    text = write_report(s, tmp_path / "a.html", states=0, backend="python").read_text(
        encoding="utf-8"
    )
    assert "<script" not in text and "&lt;script&gt;alert(1)" in text
    assert "<h1>a &lt;b&gt;&amp; machine</h1>" in text
    assert well_formed(text)


def test_reports_that_cannot_be_written(tmp_path, capsys):
    (tmp_path / "file").write_text("", encoding="utf-8")
    (tmp_path / "folder.html").mkdir()
    for target in (tmp_path / "file" / "a.html", tmp_path / "folder.html"):
        words = [
            "report",
            str(FOLDER / "quarter_car.py"),
            "--no-run",
            "--no-check",
            "--out",
            str(target),
        ]
        assert cli.main(words) == 1
        assert f"cannot write {target}" in capsys.readouterr().err


# ---- formulas


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a + b", "a + b"),
        ("a - b*c", "a - b c"),
        ("a/b", "(a)/(b)"),
        ("(a + b)*c", "c ( a + b )"),
        ("a**2", "a ^ 2"),
        ("sqrt(a + b)", "root(a + b)"),
        ("sin(a)", "sin ( a )"),
        ("-a", "- a"),
        ("2*a/3", "(2 a)/(3)"),
        ("abs(a)", "| a |"),
        ("theta_r", "θ _ r"),
        ("1/(a + b)", "(1)/(a + b)"),
        ("(a + b)**2", "( a + b ) ^ 2"),
        ("a**b", "a ^ b"),
        ("0.5*a", "(a)/(2)"),
        ("atan2(a, b)", "atan2 ( a , b )"),
        ("where(a > b, a, b)", "where ( b < a , a , b )"),
        ("a - (b - c)", "a - b + c"),
        ("1e-5*a", "1 · 10 ^ -5 a"),
    ],
)
def test_formulas(text, shown):
    s = bc.System("x")
    element = ElementTree.fromstring(math_element(to_mathml(s.expr(text))))
    assert _read(element) == shown


def _read(e):
    """MathML as text."""
    parts = [_read(child) for child in e]
    joined = " ".join(p for p in parts if p)
    match e.tag:
        case "mfrac":
            return f"({parts[0]})/({parts[1]})"
        case "msup":
            return f"{parts[0]} ^ {parts[1]}"
        case "msub":
            return f"{parts[0]} _ {parts[1]}"
        case "msqrt":
            return f"root({joined})"
        case "math" | "mrow":
            return joined
    return (e.text or "").strip("\u2061\u2062")


def test_names_of_symbols():
    assert math_name("q(b, 4)") == "<msub><mi>q</mi><mtext>b,4</mtext></msub>"
    assert math_name("z12") == "<msub><mi>z</mi><mtext>12</mtext></msub>"
    assert (
        math_name("omega") == "<mi>ω</mi>"
        and math_name("Gamma") == "<mi>Γ</mi>"
        and math_name("sigma") == "<mi>σ</mi>"
    )
    assert "˙" in math_name("q(a)", dot=True)
