"""The site: every page is in it, every public name has a place, links and words of others are safe;
built, it needs no other host."""

import inspect
import re
import time
from pathlib import Path

import pytest

import bellcrank as bc
from tests.accessibility import RULES, violations
from tests.browser import needs_chromium
from website.check import problems_of
from website.gallery import GROUPS, SCRIPTS, Made, example_files, example_page
from website.reference import PAGES, _types, members_of, page_of, public_entries, returned_classes
from website.words import as_markdown

ROOT = Path(__file__).parents[2]
HOSTILE = "</script><script>alert(1)</script> \" ' & [x](javascript:alert) ```` <b>"


def test_every_page_of_the_guide_is_listed():
    text = (ROOT / "website" / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:")[2]
    listed = set(re.findall(r"[\w/]+\.md", text))
    written = {p.relative_to(ROOT / "docs").as_posix() for p in (ROOT / "docs").rglob("*.md")}
    assert listed == written


def test_no_words_are_taken_for_a_link_by_name():
    """h[i][j] leads to a place named j, unless it is code: the site is then not built."""
    code = re.compile(r"^```+.*?^```+$|^    .*?$|`[^`\n]*`", re.MULTILINE | re.DOTALL)
    texts = {
        p.name: code.sub("", p.read_text(encoding="utf-8"))
        for p in sorted((ROOT / "docs").rglob("*.md"))
    }
    entries = public_entries()
    for name, x in [*entries, *returned_classes([x for _, x in entries])]:
        for item in (
            x,
            *(m for n, m in vars(x).items() if isinstance(x, type) and not n.startswith("_")),
        ):
            prose = (inspect.getdoc(item) or "").partition("\nExamples\n---")[0]
            texts[f"{name} {item}"] = re.sub(r"`[^`\n]*`", "", prose)
    for name, text in texts.items():
        assert not re.findall(r"\[[^\]\n]*\]\[[^\]\n]*\]", text), name


def test_every_public_name_has_a_place():
    entries = public_entries()
    assert {page_of(x) for _, x in entries} == set(PAGES)
    names = [name for name, _ in entries]
    assert {"bc.System", "bc.vehicles.tyres.Fiala", "bc.kane.Derivation", "bc.gym.make"} <= set(
        names
    ) and len(names) > 90
    returned = {
        name for name, _ in returned_classes([x for _, x in entries])
    }  # some by names for type checkers alone
    assert {
        "LinearModel",
        "Equilibrium",
        "Many",
        "Jacobian",
        "Contact",
        "LoadTable",
    } <= returned | {n[3:] for n in names}


def test_types_of_arguments_are_listed():
    text = _types()
    assert re.search(r"^\| `bc.BodyLike` \| .*`BodyHandle`.*`str`", text, re.MULTILINE)
    assert re.search(r"^\| `bc.choices.Units` \| `SI`, `mks`", text, re.MULTILINE)


def test_words_of_others_stay_words():
    page = example_page(
        Made("x", HOSTILE, f"Words {HOSTILE}\n\n    code {HOSTILE}", f"# {HOSTILE}\n", live=True)
    )
    head, _, source = page.partition("## Source")
    assert "<script" not in head and "<b>" not in head and "[x](" not in head.splitlines()[0]
    assert re.search(r"^`{5}python\n# </script>.*\n`{5}$", source, re.MULTILINE)
    assert as_markdown(">>> a[1]*b\n[<c>]\n\n[d]") == ">>> a[1]*b\n[<c>]\n\n&#91;d&#93;"
    assert (
        as_markdown("a*b*c, `x*y`, R[i, j] <b>")
        == "a&#42;b&#42;c, `x*y`, R&#91;i, j&#93; &#60;b&#62;"
    )


def test_examples_have_groups():
    groups = {Made(p.stem, "", "", p.read_text(encoding="utf-8")).group for p in example_files()}
    assert groups == {*GROUPS, SCRIPTS}


def test_links_and_wishes_are_found(tmp_path):
    (tmp_path / "a.html").write_text(
        '<h2 id="here"></h2><a href="#here"></a><a href="b.html#there"></a><a '
        'href="b.html#lost"></a><a href="c.html"></a>'
        '<a href="https://example.org">allowed</a><script '
        'src="//example.org/x.js"></script><img src="x.png">'
        '<style>p { background: url("https://example.org/y.png") }</style>'
    )
    (tmp_path / "b.html").write_text(
        '<p id="there" style="background: url(data:image/png;base64,x)"></p>'
    )
    assert problems_of(tmp_path) == [
        "a.html asks for //example.org/x.js",
        "a.html asks for https://example.org/y.png",
        "a.html leads to b.html#lost, which has no such place",
        "a.html leads to c.html, which is not there",
        "a.html leads to x.png, which is not there",
    ]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    for package in ("mkdocs", "material", "mkdocstrings_handlers.python"):
        pytest.importorskip(
            package, reason="the site is built with the packages of bellcrank[site]"
        )
    from website.build import build

    folder = tmp_path_factory.mktemp("site")
    hostile = folder / "hostile.py"
    source = (ROOT / "examples" / "double_pendulum.py").read_text(encoding="utf-8")
    words = HOSTILE.replace('"', '\\"')
    source = source.replace('"""Double pendulum', f'"""{words} Double pendulum', 1).replace(
        'System("double', f'System("{words} double'
    )
    hostile.write_text(source, encoding="utf-8")
    assert (
        build(
            folder, [*example_files(["double_pendulum", "kane_tumbling_body", "figures"]), hostile]
        )
        == []
    )
    return folder / "html"


def test_the_members_of_a_system_begin_with_its_bodies():
    found = members_of(bc.System)
    assert found[:3] == ["add_body", "add_point_mass", "add_point"] and found[-1] == "equations"


@needs_chromium
@pytest.mark.campaign
@pytest.mark.filterwarnings("ignore")  # of the packages that build it
def test_site_from_a_disk(site, tmp_path):
    """Pages ask for files next to them alone; search finds; the live page in its frame runs; words
    of others stay words."""
    from tests.chromium import Chromium

    with Chromium(tmp_path / "profile") as browser:
        for name in (
            "index",
            "gallery/index",
            "gallery/double_pendulum",
            "gallery/hostile",
            "reference/systems",
            "car",
        ):
            browser.open((site / f"{name}.html").as_uri())
            browser.until("document.querySelector('.md-search__input')")
            inside = (site.as_uri(), "data:", "about:")
            assert [
                r for r in browser.requests if not r.startswith(inside)
            ] == [] and browser.complaints == []
            assert browser.value(
                "document.querySelectorAll('article script, article b').length"
            ) == 0 or name.endswith("index")
        search = (
            "const i = document.querySelector('.md-search__input'); "
            "document.querySelector('#__search').click(); i.focus();"
        )
        typed = (
            "i.value = 'gimbal'; i.dispatchEvent(new Event('input', {bubbles: true})); "
            "i.dispatchEvent(new Event('keyup'));"
        )
        browser.value(f"(() => {{ {search} {typed} }})()")
        browser.until("document.querySelectorAll('.md-search-result__item').length > 0")
        browser.open((site / "gallery" / "double_pendulum.html").as_uri())
        first = browser.screenshot()
        end = time.monotonic() + 40
        while browser.screenshot() == first:
            assert time.monotonic() < end, "the live page in its frame stands still"
            time.sleep(0.2)
        browser.open((site / "gallery" / "hostile_live.html").as_uri())
        browser.until("window.bellcrank && bellcrank.t > 0.1")


@needs_chromium
@pytest.mark.campaign
@pytest.mark.filterwarnings("ignore")  # of the packages that build it
def test_every_page_on_a_desktop_and_a_phone(site, tmp_path):
    """No error in the console, no missing picture, nothing wider than the window, no serious fault
    of accessibility."""
    from tests.chromium import Chromium

    missing = "[...document.images].filter(i => i.complete && !i.naturalWidth).map(i => i.src)"
    with Chromium(tmp_path / "profile") as browser:
        for width in (1280, 390):
            browser.resize(width)
            for path in sorted(p for p in site.rglob("*.html") if p.name != "404.html"):
                browser.open(path.as_uri())
                assert violations(browser) == [], (path.name, width)
                assert browser.value(missing) == [] and browser.complaints == [], (path.name, width)
                assert browser.value("document.documentElement.scrollWidth") <= width + 1, (
                    path.name,
                    width,
                )


@needs_chromium
@pytest.mark.campaign
def test_faults_of_accessibility_are_found(tmp_path):
    """A page with a fault of every kind; the same elements without their faults pass."""
    from tests.chromium import Chromium

    faulty = """<!doctype html><html><head><meta name="viewport" content="user-scalable=no"></head><body><h2>No first</h2>
        <img src="data:,"><svg role="img"></svg><a href="#x"></a><button></button><input><iframe></iframe>
        <p aria-hidden="true"><a href="#x">hidden</a></p><a href="#x">a<button>b</button></a><p tabindex="3"></p>
        <p aria-labelledby="lost"></p><ul><p></p></ul><li></li><b id="x"></b><b id="x"></b><p role="dialog"></p>
        <pre style="width: 40px; overflow: auto">a line that is wider than its element</pre></body></html>"""
    sound = """<!doctype html><html lang="en"><head><title>t</title></head><body><h1>First</h1><h2>Second</h2>
        <img src="data:," alt="a"><svg role="img"><title>s</title></svg><a href="#x"><img src="data:," alt="a"></a>
        <button aria-label="b"></button><label>i<input></label><iframe title="f"></iframe><p aria-hidden="true">hidden</p>
        <p tabindex="0"></p><p aria-labelledby="x"></p><ul><li></li></ul><b id="x"></b><p role="dialog" aria-label="d"></p>
        <pre tabindex="0" style="width: 40px; overflow: auto">a line that is wider than its element</pre></body></html>"""
    (tmp_path / "faulty.html").write_text(faulty)
    (tmp_path / "sound.html").write_text(sound)
    with Chromium(tmp_path / "profile") as browser:
        browser.open((tmp_path / "faulty.html").as_uri())
        assert {x.partition(":")[0] for x in violations(browser)} == RULES
        browser.open((tmp_path / "sound.html").as_uri())
        assert violations(browser) == []
        browser.value("console.error('an error')")
        assert browser.complaints == ["an error"]
