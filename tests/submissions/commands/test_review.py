"""The command review: forms, agreement as a table and as JSON, and what it refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from fairspace.builders.engine.reviews import read_reviews
from tests.builders.engine.test_reviewing import PEOPLE, fill, made, people, right

Run = Callable[..., tuple[int, str, str]]


def test_forms_are_written_and_the_agreement_of_two_is_said(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fairspace.builders.registry.dataset", lambda name: people())
    built = made(tmp_path / "people")
    code, printed, _ = run("review", "forms", built, "--out", tmp_path / "forms")
    assert (code, "fairspace review agree" in printed) == (0, True)
    forms = [fill(tmp_path / f"forms/reviewer-{n}.csv", right) for n in (1, 2)]
    code, printed, _ = run("review", "agree", built, *forms, "--out", tmp_path / "reviewed.jsonl")
    assert code == 0
    assert "1.00 [" in printed
    assert "one answer only" in printed
    assert len(json.loads(read_reviews(tmp_path / "reviewed.jsonl"))) == PEOPLE
    rows = json.loads(run("review", "agree", built, *forms, "--json")[1])
    assert {row["column"]: row["kappa"]["kappa"] for row in rows} == {"age": 1.0, "job": None}


def test_a_dataset_without_labels_to_check_is_refused(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fairspace.builders.registry.dataset", lambda name: replace(people(), questions={}))
    code, _, error = run("review", "forms", made(tmp_path / "people"), "--out", tmp_path / "forms")
    assert code == 2
    assert "people has no labels of images" in error
    code, _, error = run("build", "fact_or_fair", "--reviewed", "x.jsonl", "--out", tmp_path / "x")
    assert code == 2
    assert "has no labels of images that reviewers" in error
