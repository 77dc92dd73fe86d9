"""The words of benchmarks: each text once, checked when it is read, and in README's table."""

from pathlib import Path

import pytest

from fairspace.submissions.benchmarks import words as reading
from fairspace.submissions.benchmarks.registry import NAMES, benchmark
from fairspace.submissions.benchmarks.words import readme_table, words_of
from tests.papers import NAMES as PAPERS

ROOT = Path(__file__).parents[3]
TEXTS = """title = "Pronouns"
question = "She or he?"
[parts]
group = ["female", "non_binary"]
[parts.kind]
a = "first"
[protocols]
v1 = "One prompt."
"prefix *" = "After *."
[metrics.spd]
"gap_{group}{kind?}{group?}" = "gap: {group}, {kind}, {group}"
"""


def of(monkeypatch: pytest.MonkeyPatch, folder: Path, text: str) -> reading.Words:
    monkeypatch.setattr(reading, "FOLDER", folder)
    (folder / "toy").mkdir()
    (folder / "toy" / "words.toml").write_text(text, encoding="utf-8")
    return words_of.__wrapped__("toy")


def test_names_and_protocols_are_read_by_their_parts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    toy = of(monkeypatch, tmp_path, TEXTS)
    assert toy.short == "Pronouns"
    assert toy.value("gap_female") == ("gap: female", "spd")
    assert toy.value("gap_female_a_non_binary") == ("gap: female, first, non binary", "spd")
    assert toy.value("gap_non_binary_female")[0] == "gap: non binary, female"
    assert toy.value("gap_a") == toy.value("gap_female_") == ("", "")
    assert toy.protocol("v1, prefix be kind, text only") == "One prompt. After be kind. The model was shown no image."
    assert toy.protocol("v1, another") == toy.protocol("v1, prefix ") == ""


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ('title = "Pronouns"', "", "title: Field required"),
        ('question = "She or he?"', "question = 3", "question: Input should be a valid string"),
        ("[protocols]", "[protocol]", "protocol: Extra inputs are not permitted"),
        ("{kind?}", "{sort?}", "'sort', which is no table of `parts`"),
        (": {group},", ":", "differ in their fields"),
        ('title = "', "title = ", "line 1"),
    ],
)
def test_a_fault_is_named_with_file_and_key(
    old: str, new: str, fault: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=r"toy/words\.toml: ") as raised:
        of(monkeypatch, tmp_path, TEXTS.replace(old, new, 1))
    assert fault in str(raised.value)
    assert "CONTRIBUTING.md" in str(raised.value)


@pytest.mark.parametrize("name", NAMES)
def test_the_words_of_a_benchmark_name_what_is_there(name: str) -> None:
    bench = benchmark(name)
    assert set(bench.words.standards) <= set(bench.standards)
    folders = {path.name for path in (ROOT / "metrics").iterdir()}
    assert set(bench.words.metrics) <= folders
    assert bench.words.asked
    assert bench.words.best


def test_the_table_of_readme_is_made_of_the_words() -> None:
    assert readme_table(PAPERS) in (ROOT / "README.md").read_text(encoding="utf-8")
