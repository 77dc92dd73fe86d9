import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.metrics import precision_recall_fscore_support

from fairspace.ares.annotating.annotate import annotate
from fairspace.ares.configuration_ares import SKIN_TONE
from fairspace.ares.deciding_ares import ABLATIONS, Decided, Observed
from fairspace.ares.evaluating.data import HeldOut, HeldOutData, Pictures, open_test
from fairspace.ares.evaluating.evaluate import (
    REPORT,
    ablations,
    configured,
    evaluate,
    measure,
    measure_attribute,
    observe_all,
    open_model,
    outcome,
    tables,
)
from fairspace.ares.evaluating.measure import (
    ClassificationReport,
    calibration,
    classification_report,
    confusion,
    disparity,
)
from fairspace.ares.modeling_ares import AresModel
from fairspace.builders.errors import BuildError
from tests.ares.released import FACES, evaluation
from tests.ares.training.test_data import FACE, built
from tests.metrics.tables import rows
from tests.tiny_ares import tiny_model

IMAGES = 72
CLASSES = {"age": ("young", "middle", "older"), "gender": ("female", "male"), "skin_tone": ("light", "middle", "dark")}
SCORES = ("precision", "recall", "f1")


def printed_confusion(attribute: str) -> NDArray[np.int_]:
    classes = CLASSES[attribute]
    table = np.zeros((len(classes), len(classes)), int)
    for row in rows("ares_table16_18_confusion"):
        if row["attribute"] == attribute:
            table[classes.index(row["true"]), classes.index(row["predicted"])] = int(row["count"])
    return table


@pytest.fixture(scope="module")
def model(tiny_ares: Path) -> AresModel:
    return open_model(tiny_ares)


@pytest.fixture(scope="module")
def data(model: AresModel, tmp_path_factory: pytest.TempPathFactory) -> HeldOutData:
    config = model.config
    return open_test(f"drawn:{IMAGES}", config.tasks, config.image_size, 0, tmp_path_factory.mktemp("work"))


class Truthful:
    """An arbiter that knows the drawn images except those of one tone; it counts its calls."""

    name = "truthful"

    def __init__(self, data: HeldOutData) -> None:
        (images,) = data.sets
        pictures = Pictures(images.faces)
        self.known = {pictures[row].tobytes(): row for row in range(len(images))}
        self.images, self.asked = images, 0

    def answer(self, images: Sequence[Any], task: Mapping[str, Any]) -> list[str | None]:
        self.asked += len(images)
        labels = self.images.faces.labels[task["name"]]
        return [task["labels"][labels[self.known[image.tobytes()]]] for image in images]


@pytest.fixture(scope="module")
def everything(model: AresModel, data: HeldOutData) -> Mapping[str, Observed]:
    return model.observe(data.sets[0].pixels(np.arange(IMAGES), model.device), everything=True)


@pytest.mark.parametrize("mode", ABLATIONS.values())
@pytest.mark.parametrize("thresholds", [(0.36, 0.4), (1.0, 0.7)])
def test_routing_from_one_pass_is_what_the_model_decides(
    model: AresModel,
    data: HeldOutData,
    everything: Mapping[str, Observed],
    mode: str,
    thresholds: tuple[float, float],
) -> None:
    (images,) = data.sets
    with configured(model, ablation=mode, fast_confidence=thresholds[0], escalation=thresholds[1]):
        for start in (0, 40):
            part = images.pixels(np.arange(start, IMAGES), model.device)
            direct, routed = model.decide(part), model.route(everything)
            for name, found in direct.items():
                assert found.label.tolist() == routed[name].label[start:].tolist()
                assert found.route == routed[name].route[start:]
                assert np.array_equal(found.probability, routed[name].probability[start:], equal_nan=True)
                assert np.array_equal(found.value, routed[name].value[start:], equal_nan=True)


@pytest.mark.parametrize("row", rows("ares_table19_disparity"), ids=lambda row: row["attribute"])
def test_disparity_of_the_printed_matrices_is_table_19(row: dict[str, str]) -> None:
    classes, table = CLASSES[row["attribute"]], printed_confusion(row["attribute"])
    true = np.repeat(np.arange(len(table)), table.sum(1))
    said = np.concatenate([np.repeat(np.arange(len(table)), line) for line in table])
    parts = [confusion(classes, true, said, true == i) for i in range(len(classes))]
    gap = disparity(dict(zip(classes, parts, strict=True)))
    assert (gap.most, gap.least) == (row["max_group"], row["min_group"])
    assert gap.value == pytest.approx(float(row["accuracy_disparity"]), abs=0.00005 + 1e-9)
    assert parts[classes.index(row["max_group"])].report.accuracy == pytest.approx(float(row["max_recall"]), abs=5e-5)


def faces(**labels: Sequence[int]) -> Any:
    return SimpleNamespace(labels={name: np.array(codes, np.intp) for name, codes in labels.items()})


