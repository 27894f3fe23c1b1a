"""The page of keys is what the command writes."""

from pathlib import Path

from bellcrank.library.vehicles.key_list import markdown


def test_the_page_is_the_list():
    page = Path(__file__).parents[2] / "docs" / "car_keys.md"
    assert page.read_text(encoding="utf-8") == markdown(), "write it: bellcrank car keys --markdown > docs/car_keys.md"
