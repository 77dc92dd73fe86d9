import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairspace.submissions.answers.prepared import HEAD, TAIL, prepare
from tests.machine_speed import takes_less
from tests.submissions.answers.phrases import phrases

TAGS = ("think", "thinking", "reasoning", "scratchpad")
PIECES = (
    *("<think>", "</think>", "<reasoning>", "</reasoning>", "◁think▷", "◁/think▷", "[THINK]", "[/THINK]"),
    *("<|im_start|>", "<|im_end|>", "</s>", "[INST]", "```json\n", "```", "**", "_", "\n# ", "<answer>", "“quoted”"),
    *("ﬁ", "Ｂ", "\u200b", "İ", "\t", "\r\n", "\ud800"),
)
TEXTS = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=12)), max_size=20).map("".join)
PLAIN = st.text(st.characters(categories=["Lu", "Ll", "Nd"], max_codepoint=0x7F), min_size=1, max_size=30).filter(
    lambda text: text.lower() not in ("assistant", "model", "gpt", "bot", "ai")
)


@given(TEXTS)
def test_every_character_keeps_its_place_or_is_blank(raw: str) -> None:
    prepared = prepare(raw)
    assert len(prepared.text) == len(raw)
    for place, character in enumerate(prepared.text):
        kept = raw[place] == character or character in " \n"
        assert kept or prepare(f"x{raw[place]}x").text == f"x{character}x", (place, raw[place], character)
    assert prepared.span(0, len(raw)) == (0, len(raw))


@given(st.text(st.characters(categories=["Lu", "Ll"], max_codepoint=0x7F), min_size=1, max_size=5), st.data())
def test_a_span_of_a_long_answer_is_a_span_of_the_raw_one(word: str, data: st.DataObject) -> None:
    filler = "filler words " * 3_000
    place = data.draw(st.one_of(st.integers(0, HEAD - 20), st.integers(len(filler) - TAIL + 20, len(filler))))
    raw = f"{filler[:place]} §{word}§ {filler[place:]}"
    prepared = prepare(raw)
    assert len(prepared.text) == HEAD + TAIL
    start = prepared.text.index("§")
    end = prepared.text.index("§", start + 1) + 1
    first, last = prepared.span(start, end)
    assert raw[first:last] == f"§{word}§"


@given(thought=TEXTS.filter(lambda text: "channel" not in text), answer=PLAIN, tag=st.sampled_from(TAGS))
def test_what_is_thought_before_the_answer_is_not_read(thought: str, answer: str, tag: str) -> None:
    for raw in (f"<{tag}>{thought}</{tag}>{answer}", f"{thought}</{tag}>\n{answer}"):
        assert prepare(raw).text.strip() == prepare(f"<{tag}></{tag}>{answer}").text.strip() == answer.strip()


@given(answer=PLAIN, thought=PLAIN)
def test_nested_and_repeated_reasoning_ends_with_its_last_end(answer: str, thought: str) -> None:
    nested = f"<think>{thought}<think>{thought}</think>{thought}</think>{answer}"
    twice = f"<think>{thought}</think>{thought}<think>{thought}</think>{answer}"
    assert prepare(nested).text.strip() == prepare(twice).text.strip() == answer


@given(answer=PLAIN, thought=PLAIN)
def test_reasoning_that_never_ends_is_no_answer(answer: str, thought: str) -> None:
    cut = prepare(f"<think>{thought}")
    assert (cut.cut_off, cut.empty) == (True, True)
    after = prepare(f"<think>{thought}</think>{answer}<think>{thought}")
    assert (after.cut_off, after.text.strip()) == (False, answer)
    before = prepare(f"{answer} <think>{thought}")
    assert (before.cut_off, before.text.strip()) == (False, answer)


@pytest.mark.parametrize("line", phrases("answers", "prepared"), ids=lambda line: line["answer"])
def test_what_surrounds_an_answer_is_blanked_out_and_what_carries_it_stays(line: dict[str, str]) -> None:
    assert " ".join(prepare(line["answer"]).text.split()) == line["gold"]


@pytest.mark.parametrize(
    "unit", [*PIECES, "*", "`", "``` ", "a_", "~", "> ", "[/INST", "<|im_end", " ", "<s", "```é\n"]
)
def test_a_million_characters_take_less_than_a_second(unit: str) -> None:
    raw = (unit * (1_000_000 // len(unit) + 1))[:1_000_000]
    assert takes_less(lambda: prepare(raw), 1)
