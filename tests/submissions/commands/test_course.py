"""What a run says of itself at its end: how it went beside its plan."""

from __future__ import annotations

from fairspace.submissions.commands.show.results import course_line, stage
from fairspace.submissions.format.manifest import Stage

AT = "2026-05-02T08:00:00Z"
RAN = Stage(
    what="responses", model="local/m", revision="r", engine="inspect_ai", engine_version="1", started=AT, ended=AT
)


def test_a_stage_without_a_course_says_nothing_of_it() -> None:
    assert course_line(RAN) == ""


def test_a_course_stands_beside_its_plan() -> None:
    course = {
        "planned_input_tokens": 900,
        "planned_input_tokens_at_most": 980,
        "planned_output_tokens": 1900,
        "planned_output_tokens_at_most": 17408,
        "planned_seconds": 60,
        "planned_seconds_at_most": 360,
        "input_tokens": 1104,
        "output_tokens": 2475,
        "seconds": 165,
        "empty": 0.0,
        "looping": 0.0625,
        "cut_off": None,
        "readable_llm_objective": 0.1667,
    }
    ran = RAN.model_copy(update={"course": course})
    assert course_line(ran) == (
        "That took 2.8 min (planned 1.0, 6.0 at most); "
        "1,104 tokens of prompts (planned 900, 980 at most, so more than planned); "
        "2,475 tokens of answers (planned 1,900, 17,408 at most); 15.0 tokens/s; looping 6.2%; "
        "readable: llm_objective 16.7%."
    )
    assert stage(ran) == stage(RAN), "a line of its own"
