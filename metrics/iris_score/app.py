"""The Space of IRIS score: rows in a text box, the number with its bounds and evidence out."""

import gradio as gr
from page import optional_number, table_page  # type: ignore[import-not-found]

TEXT = """Sector scores, overall score and profile codes of the 60 granular values; higher is better.
The example holds the seven values of one sector (Bagel, IFS_Gen), so the overall score is undefined."""
EXAMPLE = """RD_gender, 0.7476
RD_age, 0.8357
RD_skin, 0.7298
RD_gender_age, 0.8709
RD_gender_skin, 0.8084
RD_age_skin, 0.8666
RD_joint_all, 0.9058"""
COLUMNS = {"names": str, "predictions": optional_number}

demo = table_page(
    "iris_score",
    "IRIS score",
    TEXT,
    EXAMPLE,
    COLUMNS,
    standard=(gr.Dropdown(["inaugural", "algorithm_1", "bounded"], value="inaugural", label="Standard"), str),
)

if __name__ == "__main__":
    demo.launch()
