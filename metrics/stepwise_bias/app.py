"""The Space of Step-wise bias: vectors in a text box, the number with its interval and evidence out."""

from page import optional_name, table_page, vector  # type: ignore[import-not-found]

TEXT = """\
One line per latent: the latent (numbers between spaces), step, role (`occupation`; `male` or `female` for those of the
direction), occupation (`-` for those of the direction). 0 or less is ideal."""
EXAMPLE = """1 0, 0, male, -
-1 0, 0, female, -
0 1, 0, occupation, doctor
3 4, 1, occupation, doctor"""
COLUMNS = {"predictions": vector, "steps": int, "roles": str, "occupations": optional_name}

demo = table_page("stepwise_bias", "Step-wise bias", TEXT, EXAMPLE, COLUMNS)

if __name__ == "__main__":
    demo.launch()
