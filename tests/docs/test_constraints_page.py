"""The examples of docs/constraints.md give what the page says."""

import doctest
import warnings
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "constraints.md"


def test_examples_of_the_page():
    text = PAGE.read_text(encoding="utf-8").replace("```pycon", "").replace("```", "")
    example = doctest.DocTestParser().get_doctest(text, {}, PAGE.name, str(PAGE), 0)
    assert len(example.examples) > 30
    report: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the page tells of a warning
        doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(example, out=report.append)
    assert not report, "".join(report)
