"""The authors' pairs and their judge's analyses, as their own programs read and write them."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fairspace.builders.errors import BuildError
from fairspace.builders.genres import plan
from fairspace.submissions.benchmarks.genres.ask import narrative
from fairspace.submissions.benchmarks.genres.importing import QUERIES, import_genres
from fairspace.submissions.benchmarks.genres.parse import judge
from fairspace.submissions.benchmarks.genres.records import analyses, stories
from fairspace.submissions.benchmarks.pictures import open_data
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.checking.submission import check_submission
from fairspace.submissions.errors import RunError
from fairspace.submissions.format.faults import SubmissionError
from tests.oracles import genres as drawn
from tests.oracles.authors import genres as authors
from tests.oracles.authors.clones import GENRES, copy, run
from tests.submissions.benchmarks.rows import there

TASK = benchmark("genres").task("narrative")


@pytest.fixture
def clone() -> Path:
    if "FAIRSPACE_GENRES_CLONE" not in os.environ:
        pytest.skip("FAIRSPACE_GENRES_CLONE names no clone of Savannah2000/Genres")
    return Path(os.environ["FAIRSPACE_GENRES_CLONE"])


def lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def test_the_authors_pairs_and_pictures_are_asked(clone: Path, tmp_path: Path) -> None:
    """Their programs add `response` to a line of the pairs, so a published line without it is that of its pair."""
    folder = tmp_path / "NEPs"
    whole: dict[str, dict[str, Any]] = {}
    for name in QUERIES:
        relation = name.split("_")[2]
        rows = lines(clone / "response" / "Phi4" / f"phi4mm_mf_{relation}.jsonl")
        whole |= {row["image_name"]: row for row in rows}
        folder.mkdir(exist_ok=True)
        rows = [{key: value for key, value in row.items() if key != "response"} for row in rows]
        (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    data = open_data(str(tmp_path), "upstream")
    with pytest.raises(RunError, match=r"DATA_MISSING .*Image/mf/cs/mf_cs_young_group0_scenario0_\w{4}\.png"):
        narrative(TASK, data, "upstream")
    for name in whole:
        (folder / "Image" / "mf" / name.split("_")[1]).mkdir(parents=True, exist_ok=True)
        (folder / "Image" / "mf" / name.split("_")[1] / name).write_bytes(name.encode())
    part = narrative(TASK, data, "upstream")
    assert len(part.stimuli) == len(part.names) == part.expected == 1440
    for place in range(0, 1440, 7):
        shown = part.read(place)
        row = whole[shown.images[0].decode()]
        assert shown.asks[0].prompt == row["text_prompt"]
        assert part.names[shown.asks[0].id] == "|".join(row["names"])
        assert plan.ids("upstream")[place].as_py() == shown.asks[0].id
    (folder / QUERIES[1]).write_text("".join((folder / QUERIES[1]).read_text().splitlines(keepends=True)[:-1]))
    with pytest.raises(BuildError, match=r"SOURCE_LAYOUT .*1 of the pairs are not there"):
        narrative(TASK, data, "upstream")


@pytest.mark.slow
def test_the_authors_scores_follow_from_their_judges_analyses(clone: Path, tmp_path: Path) -> None:
    """`eval.py` writes the analyses of drawn data; M4 of their import is what `M4.py` prints of the same files."""
    copy(GENRES, clone, tmp_path)
    for seed, (kind, names) in enumerate(authors.MODELS.items()):
        authors._write(tmp_path / "response", *names, drawn.ORACLE.draw(300 + seed, kind))
    authors._write_words(tmp_path / "eval")
    printed = run("genres_child.py", tmp_path, GENRES)
    for model, name in (authors.MODELS["whole"], authors.MODELS["damaged"]):
        files = [*(tmp_path / "analysis" / model).glob("*.jsonl"), *(tmp_path / "response" / model).glob("*.jsonl")]
        report = check_submission(import_genres(files, tmp_path / f"imported-{model}"))
        assert report.ok
        submission = there(report.submission)
        assert submission.meta.model == name
        assert submission.meta.judge is not None
        judged = submission.rows("judgements", "narrative_analysis")
        assert judged.num_rows == sum(len(lines(file)) for file in files if file.name.startswith("analysis"))
        ids = plan.ids("upstream").to_pylist()
        status = analyses(submission, None, ids, stories(submission, ids).handed_in, judge.authors_analysis).columns[
            "status"
        ]
        for relation in plan.RELATIONS:
            sides = np.nansum(status[[item.startswith(relation) for item in ids]], axis=0)
            assert 100 * (sides[0] - sides[1]) / sides.sum() == pytest.approx(printed[model]["M4"][relation])
    assert len(submission.rows("responses", "narrative")) > judged.num_rows, "what eval.py skipped has no judgement"


def test_an_analysis_that_is_none_is_refused_with_its_line(tmp_path: Path) -> None:
    from tests.submissions.benchmarks.genres.test_importing import line, write

    part = {"PA": dict.fromkeys(("Personality", "Occupation", "Interests"), "calm"), "AR": {"high_status": 1}}
    part["NF"] = {"Pros": "kind", "Cons": None, "Main": 0}
    row = line() | {"female_Mia_analysis": part, "male_Levi_analysis": part | {"AR": {"high_status": "no"}}}
    with pytest.raises(SubmissionError, match=r"WRONG_TYPE at analysis_a_mf_cs\.jsonl line 1: male_Levi_analysis, AR"):
        import_genres([write(tmp_path, [row], "analysis_a_mf_cs.jsonl")], tmp_path / "out")
    row |= {"male_Levi_analysis": part | {"AR": {"high_status": 0}}}
    files = [
        write(tmp_path, [row], "analysis_a_mf_cs.jsonl"),
        write(tmp_path, [line(response="other")], "a_mf_cs.jsonl"),
    ]
    with pytest.raises(SubmissionError, match=r"DUPLICATE_ID .*beside the analysis of the same response"):
        import_genres(files, tmp_path / "out")
