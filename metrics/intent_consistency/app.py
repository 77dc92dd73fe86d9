"""The Space of Intent consistency: vectors in a text box, the number with its interval and evidence out."""

from page import table_page, vector  # type: ignore[import-not-found]

TEXT = "One line per paraphrase: its embedding (numbers between spaces), concept. 1 is one vector for all wordings."
EXAMPLE = """1 0, male doctor
3 4, male doctor
0 1, male doctor"""
COLUMNS = {"predictions": vector, "concepts": str}

demo = table_page("intent_consistency", "Intent consistency", TEXT, EXAMPLE, COLUMNS)

if __name__ == "__main__":
    demo.launch()
