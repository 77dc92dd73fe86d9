import json
from dataclasses import replace

import numpy as np
import pytest

from fairspace.submissions.answers.items import CHOSEN, LONGEST, LONGEST_PROMPT, Items, items_from_json, items_of, pull
from fairspace.submissions.answers.reading import Samples
from fairspace.submissions.answers.rows import read_rows
from fairspace.submissions.benchmarks.baselines import baseline_meta
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.errors import plain
from fairspace.submissions.format.schema import Submission
from tests.scored_baselines import baseline


def written(items: Items) -> dict[str, list[dict[str, str]]]:
    return {name: [item.to_json() for item in of_value] for name, of_value in items.items()}


def samples(scores: list[float], levels: list[int] | None, fair: float) -> Samples:
    at = None if levels is None else np.array(levels)
    asked = np.arange(len(scores))
    return Samples("gap", "1 if a woman is chosen", np.array(scores), "choices", asked, levels=at, fair=fair)


def test_what_moves_a_mean_away_from_fair_pulls_and_what_moves_it_back_pulls_the_other_way() -> None:
    right = samples([1, 0, 0, 1, np.nan], None, 1.0)
    np.testing.assert_allclose(pull(right), [0, 0.5, 0.5, 0, np.nan])  # the mean is .5 below 1
    picks = samples([1, 1, 1, 0, 0, 0, 0, 1], [0] * 4 + [1] * 4, 0.5)  # of one occupation 3/4 women, of the other 1/4
    np.testing.assert_allclose(pull(picks), [0.125] * 3 + [-0.125] + [0.125] * 3 + [-0.125])


@pytest.fixture(scope="module")
def kept() -> Items:
    """Kept answers of a model that follows stereotypes; scoring it would take ten times as long."""
    bench, submission = benchmark("stereotypical_bias"), baseline("stereotyped", "stereotypical_bias")
    return items_of(bench, submission, bench.read(submission), list(read_rows(submission, bench)))


def test_a_result_keeps_few_short_answers_of_each_value_with_prompt_reading_and_rule(kept: Items) -> None:
    assert {"gender_occupation", "race_persona"} <= set(kept)
    for items in kept.values():
        kinds = [item.kind for item in items]
        assert kinds == sorted(kinds, reverse=True)  # the worst first
        assert all(kinds.count(kind) <= most for kind, most in CHOSEN.items())
        assert len({(item.task, item.id) for item in items}) == len(items)
        for item in items:
            answer = item.before + item.marked + item.after
            assert answer == plain(answer)
            assert len(answer) <= LONGEST + 5
            assert 0 < len(item.prompt) <= LONGEST_PROMPT + 1
            assert item.rule
    assert len(json.dumps(written(kept))) < 64_000


def test_the_worst_answers_of_a_model_that_follows_stereotypes_follow_them(kept: Items) -> None:
    men = ("pilot", "firefighter", "software_developer", "chef", "taxi_driver")
    worst = [item for item in kept["gender_occupation"] if item.kind == "worst"]
    assert worst
    for item in worst:
        instance = item.id.rpartition("/")[2]
        assert item.score.endswith(f" is chosen: {1 if instance in men else 0}"), item


def test_items_are_loaded_as_they_were_written_and_others_are_refused(kept: Items) -> None:
    assert items_from_json(written(kept)) == kept
    assert items_from_json({}) == {}  # a result from before there were any
    name, first = next(iter(written(kept).items()))
    long, best = {**first[0], "prompt": "x" * 9_999}, {**first[0], "kind": "best"}
    more = {**first[0], "path": "/etc"}
    for broken in [[], *({name: fault} for fault in (first[0], [long], [best], [more]))]:
        with pytest.raises(ValueError, match="example items"):
            items_from_json(broken)


def test_nothing_of_an_item_set_that_is_held_back_is_kept() -> None:
    meta = baseline_meta("random", "genres", 0, {}).model_copy(update={"dataset_revision": "v2-hidden-2026a"})
    assert items_of(benchmark("genres"), Submission(meta), None, ()) == {}


def test_of_an_image_stands_what_its_labeller_saw_and_no_picture() -> None:
    bench, whole = benchmark("iris"), baseline("stereotyped", "iris")
    submission = replace(whole, tables={"annotations": whole.tables["annotations"]})
    kept = items_of(bench, submission, bench.read(submission), ())
    assert {"RD_gender", "RD_age", "RD_skin"} <= set(kept)
    assert all(len({item.id for item in items}) == len(items) for items in kept.values())
    for item in (item for items in kept.values() for item in items):
        rows = submission.rows("annotations", item.task).to_pylist()
        labels = [(row["gender"], row["age"], row["skin_tone"]) for row in rows if row["id"] == item.id]
        seen = {", ".join(filter(None, those)) for those in labels}
        assert item.value in seen
        assert (item.outcome, item.before, item.rule) == ("choice", "", "labelled by template")
        assert item.prompt
