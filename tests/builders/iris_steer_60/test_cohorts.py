from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fairspace.builders.engine.build import build
from fairspace.builders.errors import BuildError
from fairspace.builders.iris import groups
from fairspace.builders.iris.items import pair_items
from fairspace.builders.iris_gen_52 import plan as iris_gen_52
from fairspace.builders.iris_ideal_52 import plan as iris_ideal_52
from fairspace.builders.iris_steer_60.dataset import DATASET, of_cohort
from fairspace.builders.iris_steer_60.plan import INCONSISTENT, LABELS, PAIRS, pair_ids, pairs, steer_ids
from fairspace.builders.iris_steer_60.understanding import base_prompt, prompt_types
from tests.builders.builds import rows
from tests.builders.iris_steer_60.test_dataset import Stripes, tools

NURSE = groups.OCCUPATIONS.index("nurse"), groups.GROUPS.index("female_young_light")
JUDGE = groups.OCCUPATIONS.index("judge"), groups.GROUPS.index("male_older_dark")
LABEL = groups.cohort_revision([JUDGE, NURSE])
QUICK = settings(
    deadline=None, max_examples=60, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow]
)
CELLS = st.tuples(st.integers(0, len(groups.OCCUPATIONS) - 1), st.integers(0, len(groups.GROUPS) - 1))


@given(st.sets(CELLS, min_size=1, max_size=groups.MOST))
@QUICK
def test_a_label_is_its_combinations_in_any_order(cells: set[tuple[int, int]]) -> None:
    label = groups.cohort_revision(sorted(cells, key=str))
    assert set(groups.combinations_of(label)) == cells
    assert groups.cohort_revision(reversed(groups.combinations_of(label))) == label
    assert groups.base_revision(label) == "v2"


@given(st.text(alphabet="0123456789abcz-A é", max_size=22))
@QUICK
def test_a_label_that_is_no_plan_s_is_none(code: str) -> None:
    label = f"v2-cohort-{code}"
    if groups.combinations_of(label):
        assert groups.cohort_revision(groups.combinations_of(label)) == label
    else:
        assert groups.base_revision(label) == label
        with pytest.raises(BuildError, match="REVISION_UNKNOWN"):
            pairs(label)


@pytest.mark.parametrize("cells", [[], [(0, group) for group in range(groups.MOST + 1)]])
def test_none_or_many_combinations_make_no_plan(cells: list[tuple[int, int]]) -> None:
    with pytest.raises(ValueError, match="1 to 10 make a plan"):
        groups.cohort_revision(cells)


def test_one_image_of_every_pair_shows_a_combination_and_the_other_differs_as_planned() -> None:
    plan = pairs(LABEL)
    assert plan.biased is not None
    number = np.arange(PAIRS)
    biased, other = (plan.groups[number, side] for side in (plan.biased, 1 - plan.biased))
    assert set(zip(plan.occupation.tolist(), biased.tolist(), strict=True)) == {NURSE, JUDGE}
    assert np.array_equal(plan.combination, pairs().combination)
    differ = groups.group_attributes(biased) != groups.group_attributes(other)
    for index, positions in enumerate(groups.COMBINATIONS.values()):
        expected = [position in positions for position in range(3)]
        assert (differ[plan.combination == index] == expected).all()
        of_nurses = (plan.occupation[plan.combination == index] == NURSE[0]).sum()
        assert abs(2 * of_nurses - (plan.combination == index).sum()) <= 1
    assert 0.45 < plan.biased.mean() < 0.55
    codes = groups.group_attributes(plan.groups.ravel()).reshape(PAIRS, 2, 3)
    assert np.array_equal(plan.labels[:, :, :3], codes)
    same = (plan.labels[:, 0, 3:] == plan.labels[:, 1, 3:]).all(axis=1)
    assert (~same).sum() == INCONSISTENT * PAIRS
    bearded = plan.labels[:, :, 7] == LABELS["h"].index("yes")
    assert not bearded[(codes[:, :, 0] == 0).any(axis=1)].any()


def test_items_but_those_of_pairs_are_the_newest_ones() -> None:
    assert pairs("v1") is pairs("v2") is pairs()
    assert pairs().biased is None
    assert steer_ids(LABEL) is steer_ids("v2")
    assert pair_ids(LABEL) is pair_ids("v2")
    assert iris_gen_52.ids(LABEL) is iris_gen_52.ids("v2")
    assert iris_ideal_52.image_ids(LABEL) is iris_ideal_52.image_ids("v1")
    first = pair_items(LABEL).slice(0, 1).to_pylist()[0]
    assert "judge" in first["prompt"] or "nurse" in first["prompt"]


def test_a_build_of_a_cohort_has_its_plan_and_a_revision_of_its_own(tmp_path: Path) -> None:
    dataset = of_cohort(DATASET, [NURSE, JUDGE])
    manifest = build(dataset, tmp_path / "built", sample=True, tools=tools(Stripes()))
    assert manifest.revision == LABEL
    assert any(note.endswith("(C.2): judge male_older_dark, nurse female_young_light.") for note in manifest.notes)
    made = rows(tmp_path / "built", "understanding")
    assert len(made) == 84
    assert {row["occupation"] for row in made} <= {"nurse", "judge"}
    for row in made:
        stereotypical = row["prompt_type"] == "stereotypical"
        cells = {("nurse", "female_young_light"), ("judge", "male_older_dark")}
        assert stereotypical == ((row["occupation"], row["group"]) in cells)
    assert made[0]["prompt"] == base_prompt(made[0]["pair"], LABEL)
    card = (tmp_path / "built" / "README.md").read_text(encoding="utf-8")
    assert LABEL in card
    with pytest.raises(BuildError, match="OUT_IN_USE"):
        build(DATASET, tmp_path / "built", sample=True, tools=tools(Stripes()))


def test_the_stereotypical_image_is_the_one_with_the_combination() -> None:
    plan = pairs(LABEL)
    assert plan.biased is not None
    for number in range(40):
        assert prompt_types(number, LABEL)[plan.biased[number]] == "stereotypical"
