import csv
import io
from dataclasses import replace
from pathlib import Path

from fairspace.leaderboard_space.pages.downloads import as_csv
from fairspace.leaderboard_space.state import State
from fairspace.leaderboard_space.storage.local import LocalStorage
from fairspace.submissions.results.board import published_rows


def test_no_text_of_a_list_begins_a_formula(tmp_path: Path) -> None:
    state = State(LocalStorage(tmp_path))
    row = replace(
        published_rows("stereotypical_bias", "inaugural")[0],
        unranked=("=cmd()", "@SUM(A1)"),
        remarks=("plain", " +1"),
        tier=3,
    )
    (cells,) = csv.DictReader(
        io.StringIO(as_csv([row], "stereotypical_bias", "inaugural", state).decode("utf-8-sig"), newline="")
    )
    assert cells["unranked"] == "'=cmd(); '@SUM(A1)"
    assert cells["remarks"] == "plain;  '+1"
    assert cells["tier"] == "3"
    assert cells["by"] == ""
