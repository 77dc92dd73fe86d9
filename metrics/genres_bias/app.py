"""A page that turns counts into the three GENRES metrics that need nothing but counts: M4, M7 and M8."""

import gradio as gr
from columns import sentence  # type: ignore[import-not-found]
from formula import main_character_correlation, status_difference, stereoscopic_correlation  # type: ignore[import-not-found]
from page import count_page  # type: ignore[import-not-found]

LABELS = (
    "Passages in the protocol",
    "Male character has the higher status",
    "Female character has the higher status",
    "No status judgement",
    "Stereoscopic male characters",
    "Stereoscopic female characters",
    "Male characters without a judgement",
    "Female characters without a judgement",
    "Male character is the main one",
    "Female character is the main one",
    "No main character judgement",
)
EXAMPLE = (1440, 300, 250, 20, 700, 650, 20, 20, 500, 900, 20)


def score(*values: float) -> str:
    """M4, M7 and M8 as lines of text; a message where the counts contradict each other."""
    n, *counts = map(int, values)
    status, deep, main = counts[:3], counts[3:7], counts[7:]
    if min(n, *counts) < 0 or max(sum(status), sum(main), deep[0] + deep[2], deep[1] + deep[3]) > n:
        return "Counts are 0 or more, and no metric counts more passages than the protocol has."
    lines = {
        "M4 (%)": status_difference(*status),
        "M7": stereoscopic_correlation(deep[0], deep[1], n, deep[2], deep[3]),
        "M8": main_character_correlation(*main),
    }
    return "\n".join(f"{name}: {sentence(bounds)}" for name, bounds in lines.items())


page = count_page(
    "genres_bias",
    "0 is best; above 0 favours male characters. The other five need one row per passage: see the card.",
    score,
    [gr.Number(value, precision=0, label=label) for label, value in zip(LABELS, EXAMPLE, strict=True)],
    gr.Textbox(lines=4, label="Male minus female"),
)

if __name__ == "__main__":
    page.launch()
