"""The Space of Embedding complexity: vectors in a text box, the number with its interval and evidence out."""

from page import table_page, vector  # type: ignore[import-not-found]

TEXT = """\
One line per vector: the vector (numbers between spaces), role (`stereotypical`, `counter_stereotypical`), occupation,
embedding (the prompt it belongs to). 0 is no difference."""
EXAMPLE = """2 0, stereotypical, doctor, first
-2 0, stereotypical, doctor, first
1 0, counter_stereotypical, doctor, first
-1 0, counter_stereotypical, doctor, first
0 1, counter_stereotypical, doctor, first
0 -1, counter_stereotypical, doctor, first"""
COLUMNS = {"predictions": vector, "roles": str, "occupations": str, "embeddings": str}

demo = table_page("embedding_complexity", "Embedding complexity", TEXT, EXAMPLE, COLUMNS)

if __name__ == "__main__":
    demo.launch()
