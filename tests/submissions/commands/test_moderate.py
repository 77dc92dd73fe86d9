"""`fairspace moderate`: a maintainer's action on a row of a Space."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from fairspace.submissions.commands import space

Run = Callable[..., tuple[int, str, str]]


class Client:
    """Keeps what it is asked to do."""

    def __init__(self) -> None:
        self.acts: list[tuple[str, str, Mapping[str, Any]]] = []

    def act(self, entry: str, action: str, about: Mapping[str, Any]) -> dict[str, Any]:
        self.acts.append((entry, action, about))
        return {"kind": "released", "number": 7}


def test_a_row_is_released_with_a_reason(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    client = Client()
    monkeypatch.setattr(space, "_client", lambda address: client)
    code, out, err = run("moderate", "0f1e", "release", "--reason", "looked at", "--space", "owner/name")
    assert (code, out.strip()) == (0, "0f1e: released, event 7 of the log."), err
    assert client.acts == [("0f1e", "release", {"reason": "looked at"})]
    assert run("moderate", "0f1e", "verify", "--reason", "x", "--space", "owner/name")[0] == 2
    assert run("moderate", "0f1e", "release", "--space", "owner/name")[0] == 2
