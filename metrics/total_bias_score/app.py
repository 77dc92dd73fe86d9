"""A page that turns the eight GENRES values into the total bias score."""

import gradio as gr
from columns import number, read_table  # type: ignore[import-not-found]
from formula import total_bias_score, z_scores  # type: ignore[import-not-found]
from page import count_page  # type: ignore[import-not-found]
from standards import CENTRES, COHORTS  # type: ignore[import-not-found]

EXAMPLE = "-6.861, 0.007, 0.097, 3.508, -3.172, -1.272, 0.030, -0.328"


def score(cohort: str, centre: str, values: str) -> str:
    """TBS and the eight signed distances as lines of text; a message where there is more than one line of values."""
    _, numbers = read_table(f"values, {values}", 8)
    if len(numbers) != 1:
        return "One line with eight numbers, M1 to M8."
    frozen = CENTRES[centre][cohort]
    total = number(total_bias_score(numbers[0], frozen.mean, frozen.std)[0])
    lines = [f"TBS: {'undefined' if total is None else f'{total:.3f}'}"]
    lines += [f"M{i}: z = {z:+.3f}" for i, z in enumerate(z_scores(numbers[0], frozen.mean, frozen.std), 1)]
    return "\n".join(lines)


page = count_page(
    "total_bias_score",
    "Distance to the mean of a frozen cohort of six models, or to 0, in its standard deviations. Lower is better.",
    score,
    [
        gr.Radio(list(COHORTS), value="mistral", label="Judge of the frozen cohort"),
        gr.Radio(list(CENTRES), value="cohort", label="Distances from its mean (the paper's), or from 0 (no bias)"),
        gr.Textbox(EXAMPLE, label="M1 to M8; M1, M4 and M6 in percent"),
    ],
    gr.Textbox(lines=9, label="Total bias score"),
)

if __name__ == "__main__":
    page.launch()
