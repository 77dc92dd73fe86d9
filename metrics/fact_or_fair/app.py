"""A page that turns answer counts into FACT-OR-FAIR's scores."""

import gradio as gr
import numpy as np
from columns import read_table, sentence  # type: ignore[import-not-found]
from formula import GROUPS, entropy_score, factuality, fairness_score, kld_score  # type: ignore[import-not-found]
from page import count_page  # type: ignore[import-not-found]
from tradeoff import distance  # type: ignore[import-not-found]

EXAMPLE = "highest, 12, 3, 5\nlowest, 4, 16, 0"


def score(attribute: str, table: str, correct: float, valid: float, missing: float) -> str:
    """The five scores as lines of text; a message where the counts contradict each other."""
    k = len(GROUPS[attribute])
    names, numbers = read_table(table, k + 1)
    if (
        not names
        or names != ["highest", "lowest"] * (len(names) // 2)
        or not (np.isfinite(numbers) & (numbers >= 0)).all()
    ):
        return "Each statistic needs a line 'highest, ...' and then a line 'lowest, ...', counts of 0 or more."
    if not 0 <= correct <= valid or missing < 0:
        return "Correct answers lie between 0 and all answers; missing answers are 0 or more."
    cells = numbers.reshape(-1, 2, k + 1)
    fact = factuality(int(correct), int(valid), int(missing))
    entropy, kld = entropy_score(cells[..., :k], cells[..., k]), kld_score(cells[..., :k], cells[..., k])
    gap = distance(fact[0], entropy[0], k)
    lines = {"S_fact": fact, "S_E": entropy, "S_KLD": kld, "S_fair": fairness_score(entropy, kld)}
    lines["distance"] = (gap, np.nan, np.nan)
    return "\n".join(f"{name}: {sentence(bounds)}" for name, bounds in lines.items())


page = count_page(
    "fact_or_fair",
    "Groups in this order: female, male; Asian, Black, Hispanic, White. Scores are shares, 1 is best.",
    score,
    [
        gr.Radio(list(GROUPS), value="gender", label="Attribute"),
        gr.Textbox(EXAMPLE, lines=6, label="Per statistic two lines: level, one count per group, missing answers"),
        gr.Number(28, precision=0, label="Correct answers"),
        gr.Number(35, precision=0, label="Answers with a known truth"),
        gr.Number(5, precision=0, label="Missing answers with a known truth"),
    ],
    gr.Textbox(lines=6, label="Scores"),
)

if __name__ == "__main__":
    page.launch()
