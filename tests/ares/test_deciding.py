from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from fairspace.ares.configuration_ares import DECISIONS, RACE, AresConfig
from fairspace.ares.deciding_ares import ABLATIONS, Decided, Observed, decide_task
from fairspace.ares.rounding_ares import STEP, rounded
from fairspace.ares.routing_ares import EscalationRouter, cut, ordinal_probabilities, vote

RULES_1 = {
    "age_gender": (
        "0210023545105504035415022334105453133552",
        "v f f v f f v v f v v v v v v f v v f f v v v f f v v f v v v v v v v v v v v f",
        "608 1068 1056 962 698 1042 647 559 610 772 593 811 549 569 581 1272 604 428 566 540 747 622 909 656 743 "
        "534 725 859 717 730 695 770 760 697 549 610 524 712 544 976",
    ),
    "skin_tone": (
        "1121122210222120212200222101212112000022",
        "f f v f f f f f f v v f e v f v e f f e f v v f e v f e f f f v v f v f v v v f",
        "1962 1205 1315 1417 1336 1577 1228 1438 1643 1340 1241 1213 932 1090 965 1157 978 1710 1659 1690 1532 "
        "1059 900 797 1216 1075 874 978 1681 846 1191 1022 1074 1895 1203 1825 976 829 904 1267",
    ),
}
"""Labels, routes and largest probabilities (in steps) under rules 1."""


class Router(EscalationRouter):
    def __init__(self) -> None:
        super().__init__(None)

    def probability(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        return rounded((features[:, :3].sum(axis=1) * 3) % 1)


class Arbitrary:
    """An arbiter that ignores the image, and sometimes abstains."""

    name = "arbitrary"

    def answer(self, images: Any, task: Any) -> list[str | None]:
        return [None if image % 5 == 4 else task["labels"][image % len(task["labels"])] for image in images]


def observed(config: AresConfig, seed: int, n: int = 40) -> dict[str, Observed]:
    random = np.random.RandomState(seed)
    seen = {}
    for task in config.tasks:
        fast = rounded(random.dirichlet(np.full(3, 0.4), n))
        chances = rounded(random.dirichlet(np.full(len(task["labels"]), 0.7), (n, 3)))
        value = rounded(random.uniform(-0.3, 2.3, n)) if task["arbiter"] == "fusion" else np.full(n, np.nan)
        seen[task["name"]] = Observed(fast, chances, value, np.zeros((len(value), 0)))
    return seen


def decide(config: AresConfig, seed: int, *, asked: bool = False) -> dict[str, Decided]:
    seen, images = observed(config, seed), range(40) if asked else None
    return {
        task["name"]: decide_task(config, task, seen[task["name"]], Router(), Arbitrary() if asked else None, images)
        for task in config.tasks
    }


def test_a_configuration_of_before_gives_its_old_labels_routes_and_probabilities() -> None:
    before = {key: value for key, value in AresConfig().to_dict().items() if key != "decisions"}
    config = AresConfig.from_dict({**before, "fast_confidence": 0.8, "escalation": 0.6})
    assert config.decisions == 1
    for name, decided in decide(config, 5).items():
        labels, routes, steps = RULES_1[name]
        assert "".join(map(str, decided.label)) == labels
        assert " ".join(route[0] for route in decided.route) == routes
        assert (decided.probability.max(axis=1) / STEP).tolist() == list(map(int, steps.split()))


def test_rules_that_this_code_does_not_know_are_refused() -> None:
    with pytest.raises(ValueError, match=f"rules {DECISIONS + 1}; known are 1 to {DECISIONS}"):
        AresConfig(decisions=DECISIONS + 1)


@pytest.mark.parametrize("ablation", ABLATIONS.values())
@pytest.mark.parametrize("asked", [False, True], ids=["no arbiter", "arbiter"])
def test_a_label_has_the_largest_of_the_probabilities_beside_it(ablation: str, asked: bool) -> None:
    agreeing = silent = 0
    for seed in range(12):
        random = np.random.RandomState(seed)
        fast, escalation = random.uniform(0.4, 1), random.uniform(0, 1)
        config = AresConfig(fast_confidence=fast, escalation=escalation, ablation=ablation, decisions=2)
        config.minimum_confidence = (seed % 3) * 0.2
        config.tasks = [*config.tasks, dict(RACE)]
        config.tasks[1]["slope"] = float(random.choice([0.2, 3.0, 90.0]))
        for name, decided in decide(config, seed, asked=asked).items():
            task = config.task(name)
            for attribute, values in task["attributes"].items():
                chances, names = decided.chances(task, attribute), list(dict.fromkeys(values))
                for row in np.flatnonzero(decided.label >= 0).tolist():
                    if np.isnan(chances[row]).any():
                        assert decided.route[row] == "escalated:vlm"
                        silent += 1
                        continue
                    said = names.index(values[decided.label[row]])
                    assert chances[row, said] == chances[row].max()
                    assert chances[row].sum() == pytest.approx(1, abs=len(names) * STEP / 2)
                    agreeing += 1
    assert agreeing > 500 or ablation == "l2"
    assert (silent > 100) == (asked and ablation in ("l2", "full", "no_fusion"))


@pytest.mark.parametrize(
    ("ablation", "by"),
    [("full", "fusion"), ("no_vlm", "fusion"), ("vote", "vote"), ("no_fusion", "routed"), ("clip", "fast:clip")],
)
def test_skin_tone_is_regressed_on_every_image_as_in_the_authors_program(ablation: str, by: str) -> None:
    config = AresConfig(decisions=2, ablation=ablation, fast_confidence=0.6)
    seen, decided = observed(config, 3)["skin_tone"], decide(config, 3)["skin_tone"]
    routes = set(decided.route)
    if by == "fusion":
        assert routes == {"fusion"}
        assert np.array_equal(decided.label, np.digitize(seen.value, [0.48, 1.24]))
        assert np.array_equal(decided.value, seen.value)
        return
    assert np.isnan(decided.value).all()
    assert routes == ({by} if by != "routed" else {"vote", *(f"fast:{kind}" for kind in config.kinds)})
    if by == "vote":
        assert np.array_equal(decided.label, vote(seen.probabilities))


@pytest.mark.parametrize("slope", [0.1, 1.0, 8.0, 100.0])
@pytest.mark.parametrize("cuts", [[0.48, 1.24], [0.5], [0.1, 0.11, 2.0]])
def test_ordinal_probabilities_are_largest_at_the_label_of_the_cuts(cuts: list[float], slope: float) -> None:
    values = rounded(np.linspace(-1, 3, 801))
    chances = ordinal_probabilities(values, cuts, slope)
    assert np.array_equal(chances[np.arange(801), cut(values, cuts)], chances.max(axis=1))
    assert (np.diff(chances[:, 0]) <= 0).all()
    assert (np.diff(chances[:, -1]) >= 0).all()
    assert np.isnan(ordinal_probabilities(np.array([np.nan]), cuts, slope)).all()


class Counting(Arbitrary):
    def __init__(self) -> None:
        self.asked: list[int] = []

    def answer(self, images: Any, task: Any) -> list[str | None]:
        self.asked += images
        return super().answer(images, task)


@pytest.mark.parametrize("ablation", ["full", "l2"])
def test_the_arbiter_is_asked_about_images_that_pass_the_gate_alone(ablation: str) -> None:
    config = AresConfig(ablation=ablation, fast_confidence=0.9, escalation=0.2)
    task = next(task for task in config.tasks if task["arbiter"] == "vlm")
    seen = observed(config, 3)[task["name"]]
    without = decide_task(config, task, seen, Router(), Arbitrary(), range(40))
    config.gate = {"cut": 0.5}
    face = np.arange(40) % 3 > 0
    seen.gate = np.where(face[:, None], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0])
    arbiter = Counting()
    decided = decide_task(config, task, seen, Router(), arbiter, range(40))
    asked = [row for row in range(40) if without.route[row] == "escalated:vlm" or without.reason[row]]
    assert arbiter.asked == [row for row in asked if face[row]] != asked
    assert {decided.reason[row] for row in range(40) if not face[row]} == {"several_faces"}
    assert [decided.label[row] for row in range(40) if face[row]] == without.label[face].tolist()


