"""Whatever stands in a labelled line, it is measured or is a fault; no line ends the command with a traceback."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fairspace.submissions.answers.labelled import read_lines
from fairspace.submissions.answers.measuring import measure
from fairspace.submissions.format.faults import SubmissionError

FILES = sorted((Path(__file__).parents[2] / "data" / "readings").glob("*.jsonl"))
BY_TASK = {
    (fields["benchmark"], fields["task"]): fields
    for file in FILES
    for fields in map(json.loads, file.read_text(encoding="utf-8").splitlines())
}
ANYTHING: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 2**70) | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=6,
)


@pytest.mark.parametrize("task", sorted(BY_TASK), ids="/".join)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_line_with_another_field_is_measured_or_a_fault(tmp_path: Path, task: tuple[str, str], data: Any) -> None:
    fields = dict(BY_TASK[task])
    for name in data.draw(st.lists(st.sampled_from(sorted(fields)), min_size=1, max_size=2)):
        if data.draw(st.booleans()):
            fields.pop(name, None)
        else:
            fields[name] = data.draw(ANYTHING)
    file = tmp_path / "a.jsonl"
    file.write_text(json.dumps(fields) + "\n", encoding="utf-8")
    try:
        printed = json.dumps(measure(read_lines([file])).to_json("family"), allow_nan=False)
    except SubmissionError as error:
        printed = "".join(f"{fault.where and fault.expected and fault.mend}" for fault in error.faults)
    assert printed
