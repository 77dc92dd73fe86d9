import shutil
from pathlib import Path

import pytest

from fairspace.submissions.benchmarks.genres.parse import lexicons
from fairspace.submissions.benchmarks.genres.parse import sentences as parsers
from fairspace.submissions.benchmarks.genres.parse.lexicons import (
    REMEDIES,
    NotAvailableError,
    Traits,
    dictionary,
    emotion_labels,
    positive_sentences,
    traits,
    versions,
)
from fairspace.submissions.benchmarks.genres.parse.sentences import (
    CORE_WEB,
    EMBEDDED,
    FILES,
    SETTING,
    ParserError,
    check_files,
    core_web_folder,
    pipeline_name,
)
from tests.submissions.benchmarks.rows import there

HEADER = (
    "original word,Positive valence,Negative valence,Neutral valence,Sociability dictionary,Sociability direction,"
    "Morality dictionary,Morality direction,Ability dictionary,Ability direction,Agency dictionary,Agency direction\n"
)
ROWS = (
    "Kind,1,0,0,1,1,1,1,0,,0,\n"
    "cold,0,0.5,0.5,1,-1,0,NA,0,,0,\n"
    "smart,0.75,0,0.25,0,,0,,1,1,0,\n"
    "lazy,0,1,0,0,,0,,0,,1,-1\n"
    "leader,0.5,0,0.5,1,1,0,,0,,1,1\n"
    "working,NA,,,0,,0,,1,1,0,\n"
)


@pytest.fixture
def scd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "Full Dictionaries.csv"
    path.write_text(HEADER + ROWS, encoding="utf-8")
    monkeypatch.setenv("FAIRSPACE_SCD", str(path))
    return path


@pytest.mark.usefixtures("scd")
def test_direction_is_ignored_as_in_the_paper_and_kept_in_the_directed_variant() -> None:
    words = ["kind", "cold", "smart", "lazy"]
    assert traits(words, dictionary()) == Traits(2, 2, 1 - 0.5 + 0.75 - 1, 4)
    assert traits(words, dictionary(), directed=True) == Traits(1, 1, 1 - 0.5 + 0.75 - 1, 4)


@pytest.mark.usefixtures("scd")
def test_a_word_counts_in_both_dimensions_and_by_its_parts_if_it_is_not_listed_itself() -> None:
    known = dictionary()
    assert traits(["leader"], known) == Traits(1, 1, 0.5, 1)
    assert traits(["working smart"], known) == Traits(0, 2, 0.75, 2)
    assert traits(["unheard"], known) == Traits(0, 0, 0, 0)


def test_without_the_dictionary_the_command_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for setting in ("", "/nowhere/Full Dictionaries.csv"):
        monkeypatch.setenv("FAIRSPACE_SCD", setting)
        with pytest.raises(NotAvailableError) as told:
            dictionary()
        assert "osf.io/yx45f" in lexicons.REMEDIES[str(told.value)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("word,valence\nkind,1\n", "lacks the columns"),
        (HEADER + "kind,much,0,0,1,1,0,,0,,0,\n", "line 2"),
        (HEADER + "kind,inf,0,1,1,0,,0,,0,\n", "not within -1 and 1"),
        (HEADER + "kind,5,0,1,1,0,,0,,0,\n", "not within -1 and 1"),
        ("x" * 200_000 + "\n", "field larger"),
    ],
)
def test_a_dictionary_that_cannot_be_read_or_is_beyond_its_range_is_refused(text: str, message: str, scd: Path) -> None:
    scd.write_text(text, encoding="utf-8")
    with pytest.raises(NotAvailableError, match=message):
        dictionary()


def test_without_the_sentiment_model_or_with_broken_weights_the_command_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("FAIRSPACE_SST2", str(tmp_path))
    broken = checkpoint_texts("good") | {"model.safetensors": "no weights" * 9}
    for files in ({}, {"config.json": '{"model_type": "distilbert"}'} | broken):
        for name, text in files.items():
            (tmp_path / name).write_text(text, encoding="utf-8")
        with pytest.raises(NotAvailableError) as told:
            positive_sentences(["Good."])
        assert "hf download" in lexicons.REMEDIES[str(told.value)]


def checkpoint_texts(*words: str) -> dict[str, str]:
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words, ""]
    return {"vocab.txt": "\n".join(vocabulary), "tokenizer_config.json": '{"tokenizer_class": "DistilBertTokenizer"}'}


def test_the_nrc_lexicon_gives_a_count_of_labels_per_known_word() -> None:
    labels = emotion_labels(["happy", "angry", "qwertz"])
    assert set(labels) == {"happy", "angry"}
    assert all(1 <= count <= 10 for count in labels.values())


