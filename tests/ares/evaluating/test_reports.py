import numpy as np
import pytest
from sklearn.metrics import precision_recall_fscore_support

from fairspace.ares.evaluating.measure import ClassificationReport, classification_report
from tests.metrics.tables import rows

PRINTED = rows("ares_table13_15_report")
CLASSES = {"age": ("young", "middle", "older"), "gender": ("female", "male"), "skin_tone": ("light", "middle", "dark")}
SCORES = ("precision", "recall", "f1")


def confusion(attribute: str) -> np.ndarray:
    classes = CLASSES[attribute]
    table = np.zeros((len(classes), len(classes)), int)
    for row in rows("ares_table16_18_confusion"):
        if row["attribute"] == attribute:
            table[classes.index(row["true"]), classes.index(row["predicted"])] = int(row["count"])
    return table


def report(attribute: str) -> ClassificationReport:
    return classification_report(confusion(attribute), CLASSES[attribute])


@pytest.mark.parametrize("row", PRINTED, ids=lambda row: f"{row['attribute']}-{row['class']}")
def test_confusion_matrices_reproduce_tables_13_to_15(row: dict[str, str]) -> None:
    found = report(row["attribute"])
    scores = found.macro if row["class"] == "macro avg" else found.classes[row["class"]]
    for name in SCORES:
        assert getattr(scores, name) == pytest.approx(float(row[name]), abs=0.00005 + 1e-9)
    assert scores.support == int(row["support"])


@pytest.mark.parametrize("attribute", CLASSES)
def test_scores_are_those_of_scikit_learn(attribute: str) -> None:
    table = confusion(attribute)
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
