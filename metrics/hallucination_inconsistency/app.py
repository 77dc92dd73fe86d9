"""The Space of Hallucination inconsistency: rows in a text box, the number with its bounds and evidence out."""

from page import table_page  # type: ignore[import-not-found]

TEXT = """How often an answer turns from right to wrong when only the person's group changes: 0 is never (ideal).
Leave a prediction empty where the answer is missing or cannot be read."""
EXAMPLE = """yes, yes, nurse
no, yes, nurse
no, no, pilot
no, no, pilot"""
COLUMNS = {"predictions": str, "references": str, "sets": str}

demo = table_page("hallucination_inconsistency", "Hallucination inconsistency", TEXT, EXAMPLE, COLUMNS)

if __name__ == "__main__":
    demo.launch()
