"""The served answers are read by this project's parsers, and vary; refusals and mumbling are read as nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice

import numpy as np
import pyarrow as pa
import pytest

from fairspace.builders.fact_or_fair import plan as fact_or_fair
from fairspace.builders.fact_or_fair.statistics import LEVELS
from fairspace.builders.genres import plan as genres
from fairspace.builders.iris.groups import OCCUPATIONS
from fairspace.builders.iris_ideal_52 import plan as iris_ideal_52
from fairspace.builders.iris_steer_60 import plan as iris_steer_60
from fairspace.builders.stereotypical_bias import plan as stereotypical_bias
from fairspace.submissions.benchmarks.fact_or_fair.parse.columns import (
    NO_CHOICE,
    option_codes,
    questions_of,
    read_question,
    subjective_readings,
)
from fairspace.submissions.benchmarks.fact_or_fair.parse.objective import Question, read_objective
from fairspace.submissions.benchmarks.genres.parse.judge import read_narrative, read_profile
from fairspace.submissions.benchmarks.genres.parse.response import split
from fairspace.submissions.benchmarks.iris.parse.labels import read_label, read_rating
from fairspace.submissions.benchmarks.iris.parse.occupation import OpenTerm, read_occupation, read_winner
from fairspace.submissions.benchmarks.stereotypical_bias.parse import read_group, read_side
from fairspace.submissions.benchmarks.stereotypical_bias.parse.sides import Scene
from tests.served.answers import answer, recognise, refusing, unreadable
from tests.served.keys import Request, chat_request

SEEDS = range(8)


def asked(prompt: str, seed: int = 0, image: str = "data:image/png;base64,AAAA") -> Request:
    shown = {"type": "image_url", "image_url": {"url": image}}
    content = [shown, {"type": "text", "text": prompt}]
    return chat_request({"messages": [{"role": "user", "content": content}], "seed": seed})


def answers(kind: str, prompts: Iterable[str], seeds: Iterable[int] = SEEDS) -> list[tuple[str, str]]:
    """Prompt and answer, all of one kind of prompt."""
    found = []
    for prompt in prompts:
        assert recognise(prompt)[0].name == kind, prompt
        found += [(prompt, answer(asked(prompt, seed))) for seed in seeds]
    return found


def nothing(prompts: Iterable[str], read: Callable[[str], object], none: Iterable[object] = (None,)) -> None:
    """Refusals and mumbling are read as nothing."""
    for prompt in prompts:
        for seed in SEEDS:
            for text in (refusing(asked(prompt, seed)), unreadable(asked(prompt, seed))):
                assert read(text) in none, text


def test_narratives_are_split_and_name_both_characters() -> None:
    pairs = genres.pair_list()[::48]
    prompts = {genres.text_prompt(pair): pair for pair in pairs}
    texts = set()
    for prompt, text in answers("genres_narrative", prompts, range(4)):
        parts = split(text, prompts[prompt].names)
        assert parts.narrative is not None, (parts, text)
        assert not parts.lacks, (parts, text)
        for name, profile in zip(prompts[prompt].names, parts.profiles, strict=True):
            assert profile is not None
            assert profile.startswith(name)
            assert parts.narrative.count(name) >= 2
        assert "Shown" not in parts.narrative
        texts.add(parts.narrative)
    assert len(texts) > 0.95 * 4 * len(prompts)
    nothing(islice(prompts, 2), lambda text: split(text, pairs[0].names).narrative)


def test_profiles_are_judged_by_their_own_traits_and_broken_json_is_none() -> None:
    pair = genres.pair_list()[0]
    parts = split(answer(asked(genres.text_prompt(pair))), pair.names)
    assert not parts.lacks
    prompts = [genres.profile_prompt(profile) for profile in (*filter(None, parts.profiles), "Somebody.")]
    for prompt, text in answers("genres_profile", prompts):
        judged = read_profile(text)
        assert judged is not None
        assert len(judged.words) >= 2
        if "Somebody" not in prompt:
            assert all(word in prompt for word in judged.words)
    nothing(prompts, read_profile)


def test_narratives_are_judged_in_every_field_and_broken_json_is_none() -> None:
    pairs = genres.pair_list()[::160]
    prompts = {
        genres.narrative_prompt(*pair.names, pair.element.relation, pair.element.plot, "They met."): pair
        for pair in pairs
    }
    seen = set()
    for prompt, text in answers("genres_analysis", prompts):
        judged = read_narrative(text, prompts[prompt].names)
        assert judged is not None
        assert None not in (judged.status, judged.main, judged.stereoscopic)
        seen.add((judged.status, judged.main))
    assert len(seen) == 9
    nothing(prompts, lambda text: read_narrative(text, pairs[0].names))


def test_objective_queries_get_one_of_the_offered_groups() -> None:
    rows = fact_or_fair.items("llm_objective").to_pylist()
    for row, question in zip(rows, questions_of("v2"), strict=True):
        found = {
            read_question(text, question).value
            for _, text in answers("fact_or_fair_objective", [row["prompt"]], range(24))
        }
        assert found <= set(question.groups), found
        assert len(found) > 1
    nothing((row["prompt"] for row in rows[:4]), lambda text: read_objective(text, Question("race", LEVELS[0])).value)


def test_subjective_queries_get_one_of_the_four_options() -> None:
    rows = fact_or_fair.items("llm_subjective")
    step = 97
    prompts = rows["prompt"].to_pylist()[::step]
    texts = [answer(asked(prompt)) for prompt in prompts]
    places, drawn = np.arange(len(rows))[::step], fact_or_fair.draws()
    readings = subjective_readings(pa.chunked_array([texts]), places, drawn)
    assert set(option_codes(readings).tolist()) == {0, 1, 2, 3}
    wrong = [refusing(asked(prompt)) for prompt in prompts] + [unreadable(asked(prompt)) for prompt in prompts]
    readings = subjective_readings(pa.chunked_array([wrong]), np.tile(places, 2), drawn)
    assert (option_codes(readings) == NO_CHOICE).all()
    assert recognise(prompts[0])[0].name == "fact_or_fair_subjective"


@pytest.mark.parametrize("prefix", stereotypical_bias.PREFIXES)
def test_stereotypical_bias_gets_a_side_or_a_group_with_every_prefix(prefix: str) -> None:
    for attribute in stereotypical_bias.ATTRIBUTES:
        vision = [
            stereotypical_bias.with_prefix(prompt, prefix, attribute)
            for prompt in stereotypical_bias.items(f"vision_{attribute}")["prompt"][:20].to_pylist()
        ]
        left, right = stereotypical_bias.GROUPS[attribute][:2]
        scene = Scene("pilot", left, right)
        sides = {read_side(text, scene).value for _, text in answers("stereotypical_bias_vision", vision)}
        assert sides == {"left", "right"}
        nothing(vision, lambda text: read_side(text, scene).value)  # noqa: B023 - called at once
        language = [
            stereotypical_bias.with_prefix(prompt, prefix, attribute)
            for prompt in stereotypical_bias.items(f"language_{attribute}")["prompt"].unique().to_pylist()
        ]
        found = answers(f"stereotypical_bias_{attribute}", language[:: 1 if attribute == "gender" else 7])
        assert {read_group(text, attribute).value for _, text in found} == set(stereotypical_bias.GROUPS[attribute])
        nothing(language[:3], lambda text: read_group(text, attribute).value)  # noqa: B023 - called at once


def test_occupations_need_no_embedding_and_tournaments_have_one_winner() -> None:
    images = [asked(iris_ideal_52.QUESTION, image=f"data:image/png;base64,{number}") for number in range(1000)]
    read = [read_occupation(answer(image)) for image in images]
    assert {one.value for one in read if not isinstance(one, OpenTerm)} == set(OCCUPATIONS)
    assert not any(isinstance(one, OpenTerm) for one in read)
    for number in range(0, 36_000, 500):
        prompt = iris_ideal_52.tournament_prompt(number)
        five = iris_ideal_52.tournament_competitors()[number].tolist()
        for _, text in answers("iris_tournament", [prompt], range(3)):
            assert read_winner(text, five).value in {OCCUPATIONS[code] for code in five}
    assert all(read_occupation(refusing(image)).rule == "refusal" for image in images)


@pytest.mark.parametrize("occupation", ["nurse", "basketball player", "disk jockey"])
def test_pair_questions_get_a_rating_or_a_label(occupation: str) -> None:
    ratings = [template.format(occupation=occupation) for template in iris_steer_60.SUBJECTIVE.values()]
    numbers = {read_rating(text).value for _, text in answers("iris_rating", ratings, range(20))}
    assert numbers == {float(number) for number in range(1, 11)}
    nothing(ratings, lambda text: read_rating(text).value)
    for question, template in iris_steer_60.OBJECTIVE.items():
        prompt = template.format(occupation=occupation)
        found = answers(f"iris_label_{question}", [prompt], range(80))
        assert {read_label(text, question).value for _, text in found} == set(iris_steer_60.LABELS[question])
        nothing([prompt], lambda text: read_label(text, question).value)  # noqa: B023 - called at once


def test_an_answer_depends_on_messages_image_and_seed_alone() -> None:
    prompt = genres.text_prompt(genres.pair_list()[0])
    first = answer(asked(prompt))
    assert answer(asked(prompt)) == first
    assert answer(asked(prompt, seed=1)) != first
    assert answer(asked(prompt, image="data:image/png;base64,BBBB")) != first
    assert answer(asked(prompt), choice=1) != first
    system = {"role": "system", "content": "Be brief."}
    user = {"role": "user", "content": prompt}
    assert answer(chat_request({"messages": [system, user]})) != answer(chat_request({"messages": [user]}))


def test_other_prompts_get_a_plain_sentence() -> None:
    assert recognise("How are you?")[0].name == "other"
    assert answer(asked("How are you?")).endswith(".")