@pytest.mark.parametrize(
    ("experts", "label"),
    [
        ([[0.6, 0.4, 0.0], [0.6, 0.3, 0.1], [0.0, 1.0, 0.0]], 0),  # two of three, however sure the third is
        ([[0.9, 0.1, 0.0], [0.0, 0.8, 0.2]], 0),  # means 0.45, 0.45, 0.1: the first
        ([[0.9, 0.0, 0.1], [0.3, 0.65, 0.05], [0.0, 0.6, 0.4], [0.95, 0.05, 0.0]], 0),
        (
            [[1.0, 0.0, 0.0], [0.1, 0.9, 0.0], [0.5, 0.49, 0.01], [0.0, 0.9, 0.1]],
            1,
        ),  # means 0.4 and 0.57
        ([[0.4, 0.3, 0.3], [0.0, 0.51, 0.49], [0.0, 0.49, 0.51]], 1),  # 0.13, 0.433 and 0.433
        ([[0.34, 0.33, 0.33], [0.1, 0.5, 0.4], [0.4, 0.45, 0.15], [0.5, 0.4, 0.1]], 1),
    ],
)
def test_a_tie_goes_to_the_tied_label_with_the_larger_mean(experts: list[list[float]], label: int) -> None:
    assert vote(np.array([experts])).tolist() == [label]


def test_a_value_at_a_cut_belongs_to_the_higher_label() -> None:
    assert cut(np.array([0.49, 0.5, 1.5, 1.49]), [0.5, 1.5]).tolist() == [0, 1, 2, 1]
