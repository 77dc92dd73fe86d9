"""The Space of Between-group variance: a rate per group in a text box, the unbiased variance out."""

import gradio as gr
from columns import number, read_table  # type: ignore[import-not-found]
from formula import between_group_variance, plain_variance, rate_variance  # type: ignore[import-not-found]
from page import count_page  # type: ignore[import-not-found]

EXAMPLE = """female, 0.82, 200
male, 0.86, 180
nonbinary, 0.75, 20"""


def score(table: str) -> str:
    """The variance before and after the correction as lines of text."""
    _, rows = read_table(table, 2)
    rates, samples = rows.T
    if not ((rates >= 0) & (rates <= 1) & (samples >= 2)).all():
        return "Each line: a group, its rate between 0 and 1, and its number of samples, 2 or more."
    value = number(float(between_group_variance(rates, rate_variance(rates, samples))))
    plain = number(float(plain_variance(rates)))
    if value is None or plain is None:
        return "Two groups or more are needed."
    return f"Variance between groups: {value:.6f}\nBefore the correction: {plain:.6f}"


page = count_page(
    "Between-group variance",
    "How far the rates of groups differ, less what sampling error adds. 0 is ideal; a negative estimate says that the "
    "groups differ less than their sampling errors.",
    score,
    [gr.Textbox(EXAMPLE, lines=6, label="One group per line: name, rate, samples")],
    gr.Textbox(lines=2, label="Variance"),
)

if __name__ == "__main__":
    page.launch()