def decided(task: Mapping[str, Any], labels: Sequence[int], sure: float = 0.9) -> Decided:
    n, k = len(labels), len(task["labels"])
    chances = np.full((n, k), (1 - sure) / (k - 1))
    for row, label in enumerate(labels):
        chances[row, label] = sure
    nothing = np.full(n, np.nan)
    return Decided(np.array(labels, np.intp), chances, ["vote"] * n, [""] * n, nothing, nothing)


def test_what_has_no_images_is_undefined_and_abstaining_is_wrong() -> None:
    tones = np.array([0, 0, 0, 1, 1], np.intp)
    genders = np.array([0, 0, 0, 0, 0], np.intp)
    images = HeldOut(
        faces(skin_tone=tones.tolist()),
        ("skin_tone",),
        {"skin_tone": (("light", "middle", "dark"), tones), "gender": (("female", "male"), genders)},
    )
    found = measure_attribute(SKIN_TONE, "skin_tone", images, decided(SKIN_TONE, [0, 0, -1, 1, 0]))
    assert found.overall.matrix == [[2, 0, 0], [1, 1, 0], [0, 0, 0]]
    assert found.overall.abstained == [1, 0, 0]
    classes = found.overall.report.classes
    assert classes["light"].recall == pytest.approx(2 / 3)
    assert classes["dark"].recall is None
    assert classes["dark"].precision is None
    assert found.overall.report.macro.recall is None
    assert found.overall.report.accuracy == pytest.approx(3 / 5)
    assert found.groups["gender"]["male"].report.accuracy is None
    assert found.disparities["gender"].value is None
    assert found.disparity.value == pytest.approx(2 / 3 - 1 / 2)
    assert found.disparity.high > 2 / 3 - 1 / 2


def test_calibration_by_hand() -> None:
    found = calibration(np.array([0.95, 0.95, 0.55, 0.1]), np.array([True, False, True, False]))
    assert found.images == [0, 1, 0, 0, 0, 1, 0, 0, 0, 2]
    assert found.confidence[9] == pytest.approx(0.95)
    assert found.accuracy[9] == 0.5
    assert found.confidence[2] is None
    assert found.error == pytest.approx((2 * 0.45 + 0.45 + 0.1) / 4)
    assert calibration(np.zeros(0), np.zeros(0, bool)).error is None


def test_e5_is_not_run_without_a_model_to_ask(model: AresModel, data: HeldOutData) -> None:
    seen = [observe_all(model, images, 16) for images in data.sets]
    found = ablations(model, data.sets, seen)
    assert list(found) == list(ABLATIONS)
    assert found["E5"].reason
    assert found["E5"].accuracy is None
    assert not any(found[row].reason for row in found if row != "E5")
    assert [found[row].experts for row in ("E1", "E2", "E3", "E4")] == [2, 2, 2, 6]
    assert found["ARES"].routes == found["E6"].routes


def test_an_arbiter_is_asked_once_per_image_and_task(model: AresModel, data: HeldOutData) -> None:
    truthful = Truthful(data)
    model.arbiter = truthful
    try:
        with configured(model, fast_confidence=1.0, escalation=0.3):
            found = measure(model, data, {"name": "tiny", "sha256": "0" * 64})
            plain = outcome(model, data.sets, [observe_all(model, data.sets[0], 50)])
    finally:
        model.arbiter = None
    assert found.ablations["E5"].accuracy == 1
    assert found.ablations["E5"].arbiter == 2
    assert found.ablations["E5"].experts == 0
    assert found.model["arbiter"] == "truthful"
    handed_on = plain.escalated["age_gender"]
    assert handed_on is not None
    assert plain.arbiter == pytest.approx(handed_on)
    assert plain.routes["age_gender"].get("escalated:vlm", 0) == round(handed_on * IMAGES)
    accuracy, without = plain.tasks["age_gender"], found.ablations["E6"].tasks["age_gender"]
    assert accuracy is not None
    assert without is not None
    assert accuracy > without
    # Twice in `measure` would be 4 * IMAGES; the last `outcome` asks anew, as it was given the bare arbiter.
    assert truthful.asked == 2 * IMAGES + round(handed_on * IMAGES)


def read(text: str, title: str) -> list[dict[str, str]]:
    part = text.split(f"### {title}", 1)[1].split("### ", 1)[0]
    header, _, *lines = ([cell.strip() for cell in line.split("|")[1:-1]] for line in part.splitlines() if "|" in line)
    return [dict(zip(header, line, strict=True)) for line in lines]


