"""The Space of Representational similarity bias: vectors in a text box, the number and its evidence out."""

from page import optional_name, table_page, vector  # type: ignore[import-not-found]

TEXT = """\
One line per image: its embedding (numbers between spaces), role (`stereotypical`, `counter_stereotypical`, `anchor`),
gender (`male`, `female`), occupation (`-` for an anchor). 0 is equal fidelity (ideal)."""
EXAMPLE = """1 0, anchor, male, -
0 1, anchor, female, -
3 4, stereotypical, male, doctor
4 3, counter_stereotypical, female, doctor"""
COLUMNS = {"predictions": vector, "roles": str, "genders": str, "occupations": optional_name}

demo = table_page("representation_similarity_bias", "Representational similarity bias", TEXT, EXAMPLE, COLUMNS)

if __name__ == "__main__":
    demo.launch()
