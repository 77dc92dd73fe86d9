"""Table A9 from texts that hold its words, files of every kind, and what counts as a word."""

import gzip
import io
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fairspace.submissions.benchmarks.stereotypical_bias import corpus
from tests.metrics.tables import rows

TEXTS = ["Nurses and her brother, he, he", "a nursery for boys", "The nurse's sister; HIS aunts", "", "Mühe: nurse—he"]


def test_texts_with_the_words_of_table_a9_have_its_scores(tmp_path: Path) -> None:
    table = rows("stereobias_tableA9_corpus")
    said = [f"{r['instance']} {'He ' * int(r['male_terms'])}{'woman ' * int(r['female_terms'])}\n" for r in table]
    (tmp_path / "a9.txt").write_text("".join(said), encoding="utf-8")
    frame = corpus.count_corpus([tmp_path]).iloc[:-1]
    printed = [float(r["bias_score_printed"].replace("N/A", "nan").replace("0.862", "0.0862")) for r in table]
    for name in ("corpus_score", "table_a9"):  # chef: E-STEREO-01
        assert frame[name].tolist() == pytest.approx(printed, abs=5.01e-5, nan_ok=True)
    assert not ((frame.corpus_score < frame.low) | (frame.corpus_score > frame.high)).any()


def test_every_kind_of_file_gives_the_same_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = "".join(json.dumps({"caption": text, "x": [1, {}][place % 2]}) + "\n" for place, text in enumerate(TEXTS))
    (tmp_path / "a.jsonl").write_text(lines, encoding="utf-8")
    (tmp_path / "a.ndjson.gz").write_bytes(gzip.compress(lines.encode()))
    pq.write_table(pa.table({"caption": pa.array([*TEXTS, None], pa.large_string())}), tmp_path / "a.parquet")
    monkeypatch.setattr(corpus, "BLOCK", 100)  # several blocks
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO("\n".join(TEXTS).encode())))
    sources: list[str | Path] = ["-", *tmp_path.iterdir()]
    for source in sources:
        frame = corpus.count_corpus([source], "caption")  # men: brother, he, he, HIS, he; women: her, sister, aunts
        assert frame.loc[["nurse", "all texts"]].to_numpy()[:, :3].tolist() == [[3, 5, 3], [4, 6, 3]], source


def test_the_command_counts_and_says_what_it_cannot(tmp_path: Path, run: Any) -> None:
    file, out = tmp_path / "a.jsonl", tmp_path / "a.json"
    for text, words in (('{"a": "cook"}', "it has no text"), ('{"text": 1}', "JSON parse error"), ("", "Empty JSON")):
        file.write_text(text)
        assert words in run("corpus", file)[2]
    file.write_text('{"text": "a cook and her son"}')
    assert run("corpus", tmp_path, "--out", out)[1].splitlines()[9].split()[:5] == ["cook", *"111", "0.0000"]
    assert json.loads(out.read_text())["cook"]["male"] == 1
    assert "no corpus. Expected: a file or a folder of .txt" in run("corpus", out)[2]