def test_tables_have_the_printed_shape_and_figures(tiny_ares: Path) -> None:
    text = (evaluation(tiny_ares) / REPORT).read_text(encoding="utf-8")
    found = {row["configuration"]: row for row in read(text, "Ablations")}
    for row in rows("ares_table11_random200"):
        mine = found[row["configuration"]]
        for column in ("overall_acc_pct", "age_gender_acc_pct", "skin_tone_acc_pct"):
            assert mine[f"printed_random_200_{column}"] == row[column]
        if not mine["not_run"]:
            assert 0 <= float(mine["overall_acc_pct"]) <= min(float(mine["age_gender_acc_pct"]), 100)
    assert found["(E5) L2 (VLM) Only"]["overall_acc_pct"] == ""
    printed = {(row["attribute"], row["class"]): row for row in rows("ares_table13_15_report")}
    matched = [row for row in read(text, "Classification reports") if row["printed_recall"]]
    assert len(matched) == len(printed)
    for row in matched:
        figure = printed[row["attribute"], row["class"].replace("middle-aged", "middle")]
        assert row["printed_recall"] == figure["recall"]
    for attribute, classes in CLASSES.items():
        matrix = read(text, f"Confusion matrix: {attribute}")
        own = [int(row[name]) for row in matrix for name in row if not name.startswith(("true", "printed"))]
        assert sum(own) == FACES
        assert [[int(row[f"printed_{name}"]) for name in classes] for row in matrix] == printed_confusion(
            attribute
        ).tolist()
    assert "undefined" in text


def test_a_folder_is_measured_task_by_task_with_the_groups_that_are_known(model: AresModel, tmp_path: Path) -> None:
    folder = built(tmp_path / "built", {"test": 24})
    data = open_test(str(folder), model.config.tasks, model.config.image_size, 0, tmp_path)
    assert (data.name, data.revision) == ("iris_classifier_25", "v1 (sample)")
    found = measure(model, data, {"name": "tiny", "sha256": "0" * 64})
    assert found.data["images"] == {"age_gender": 24, "skin_tone": 24}
    age = found.attributes["age"]
    assert age.overall.images == 24
    assert sum(part.images for part in age.groups["skin_tone"].values()) == 18
    assert {name: part.images for name, part in age.groups["origin"].items()} == {"real": 6, "generated": 18}
    assert found.attributes["skin_tone"].groups["origin"]["real"].images == 6
    pictures = Pictures(data.sets[0].faces)
    assert pictures[3].size == (FACE, FACE)
    pictures.faces.table = [{"id": "bomb", "image": {"bytes": b"BM"}}] * 24  # type: ignore[union-attr]
    with pytest.raises(BuildError, match="bomb"):
        pictures[3]
    assert all(table.text() for table in tables(found))


def test_images_are_not_sent_to_an_endpoint_without_consent(tmp_path: Path) -> None:
    model = tiny_model(tmp_path / "model")
    file = model / "config.json"
    config = json.loads(file.read_text(encoding="utf-8"))
    config["vlm"] = {"endpoint": "http://127.0.0.1:9/v1", "model": "some"}
    file.write_text(json.dumps(config), encoding="utf-8")
    with pytest.raises(BuildError, match=r"TOOL_MISSING.*--ask-endpoint"):
        evaluate(model, "drawn:8", tmp_path / "out")
    (tmp_path / "images").mkdir()
    with pytest.raises(BuildError, match=r"TOOL_MISSING.*--ask-endpoint"):
        annotate(model, tmp_path / "images", tmp_path / "annotations", names="files", task="any")


def report(attribute: str) -> ClassificationReport:
    return classification_report(printed_confusion(attribute), CLASSES[attribute])


@pytest.mark.parametrize("row", rows("ares_table13_15_report"), ids=lambda row: f"{row['attribute']}-{row['class']}")
def test_confusion_matrices_reproduce_tables_13_to_15(row: dict[str, str]) -> None:
    found = report(row["attribute"])
    scores = found.macro if row["class"] == "macro avg" else found.classes[row["class"]]
    for name in SCORES:
        assert getattr(scores, name) == pytest.approx(float(row[name]), abs=0.00005 + 1e-9)
    assert scores.support == int(row["support"])


@pytest.mark.parametrize("attribute", CLASSES)
def test_scores_are_those_of_scikit_learn(attribute: str) -> None:
    table = printed_confusion(attribute)
    true = np.repeat(np.arange(len(table)), table.sum(1))
    predicted = np.concatenate([np.repeat(np.arange(len(table)), row) for row in table])
    expected = precision_recall_fscore_support(true, predicted)
    found = report(attribute).classes.values()
    for i, name in enumerate((*SCORES, "support")):
        assert [getattr(scores, name) for scores in found] == pytest.approx(list(expected[i]))


def test_a_class_that_never_occurs_is_undefined_never_zero() -> None:
    found = classification_report([[3, 0], [0, 0]], ("a", "b"))
    assert found.classes["b"].precision is None
    assert found.classes["b"].recall is None
    assert found.classes["b"].f1 is None
    assert found.macro.f1 is None
    assert classification_report([[0, 0], [0, 0]], ("a", "b")).accuracy is None


def test_a_wrong_matrix_is_refused() -> None:
    with pytest.raises(ValueError, match="is 2 by 2"):
        classification_report([[1, 2, 3]], ("a", "b"))
    with pytest.raises(ValueError, match="0 or more"):
        classification_report([[1, -1], [0, 2]], ("a", "b"))
