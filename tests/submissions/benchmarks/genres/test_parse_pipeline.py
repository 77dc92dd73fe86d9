"""Which parser reads the narratives, and that it is the pinned one."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from fairspace.submissions.benchmarks.genres.parse import sentences as parsers
from fairspace.submissions.benchmarks.genres.parse.lexicons import REMEDIES, NotAvailableError
from fairspace.submissions.benchmarks.genres.parse.sentences import (
    CODES,
    CORE_WEB,
    EMBEDDED,
    FILES,
    SETTING,
    ParserError,
    check_files,
    core_web_folder,
    pipeline_name,
)


@pytest.fixture(autouse=True)
def unset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(SETTING, raising=False)


def test_the_authors_parser_is_taken_where_it_is_installed() -> None:
    assert pipeline_name() == "en_core_web_sm@3.8.0"


def test_without_its_package_the_embedded_one_parses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parsers, "core_web_folder", lambda: None)
    assert pipeline_name() == "en_ewt_small@1.0.0"


def test_the_setting_names_the_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SETTING, EMBEDDED)
    assert pipeline_name() == "en_ewt_small@1.0.0"
    monkeypatch.setenv(SETTING, "stanza")
    with pytest.raises(ParserError, match="'stanza'") as error:
        pipeline_name()
    assert error.value.code == "PARSER_UNKNOWN"
    monkeypatch.setenv(SETTING, CORE_WEB)
    monkeypatch.setattr(parsers, "core_web_folder", lambda: None)
    with pytest.raises(ParserError, match="is not installed"):
        pipeline_name()


def test_a_parser_with_another_file_is_refused(tmp_path: Path) -> None:
    installed = core_web_folder()
    assert installed is not None
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
    installed = core_web_folder()
    assert installed is not None
    names = {str(path.relative_to(installed)) for path in installed.rglob("*") if path.is_file()}
    unread = {name for name in names if name.startswith(tuple(f"{part}/" for part in parsers.UNREAD))}
    assert names - unread - set(FILES) == {"LICENSE", "LICENSES_SOURCES", "README.md", "accuracy.json"}


def test_without_any_parser_the_message_says_how_to_get_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(parsers, "FOLDER", tmp_path)
    monkeypatch.setattr(parsers, "core_web_folder", lambda: None)
    with pytest.raises(NotAvailableError) as told:
        parsers._loaded.__wrapped__(EMBEDDED)
    assert "en_core_web_sm" in REMEDIES[str(told.value)]


def test_every_code_is_explained() -> None:
    assert set(CODES) == {"PARSER_UNKNOWN", "PARSER_DIFFERS"}
