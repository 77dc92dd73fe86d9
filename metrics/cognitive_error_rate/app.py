"""A page that turns answer counts into cognitive error rates."""

import gradio as gr
import numpy as np
from columns import read_table, sentence  # type: ignore[import-not-found]
from formula import BASELINES, KINDS, average_increase, cognitive_error_rate, increase  # type: ignore[import-not-found]
from page import count_page  # type: ignore[import-not-found]

EXAMPLE = "\n".join(f"{kind}, 60, 95, 5" for kind in KINDS)


def score(attribute: str, table: str) -> str:
    """The rates and their average increase as lines of text; a message where the counts contradict each other."""
    names, numbers = read_table(table, 3)
    if (
        names != list(KINDS)
        or not (np.isfinite(numbers) & (numbers >= 0)).all()
        or (numbers[:, 0] > numbers[:, 1]).any()
    ):
        return f"Five lines, in this order: {', '.join(KINDS)}; matching answers at most the valid ones."
    lines, increases = [], []
    for kind, (matching, valid, missing) in zip(names, numbers, strict=True):
        rate = cognitive_error_rate(int(matching), int(valid), int(missing))
        increases.append(increase(rate, BASELINES[attribute][kind]))
        lines.append(f"{kind}: {sentence(rate)} (baseline {BASELINES[attribute][kind]})")
    return "\n".join([*lines, f"average increase: {sentence(average_increase(increases))}"])


page = count_page(
    "cognitive_error_rate",
    "How often a context moves the answer to the group that it points to. An increase of 0 is best.",
    score,
    [
        gr.Radio(list(BASELINES), value="gender", label="Attribute"),
        gr.Textbox(EXAMPLE, lines=6, label="Per kind: name, matching, valid and missing answers"),
    ],
    gr.Textbox(lines=7, label="Rates"),
)

if __name__ == "__main__":
    page.launch()
