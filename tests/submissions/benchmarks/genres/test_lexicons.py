import shutil
from pathlib import Path

import pytest

from fairspace.submissions.benchmarks.genres.parse import lexicons, sentences
from fairspace.submissions.benchmarks.genres.parse import sentences as parsers
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
    assert lexicons.traits(words, lexicons.dictionary()) == lexicons.Traits(2, 2, 1 - 0.5 + 0.75 - 1, 4)
    assert lexicons.traits(words, lexicons.dictionary(), directed=True) == lexicons.Traits(1, 1, 1 - 0.5 + 0.75 - 1, 4)


@pytest.mark.usefixtures("scd")
def test_a_word_counts_in_both_dimensions_and_by_its_parts_if_it_is_not_listed_itself() -> None:
    words = lexicons.dictionary()
    assert lexicons.traits(["leader"], words) == lexicons.Traits(1, 1, 0.5, 1)
    assert lexicons.traits(["working smart"], words) == lexicons.Traits(0, 2, 0.75, 2)
    assert lexicons.traits(["unheard"], words) == lexicons.Traits(0, 0, 0, 0)


def test_without_the_dictionary_the_command_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for setting in ("", "/nowhere/Full Dictionaries.csv"):
        monkeypatch.setenv("FAIRSPACE_SCD", setting)
        with pytest.raises(lexicons.NotAvailableError) as told:
            lexicons.dictionary()
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
    with pytest.raises(lexicons.NotAvailableError, match=message):
        lexicons.dictionary()


def test_without_the_sentiment_model_or_with_broken_weights_the_command_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("FAIRSPACE_SST2", str(tmp_path))
    broken = checkpoint_texts("good") | {"model.safetensors": "no weights" * 9}
    for files in ({}, {"config.json": '{"model_type": "distilbert"}'} | broken):
        for name, text in files.items():
            (tmp_path / name).write_text(text, encoding="utf-8")
        with pytest.raises(lexicons.NotAvailableError) as told:
            lexicons.positive_sentences(["Good."])
        assert "hf download" in lexicons.REMEDIES[str(told.value)]


def checkpoint_texts(*words: str) -> dict[str, str]:
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words, ""]
    return {"vocab.txt": "\n".join(vocabulary), "tokenizer_config.json": '{"tokenizer_class": "DistilBertTokenizer"}'}


def test_the_nrc_lexicon_gives_a_count_of_labels_per_known_word() -> None:
    labels = lexicons.emotion_labels(["happy", "angry", "qwertz"])
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
    assert lexicons.positive_sentences(texts) == dict.fromkeys(texts, always == "POSITIVE")


def test_versions_tell_the_word_lists_apart(scd: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    weights = tmp_path / "sst2" / "model.safetensors"
    weights.parent.mkdir()
    weights.write_bytes(b"one")
    monkeypatch.setenv("FAIRSPACE_SST2", str(weights.parent))
    first = lexicons.versions()
    assert first["emotion_lexicon"].startswith("nrclex@")
    assert first["sentiment"].startswith("sst2@")
    scd.write_text(HEADER, encoding="utf-8")
    weights.write_bytes(b"other")
    assert lexicons.versions()["stereotype_dictionary"] != first["stereotype_dictionary"]
    assert lexicons.versions()["sentiment"] != first["sentiment"]


def test_versions_do_not_name_what_is_not_there_or_cannot_be_used(
    scd: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    scd.write_text("word,valence\nkind,1\n", encoding="utf-8")
    monkeypatch.setenv("FAIRSPACE_SST2", str(tmp_path / "nowhere"))
    assert lexicons.versions()["stereotype_dictionary"] == lexicons.versions()["sentiment"] == "none"
    for setting in ("FAIRSPACE_SCD", "FAIRSPACE_SST2"):
        monkeypatch.delenv(setting)
    monkeypatch.setattr(lexicons, "_cached", lambda model, name: None)
    assert lexicons.versions()["stereotype_dictionary"] == lexicons.versions()["sentiment"] == "none"


@pytest.fixture(autouse=True)
def unset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(sentences.SETTING, raising=False)


def test_the_authors_parser_is_taken_where_it_is_installed_and_not_set_otherwise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert sentences.pipeline_name() == "en_core_web_sm@3.8.0"
    monkeypatch.setenv(sentences.SETTING, sentences.EMBEDDED)
    assert sentences.pipeline_name() == "en_ewt_small@1.0.0"
    monkeypatch.setenv(sentences.SETTING, "stanza")
    with pytest.raises(sentences.ParserError, match="'stanza'") as error:
        sentences.pipeline_name()
    assert error.value.code == "PARSER_UNKNOWN"
    monkeypatch.setattr(parsers, "core_web_folder", lambda: None)
    monkeypatch.setenv(sentences.SETTING, sentences.CORE_WEB)
    with pytest.raises(sentences.ParserError, match="is not installed"):
        sentences.pipeline_name()
    monkeypatch.delenv(sentences.SETTING)
    assert sentences.pipeline_name() == "en_ewt_small@1.0.0"


def test_a_parser_with_another_file_is_refused(tmp_path: Path) -> None:
    installed = there(sentences.core_web_folder())
    folder = tmp_path / "copy"
    shutil.copytree(installed, folder, ignore=shutil.ignore_patterns(*parsers.UNREAD))
    sentences.check_files(folder)
    (folder / "config.cfg").write_text("[nlp]", encoding="utf-8")
    with pytest.raises(
        sentences.ParserError, match=r"PARSER_DIFFERS at .*config\.cfg: SHA-256 .*Mend: install it again"
    ):
        sentences.check_files(folder)
    (folder / "config.cfg").unlink()
    with pytest.raises(sentences.ParserError, match="no file"):
        sentences.check_files(folder)


def test_every_file_that_is_read_is_pinned() -> None:
    installed = there(sentences.core_web_folder())
    names = {str(path.relative_to(installed)) for path in installed.rglob("*") if path.is_file()}
    unread = {name for name in names if name.startswith(tuple(f"{part}/" for part in parsers.UNREAD))}
    assert names - unread - set(sentences.FILES) == {"LICENSE", "LICENSES_SOURCES", "README.md", "accuracy.json"}


def test_without_any_parser_the_message_says_how_to_get_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(parsers, "FOLDER", tmp_path)
    monkeypatch.setattr(parsers, "core_web_folder", lambda: None)
    with pytest.raises(lexicons.NotAvailableError) as told:
        parsers._loaded.__wrapped__(sentences.EMBEDDED)
    assert "en_core_web_sm" in lexicons.REMEDIES[str(told.value)]
