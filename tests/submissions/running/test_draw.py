import pyarrow as pa

from fairspace.submissions.answers.likeness import answers_of
from fairspace.submissions.benchmarks.baselines import baseline_meta
from fairspace.submissions.benchmarks.fact_or_fair.baselines import tables
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.format.schema import ANNOTATIONS, Submission
from fairspace.submissions.running.asking.inspect_task import open_benchmark
from fairspace.submissions.running.images.generating import image_asks
from fairspace.submissions.running.rerunning.rerun import draw_part


def answered() -> Submission:
    handed_in = tables("random", 1, "v2-core")
    meta = baseline_meta("random", "fact_or_fair", 1, handed_in).model_copy(update={"dataset_revision": "v2-core"})
    return Submission(meta, {"responses": handed_in["responses"]}, "0" * 64)


def test_a_part_is_as_large_as_asked_spread_over_stimuli_and_another_for_another_seed() -> None:
    submission = answered()
    part = draw_part(submission, "one seed", "", texts=True, images=False, items=120)
    assert {task: len(keys) for task, keys in part.stimulus_of.items()} == {"llm_objective": 60, "llm_subjective": 60}
    assert len(set(part.stimulus_of["llm_subjective"].values())) == 60
    assert not part.uncovered
    same = draw_part(submission, "one seed", "", texts=True, images=False, items=120)
    other = draw_part(submission, "another seed", "", texts=True, images=False, items=120)
    assert part.stimulus_of == same.stimulus_of
    assert part.stimulus_of != other.stimulus_of
    left_out = draw_part(submission, "one seed", "", texts=True, images=False, items=120, without=["llm_objective"])
    assert {task: len(keys) for task, keys in left_out.stimulus_of.items()} == {"llm_subjective": 120}


def test_a_run_of_a_part_asks_its_requests_alone() -> None:
    part = draw_part(answered(), "one seed", "", texts=True, images=False, items=60)
    opened = open_benchmark(part.chosen)
    asked = {
        (ask.task, ask.id, ask.sample)
        for task, places in opened.positions.items()
        for place in places
        for ask in opened.parts[task].read(place).asks
    }
    assert asked == {(task, *key) for task, keys in part.stimulus_of.items() for key in keys}
    assert opened.asks == len(asked) == 60


def labelled(count: int) -> Submission:
    items = benchmark("fact_or_fair").items("v2")["t2i_objective"]["id"].to_pylist()
    row = {"task": "t2i_objective", "face": 0, "status": "ok", "gender": "female", "faces": 1}
    rows = [{**row, "id": items[number % len(items)], "sample": number // len(items)} for number in range(count)]
    meta = answered().meta.model_copy(update={"dataset_revision": "v2"})
    return Submission(meta, {"annotations": pa.Table.from_pylist(rows, schema=ANNOTATIONS)}, "0" * 64)


def test_images_are_drawn_by_themselves_and_compared_by_the_labels_of_their_faces() -> None:
    submission = labelled(100)
    part = draw_part(submission, "one seed", "", texts=False, images=True, items=40)
    keys = part.stimulus_of["t2i_objective"]
    assert len(keys) == 40
    items = benchmark("fact_or_fair").items("v2")["t2i_objective"]
    assert {(ask.id, ask.sample) for ask in image_asks(part.chosen, "t2i_objective", items)} == set(keys)
    answers = answers_of(submission)["t2i_objective"]
    like = answers.likeness
    one = answers.text[next(iter(keys))]
    assert like(one, one) == 1
    assert 0 < like(one, one.replace("female", "male")) < 1
    without_a_model = draw_part(submission, "one seed", "", texts=True, images=False)
    assert without_a_model.uncovered == ("t2i_objective",)
