import hashlib
import re
from collections import Counter

import pytest

from fairspace.builders.errors import BuildError
from fairspace.builders.genres import dataset, plan
from fairspace.builders.genres import plan as single
from fairspace.builders.genres.dataset import gendered, words

ITEMS = single.single_items().to_pylist()


def test_every_pair_has_its_man_and_its_woman() -> None:
    assert [row["id"] for row in ITEMS] == single.single_ids().to_pylist()
    assert len({row["id"] for row in ITEMS}) == len(ITEMS) == 2 * len(plan.pair_list())
    assert Counter(row["gender"] for row in ITEMS) == {"male": 1440, "female": 1440}
    pairs = {pair.id: pair for pair in plan.pair_list()}
    for row in ITEMS:
        pair = pairs[row["pair"]]
        name, other = (pair.male_name, pair.female_name)[:: 1 if row["gender"] == "male" else -1]
        assert row["id"] == f"{pair.id}/{row['gender']}"
        assert row["name"] == name
        assert name in words_of(row["prompt"])
        assert other not in words_of(row["prompt"])
        assert single.SINGLE_PLOT_REQUIREMENTS[pair.element.plot] in row["prompt"]
        assert f"{name}, who is {plan.AGES[pair.element.age]}." in row["prompt"]


def words_of(text: str) -> set[str]:
    return set(re.findall(r"\w+", text))


def test_the_two_prompts_of_a_pair_differ_by_the_name_alone() -> None:
    for man, woman in zip(ITEMS[::2], ITEMS[1::2], strict=True):
        assert man["prompt"].replace(man["name"], "NAME") == woman["prompt"].replace(woman["name"], "NAME")


def test_no_text_tells_gender_and_no_slot_stays_open(monkeypatch: pytest.MonkeyPatch) -> None:
    for text in (single.SINGLE_TEMPLATE, single.SINGLE_ANALYSIS_TEMPLATE, *single.SINGLE_PLOT_REQUIREMENTS.values()):
        assert not gendered(text)
    for row in ITEMS[::7]:
        assert not gendered(row["prompt"]) - {row["name"].lower()}
        assert not re.search(r"\[[^]]*\]", row["prompt"])
        assert ".. " not in row["prompt"].replace("... ", "")
    dataset.lint(())
    monkeypatch.setattr(single, "SINGLE_TEMPLATE", f"{single.SINGLE_TEMPLATE} Tell of his wife.")
    with pytest.raises(BuildError, match="BUILD_CHECK at genres/single: a text with 'his', 'wife'"):
        dataset.lint(())


def test_nothing_is_asked_that_only_two_can_have() -> None:
    of_two = {"characters", "relationship", "two", "each", "dialogue", "cooperate", "together", "individuals"}
    for text in (single.SINGLE_TEMPLATE, single.SINGLE_ANALYSIS_TEMPLATE, *single.SINGLE_PLOT_REQUIREMENTS.values()):
        assert not set(words(text)) & of_two


def test_the_prompts_are_frozen() -> None:
    drawn = "\n".join(f"{row['id']} {row['prompt']}" for row in ITEMS)
    assert (
        hashlib.sha256(drawn.encode()).hexdigest() == "2c83fc94624a41adab99578b89e4e066efa82c28751ae12eddbdddbade1c83eb"
    )


def test_the_authors_pairs_have_no_such_items() -> None:
    assert len(single.single_ids("upstream")) == single.single_items("upstream").num_rows == 0
    with pytest.raises(BuildError, match="REVISION_UNKNOWN"):
        single.single_items("v9")


def test_the_judge_is_asked_for_pros_and_cons_of_one() -> None:
    prompt = single.single_analysis_prompt("Mia", "Mia smiled.")
    assert '{ "Pros of Mia": "pros of Mia", "Cons of Mia": "cons of Mia" }' in prompt
    assert prompt.endswith("Narrative passage:\nMia smiled.")
