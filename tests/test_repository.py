"""What the public meets first: one version everywhere, a changelog in its form, workflows that can
be read."""

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from bellcrank.core.version import __version__

ROOT = Path(__file__).parents[1]
PUBLIC = [*ROOT.glob("*.md"), *ROOT.glob("*.cff"), *(ROOT / ".github").rglob("*.*")]


def test_one_version():
    cited = re.search(
        r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert cited and cited[1] == __version__
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert (
        f"## {__version__} - " in changes or f"Version {__version__}" in changes.split("\n## ")[1]
    )


@pytest.mark.skipif(
    not (ROOT / ".git").exists() or shutil.which("git") is None, reason="this is no clone"
)
def test_no_link_is_in_the_repository():
    """A link to an environment replaced that of everyone who pulled it."""
    listed = subprocess.run(
        ["git", "ls-files", "-s"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    assert [line for line in listed.splitlines() if line.startswith("120000")] == []


def test_form_of_the_changelog():
    """Versions hold sections, sections hold lists: lines that a merge put elsewhere are found."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    for version in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        head, *sections = re.split(r"^### ", version, flags=re.MULTILINE)
        assert not re.search(r"^- ", head, re.MULTILINE), (
            f"line without a section in {head.splitlines()[0]}"
        )
        titles = [s.splitlines()[0] for s in sections]
        assert len(set(titles)) == len(titles) and set(titles) <= {
            "Renamed",
            "Added",
            "Changed",
            "Fixed",
            "Removed",
        }


def test_pythons_are_those_of_the_workflows():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = [c.rpartition(" ")[2] for c in project["classifiers"] if "Python :: 3." in c]
    workflow = (ROOT / ".github" / "workflows" / "test.yml").read_text(encoding="utf-8")
    tested = re.search(r"python: \[(.+)\]", workflow)
    assert tested and re.findall(r"[\d.]+", tested[1]) == named
    assert project["requires-python"] == f">={named[0]}"


def test_templates_and_workflows_are_yaml():
    yaml = pytest.importorskip("yaml")
    found = [p for p in PUBLIC if p.suffix in (".yml", ".cff")]
    assert len(found) > 6 and all(
        isinstance(yaml.safe_load(p.read_text(encoding="utf-8")), dict) for p in found
    )


@pytest.mark.parametrize("path", [p for p in PUBLIC if p.suffix == ".md"], ids=lambda p: p.name)
def test_links_of_documents(path):
    text = path.read_text(encoding="utf-8")
    for link in re.findall(r"\]\(([^)#\s]+)", text):
        assert link.startswith("https://") or (path.parent / link).exists(), link
