"""The course of a run, as its manifest tells it at the end."""

from __future__ import annotations

from fairspace.submissions.commands.show.results import course_line, stage
from fairspace.submissions.format.manifest import Stage

AT = "2026-05-02T08:00:00Z"
RAN = Stage(
    what="responses", model="local/m", revision="r", engine="inspect_ai", engine_version="1", started=AT, ended=AT
)


def test_a_stage_without_a_course_says_nothing_of_it() -> None:
    assert course_line(RAN) == ""


def test_a_course_is_told_and_fields_of_older_manifests_are_passed_over() -> None:
    course = {
        "planned_seconds": 60,
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
        "That took 2.8 min; 1,104 tokens of prompts; 2,475 tokens of answers; 15.0 tokens/s; looping 6.2%; "
        "readable: llm_objective 16.7%."
    )
    assert stage(ran) == stage(RAN), "a line of its own"
