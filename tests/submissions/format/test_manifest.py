import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pydantic import ValidationError

from fairspace.leaderboard_space.boards.view import remarks
from fairspace.submissions.checking.submission import check_submission, read_submission
from fairspace.submissions.format.manifest import FILE, RUN, STAGES, Manifest, Stage, now, read_manifest, write_manifest
from fairspace.submissions.format.schema import SubmissionMeta
from fairspace.submissions.format.writing import write_submission
from fairspace.submissions.reading.tables import MANIFEST
from fairspace.submissions.results.board import board
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.scoring import limits_of, load_result, score_submission
from tests.submissions.conftest import Run
from tests.submissions.sample import META


def stage(**changes: Any) -> Stage:
    about = {"model": "m/a", "revision": "1", "engine": "inspect_ai", "engine_version": "1", "what": "responses"}
    return Stage(**{**about, "started": now(), "ended": now(), **changes})


def write(path: Path, manifest: Manifest | None, **generation: Any) -> Path:
    fields = {name: META[name] for name in ("model", "revision", "organisation", "licence", "contact")}
    meta = SubmissionMeta(format=1, benchmark="fact_or_fair", dataset_revision="v1", generation=generation, **fields)
    rows = [{"task": "llm_objective", "id": "llm_objective/crime_rate/highest/gender", "sample": 0, "response": "Male"}]
    write_submission(path, meta, {"responses": pa.Table.from_pylist(rows)})
    if manifest is not None:
        write_manifest(path, manifest)
    return path


def scored(path: Path, manifest: Manifest | None, **generation: Any) -> Result:
    return score_submission(read_submission(write(path, manifest, **generation)))


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    manifest = Manifest(stages=[stage(settings={"temperature": 0.5, "seed": None, "a": True}, limit=5), stage()])
    path = write(tmp_path / "s", manifest)
    assert read_manifest(path) == manifest
    assert read_submission(path).manifest == manifest
    assert FILE == MANIFEST


def test_a_submission_without_a_manifest_has_none(tmp_path: Path) -> None:
    path = write(tmp_path / "s", None)
    assert read_submission(path).manifest is None
    assert read_manifest(path) == Manifest(stages=[])


def test_the_digest_does_not_see_the_manifest(tmp_path: Path) -> None:
    manifests = (None, Manifest(stages=[]), Manifest(stages=[stage(limit=3)]))
    paths = [write(tmp_path / str(number), manifest) for number, manifest in enumerate(manifests)]
    assert len({read_submission(path).digest for path in paths}) == 1


def test_a_manifest_may_have_a_hundred_stages_and_no_more(tmp_path: Path) -> None:
    path = write(tmp_path / "s", Manifest(stages=[stage()] * STAGES))
    assert check_submission(path).ok
    with pytest.raises(ValidationError, match="too_long"):
        Manifest(stages=[stage()] * (STAGES + 1))


def test_every_problem_is_a_fault_of_its_own(tmp_path: Path) -> None:
    path = write(tmp_path / "s", None)
    wrong = stage().model_dump() | {"model": "", "limit": "5", "settings": {"a": [1]}, "odd": 1}
    (path / FILE).write_text(json.dumps({"stages": [wrong]}))
    faults = check_submission(path).faults
    assert {fault.code for fault in faults} == {"MANIFEST_INVALID"}
    assert [name in str(faults) for name in ("0.model", "0.limit", "settings.a", "0.odd")] == [True] * 4
    assert len(faults) == 4


CLAIMS = {"verified": True, "own": True, "released": True, "rank": 1, "row_class": "verified", "cohort": "mine"}
CLAIMS |= {"provenance": "printed", "by": "the-maintainer", "entry": "0" * 16, "unranked": [], "source": "paper"}


@pytest.mark.parametrize("claim", CLAIMS)
def test_no_file_of_a_submission_claims_what_the_board_alone_decides(tmp_path: Path, claim: str) -> None:
    path = write(tmp_path / "s", Manifest(stages=[stage()]))
    for file, code in (("submission.json", "UNKNOWN_FIELD"), (FILE, "MANIFEST_INVALID")):
        whole = (path / file).read_text()
        (path / file).write_text(json.dumps(json.loads(whole) | {claim: CLAIMS[claim]}))
        assert code in {fault.code for fault in check_submission(path).faults}
        (path / file).write_text(whole)
    meta = json.loads((path / "submission.json").read_text())
    for revision in ("v9", "upstream", "", "v2-core ", "v2"):  # of nobody, another benchmark, or other items
        (path / "submission.json").write_text(json.dumps(meta | {"dataset_revision": revision}))
        assert not check_submission(path).ok


