"""Tokens: of texts and images by rule, and of all prompts from a sample of them."""

from io import BytesIO

import pytest
from PIL import Image

from fairspace.submissions.benchmarks.asks import Ask, Part, Shown, Stimulus
from fairspace.submissions.running.asking.parts import parts
from fairspace.submissions.running.errors import RunError
from fairspace.submissions.running.planning.tokens import FRAME, Measured, Span, image_tokens, measure


def png(width: int, height: int) -> bytes:
    data = BytesIO()
    Image.new("RGB", (width, height)).save(data, "PNG")
    return data.getvalue()


def part(lengths: list[int], images: tuple[bytes, ...] = (), asks: int = 1) -> Part:
    """One stimulus per length of its prompts."""

    def read(place: int) -> Shown:
        image = 0 if images else None
        prompt = "x" * lengths[place]
        return Shown(tuple(Ask("t", f"{place}/{n}", 0, prompt, image) for n in range(asks)), images)

    stimuli = [Stimulus(str(place), "t", "", asks) for place in range(len(lengths))]
    return Part("t", stimuli, read, 100, 10, len(lengths) * asks)


@pytest.mark.parametrize(
    ("size", "usual", "most"),
    [
        ((1024, 1024), 765, 765),  # the documentation's own examples: 768 x 768, four squares
        ((2048, 4096), 1105, 1105),  # 1024 x 2048, then 768 x 1536: six squares
        ((4096, 8192), 1105, 1105),
        ((512, 512), 255, 765),
        ((384, 384), 255, 765),  # of IRIS-Ideal-52
        ((400, 200), 255, 1105),  # enlarged to 1536 x 768: six squares
        ((1, 1), 255, 765),
    ],
)
def test_the_documented_rule_of_images(size: tuple[int, int], usual: int, most: int) -> None:
    assert image_tokens(*size) == Span(usual, most)


def test_a_picture_counts_with_every_request_that_it_goes_with() -> None:
    found = measure(part([40, 40], (png(384, 384),), asks=20), [0, 1])
    text = 2 * 20 * (40 / 4 + FRAME)
    assert found == Measured(Span(text + 40 * 255, text + 40 * 765), images_shown=2, images_sent=40, sampled=2)


def test_the_user_may_say_what_an_image_takes() -> None:
    found = measure(part([40], (b"no image at all",)), [0], image=1000)
    assert found.input == Span(1017, 1017)


def test_an_image_that_cannot_be_read_is_an_error() -> None:
    with pytest.raises(RunError, match="DATA_INVALID"):
        measure(part([40], (b"no image at all",)), [0])


def test_nothing_chosen_takes_nothing() -> None:
    assert measure(part([40]), []).input == Span(0, 0)


def test_all_prompts_measured_leave_nothing_open() -> None:
    lengths = [40, 80, 120]
    found = measure(part(lengths), [0, 1, 2])
    assert found.input == Span(60 + 3 * FRAME, 60 + 3 * FRAME)
    assert measure(part(lengths), [1]).input.usual == 20 + FRAME
    assert measure(part(lengths), [0, 1, 2], characters=2).input.usual == 120 + 3 * FRAME


def test_the_interval_of_a_sample_by_hand() -> None:
    # Tokens 10 or 20 a stimulus in a sample of n = 100 of N = 400; s and the correction are those of Cochran.
    lengths = [40 if place % 2 else 80 for place in range(400)]
    found = measure(part(lengths), range(400), sample=100)
    assert found.sampled == 100
    share = (found.input.usual / 400 - FRAME - 10) / 10
    variance = 10**2 * share * (1 - share) * 100 / 99
    error = 400 * (variance / 100 * (1 - 100 / 400)) ** 0.5
    assert found.input.most - found.input.usual == pytest.approx(1.959964 * error)


def test_the_sample_of_a_real_task_is_near_all_of_it() -> None:
    (subjective,) = parts("fact_or_fair", None, tasks=["llm_subjective"])
    positions = range(len(subjective.stimuli))
    sampled, whole = measure(subjective, positions), measure(subjective, positions, sample=len(positions))
    half = sampled.input.most - sampled.input.usual
    assert 0 < half < 0.03 * sampled.input.usual
    assert abs(sampled.input.usual - whole.input.usual) < 1.5 * half
    assert whole.input.usual == whole.input.most
