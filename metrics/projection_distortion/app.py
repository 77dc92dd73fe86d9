"""The Space of Projection distortion: vectors in a text box, the number with its interval and evidence out."""

from page import table_page, vector  # type: ignore[import-not-found]

TEXT = """\
One line per prompt: embedding after the projection, embedding before it (numbers between spaces), role (`neutral`,
`stereotypical`, `counter_stereotypical`), occupation. 1 keeps the geometry (ideal)."""
EXAMPLE = """1 0, 1 0, neutral, doctor
3 4, 0 1, stereotypical, doctor
0 1, 0 1, counter_stereotypical, doctor"""
COLUMNS = {"predictions": vector, "references": vector, "roles": str, "occupations": str}

demo = table_page("projection_distortion", "Projection distortion", TEXT, EXAMPLE, COLUMNS)

if __name__ == "__main__":
    demo.launch()
