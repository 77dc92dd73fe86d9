import tomllib
from pathlib import Path

QUICK = Path(__file__).with_name("quick.toml").read_text(encoding="utf-8")
"""A configuration that trains in seconds, without tasks."""
FAST = tomllib.loads(QUICK)["fast"]["config"]
TASKS = """
[[tasks]]
name = "age_gender"
arbiter = "vote"

[[tasks]]
name = "skin_tone"
"""
ACCESSORIES = """
[[tasks]]
name = "accessories"
labels = ["with", "without"]
prompts = ["a drawing of a person with glasses or a tie", "a drawing of a person"]
attributes = { accessories = ["with", "without"] }
arbiter = "vote"
"""


def quick_config(file: Path, *changes: tuple[str, str], tasks: str = TASKS) -> Path:
    """Write the configuration with texts replaced, and the tasks behind it."""
    text = QUICK
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    file.write_text(text + tasks, encoding="utf-8")
    return file
