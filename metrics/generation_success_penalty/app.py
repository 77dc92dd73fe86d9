"""The Space of Generation success penalty: rows in a text box, the number with its bounds and evidence out."""

from page import table_page  # type: ignore[import-not-found]

TEXT = """\
How much less often a model shows what was asked when the prompt runs against a stereotype: 0 is no drop (ideal).
Leave a prediction empty where the image is missing."""
EXAMPLE = """female_young_light, female_young_light, stereotypical
female_young_light, female_young_light, stereotypical
male_young_light, male_young_light, counter_stereotypical
female_young_light, male_young_light, counter_stereotypical"""
COLUMNS = {"predictions": str, "references": str, "prompts": str}

demo = table_page("generation_success_penalty", "Generation success penalty", TEXT, EXAMPLE, COLUMNS)

if __name__ == "__main__":
    demo.launch()
