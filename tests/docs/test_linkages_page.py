"""The examples of docs/linkages.md give what the page says."""

import doctest
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "linkages.md"


@pytest.mark.campaign
def test_examples_of_the_page():
    blocks = PAGE.read_text(encoding="utf-8").split("```pycon")[1:]
    text = "\n\n".join(block.split("```")[0] for block in blocks)
    example = doctest.DocTestParser().get_doctest(text, {}, PAGE.name, str(PAGE), 0)
    assert len(example.examples) > 25
    report: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE).run(example, out=report.append)
    assert not report, "".join(report)
