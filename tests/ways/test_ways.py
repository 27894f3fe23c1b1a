"""Every capability in every way to run: it works with the same states, or a message says why not,
as the table does."""

from pathlib import Path

import pytest

from tests.ways.capabilities import CAPABILITIES, OTHERS
from tests.ways.table import holds, table, tried
from tests.ways.ways import WAYS

PAGE = Path(__file__).parents[2] / "docs" / "ways_to_run.md"


def test_the_table_of_the_documentation():
    assert table() in PAGE.read_text(encoding="utf-8")


CELLS = [(c, way) for c in CAPABILITIES for way in WAYS]
CELLS += [(c, way) for c in OTHERS for way in WAYS if way.name not in ("lanes", "cores", "GPU")]


@pytest.mark.campaign
@pytest.mark.filterwarnings("ignore:the picture needs values")
@pytest.mark.parametrize(("capability", "way"), CELLS, ids=lambda x: x.name)
def test_a_capability_in_a_way_to_run(capability, way, tmp_path):
    if missing := way.missing():
        pytest.skip(missing)
    message = tried(capability, way, tmp_path)
    assert holds(capability, way, message), message or "works"