@pytest.mark.parametrize("always", ["POSITIVE", "NEGATIVE"])
def test_the_sentiment_is_the_label_of_a_local_checkpoint(
    always: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    import torch
    from transformers import DistilBertConfig, DistilBertForSequenceClassification

    for name, text in checkpoint_texts("good", "bad").items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    labels = {0: "NEGATIVE", 1: "POSITIVE"}
    config = DistilBertConfig(vocab_size=7, dim=8, n_layers=1, n_heads=2, hidden_dim=8, id2label=labels)
    model = DistilBertForSequenceClassification(config)
    with torch.no_grad():
        model.classifier.weight.zero_()
        model.classifier.bias.copy_(torch.tensor([0.0, 1.0] if always == "POSITIVE" else [1.0, 0.0]))
    model.save_pretrained(tmp_path)
    monkeypatch.setenv("FAIRSPACE_SST2", str(tmp_path))
    monkeypatch.setattr(lexicons, "_BATCH", 2)
    texts = ["good", "bad good", "bad " * 600]
    assert positive_sentences(texts) == dict.fromkeys(texts, always == "POSITIVE")


def test_versions_tell_the_word_lists_apart(scd: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    weights = tmp_path / "sst2" / "model.safetensors"
    weights.parent.mkdir()
    weights.write_bytes(b"one")
    monkeypatch.setenv("FAIRSPACE_SST2", str(weights.parent))
    first = versions()
    assert first["emotion_lexicon"].startswith("nrclex@")
    assert first["sentiment"].startswith("sst2@")
    scd.write_text(HEADER, encoding="utf-8")
    weights.write_bytes(b"other")
    assert versions()["stereotype_dictionary"] != first["stereotype_dictionary"]
    assert versions()["sentiment"] != first["sentiment"]


def test_versions_do_not_name_what_is_not_there_or_cannot_be_used(
    scd: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    scd.write_text("word,valence\nkind,1\n", encoding="utf-8")
    monkeypatch.setenv("FAIRSPACE_SST2", str(tmp_path / "nowhere"))
    assert versions()["stereotype_dictionary"] == versions()["sentiment"] == "none"
    for setting in ("FAIRSPACE_SCD", "FAIRSPACE_SST2"):
        monkeypatch.delenv(setting)
    monkeypatch.setattr(lexicons, "_cached", lambda model, name: None)
    assert versions()["stereotype_dictionary"] == versions()["sentiment"] == "none"


@pytest.fixture(autouse=True)
def unset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(SETTING, raising=False)


def test_the_authors_parser_is_taken_where_it_is_installed_and_not_set_otherwise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert pipeline_name() == "en_core_web_sm@3.8.0"
    monkeypatch.setenv(SETTING, EMBEDDED)
    assert pipeline_name() == "en_ewt_small@1.0.0"
    monkeypatch.setenv(SETTING, "stanza")
    with pytest.raises(ParserError, match="'stanza'") as error:
        pipeline_name()
    assert error.value.code == "PARSER_UNKNOWN"
    monkeypatch.setattr(parsers, "core_web_folder", lambda: None)
    monkeypatch.setenv(SETTING, CORE_WEB)
    with pytest.raises(ParserError, match="is not installed"):
        pipeline_name()
    monkeypatch.delenv(SETTING)
    assert pipeline_name() == "en_ewt_small@1.0.0"


def test_a_parser_with_another_file_is_refused(tmp_path: Path) -> None:
    installed = there(core_web_folder())
    folder = tmp_path / "copy"
    shutil.copytree(installed, folder, ignore=shutil.ignore_patterns(*parsers.UNREAD))
    check_files(folder)
    (folder / "config.cfg").write_text("[nlp]", encoding="utf-8")
    with pytest.raises(ParserError, match=r"PARSER_DIFFERS at .*config\.cfg: SHA-256 .*Mend: install it again"):
        check_files(folder)
    (folder / "config.cfg").unlink()
    with pytest.raises(ParserError, match="no file"):
        check_files(folder)


def test_every_file_that_is_read_is_pinned() -> None:
    installed = there(core_web_folder())
    names = {str(path.relative_to(installed)) for path in installed.rglob("*") if path.is_file()}
    unread = {name for name in names if name.startswith(tuple(f"{part}/" for part in parsers.UNREAD))}
    assert names - unread - set(FILES) == {"LICENSE", "LICENSES_SOURCES", "README.md", "accuracy.json"}


def test_without_any_parser_the_message_says_how_to_get_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(parsers, "FOLDER", tmp_path)
    monkeypatch.setattr(parsers, "core_web_folder", lambda: None)
    with pytest.raises(NotAvailableError) as told:
        parsers._loaded.__wrapped__(EMBEDDED)
    assert "en_core_web_sm" in REMEDIES[str(told.value)]
