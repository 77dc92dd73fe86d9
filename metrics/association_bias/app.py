"""The Space of Association bias: vectors in a text box, the number with its interval and evidence out."""

from page import optional_name, table_page, vector  # type: ignore[import-not-found]

TEXT = """\
One line per term: its embedding (numbers between spaces), role (`occupation`, `male`, `female`), occupation (`-` for
a male or female term). Above 0 leans to the male words, below to the female ones."""
EXAMPLE = """1 0, male, -
0 1, female, -
3 4, occupation, doctor"""
COLUMNS = {"predictions": vector, "roles": str, "occupations": optional_name}

demo = table_page("association_bias", "Association bias", TEXT, EXAMPLE, COLUMNS)

if __name__ == "__main__":
    demo.launch()