def test_check_shows_a_line_for_every_stage(tmp_path: Path, run: Run) -> None:
    stages = [stage(fates={"answered": 1200}, limit=5, stratified=True), stage(what="judgements", model="m/b")]
    out = run.fine("check", write(tmp_path / "s", Manifest(stages=stages)))
    assert "- responses by m/a: 1,200 answered; limited to 5 stimuli a task (stratified)" in out
    assert "- judgements by m/b" in out


def test_a_result_keeps_what_decides_the_answers_and_not_when_or_where(tmp_path: Path) -> None:
    first = stage(settings={"temperature": 0.5}, prompts="a" * 64, datasets={"genres": "v1"})
    second = first.model_copy(update={"started": "2020-01-01T00:00:00Z", "hardware": {"cores": 3}, "input_tokens": 9})
    one, two = (scored(tmp_path / s.started, Manifest(stages=[s])) for s in (first, second))
    assert one.dumps() == two.dumps()
    assert one.to_json()["run"][0].keys() == set(RUN)
    assert one.run[0]["prompts"] == "a" * 64


def test_a_result_is_loaded_with_its_run_and_older_ones_without(tmp_path: Path) -> None:
    result = scored(tmp_path / "s", Manifest(stages=[stage(limit=2)]))
    path = tmp_path / "result.json"
    path.write_text(result.dumps(), encoding="utf-8")
    assert load_result(path).dumps() == result.dumps()
    plain = scored(tmp_path / "t", None)
    assert "run" not in plain.to_json()
    path.write_text(plain.dumps(), encoding="utf-8")
    assert load_result(path).run == ()


def test_a_limited_run_is_marked_wherever_its_numbers_are(tmp_path: Path, run: Run) -> None:
    path = write(tmp_path / "s", None, limit=5, stratified=True)
    mark = "limited to 5 stimuli a task (stratified)"
    result = score_submission(read_submission(path))
    (row,) = (row for row in board("fact_or_fair", results=[result]) if row.result is not None)
    assert row.remarks == (mark,)
    assert remarks(row).startswith(f"{mark}; ")
    assert mark[1:] in " ".join(run.fine("score", path, "--store", tmp_path / "store").split())
    show = ("leaderboard", "show", "--benchmark", "fact_or_fair", "--store", tmp_path / "store")
    shown = [row["remarks"] for row in json.loads(run.fine(*show, "--json"))["fact_or_fair"] if mark in row["remarks"]]
    assert shown == [[mark, "stimuli other than the paper's: our scenarios"]]
    assert set(mark.split()) <= set(run.fine(*show).split())  # the table wraps it


def test_the_manifest_marks_a_limited_run_too(tmp_path: Path) -> None:
    stages = [stage(limit=1), stage(limit=1), stage(what="images", limit=20)]
    result = scored(tmp_path / "s", Manifest(stages=stages), limit=1, stratified=False)
    assert limits_of(result) == tuple(f"limited to {n} a task" for n in ("1 stimulus", "20 stimuli"))


@pytest.mark.parametrize(
    "about",
    [{"settings": {"sample_data": True}}, {"datasets": {"genres": "v1, sample, sha256:" + "a" * 64}}],
)
def test_the_manifest_marks_a_sample_of_the_data(tmp_path: Path, run: Run, about: dict[str, Any]) -> None:
    result = scored(tmp_path / "s", Manifest(stages=[stage(**about)]))
    assert limits_of(result) == ("on a sample of the data",)
    assert "on a sample of the data" in result.scored.unranked
    assert limits_of(scored(tmp_path / "t", Manifest(stages=[stage(datasets={"genres": "v1, sampled"})]))) == ()
    assert "nothing; on a sample of the data" in run("check", tmp_path / "s")[1]
