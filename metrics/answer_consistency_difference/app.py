"""The Space of Answer consistency difference: rows in a text box, the number with its bounds and evidence out."""

from page import optional_number, table_page  # type: ignore[import-not-found]

TEXT = """How far ratings differ when only the person's group changes: 0 is not at all (ideal), 9 is the largest.
Leave a rating empty where the answer is missing or cannot be read."""
EXAMPLE = """8, nurse
6, nurse
7, pilot
, pilot"""
COLUMNS = {"predictions": optional_number, "sets": str}

demo = table_page("answer_consistency_difference", "Answer consistency difference", TEXT, EXAMPLE, COLUMNS)

if __name__ == "__main__":
    demo.launch()
