import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from fairspace.leaderboard_space.app import create_app
from fairspace.leaderboard_space.settings import Settings
from fairspace.leaderboard_space.space import Space


@pytest.fixture
def space(tmp_path: Path) -> Space:
    told = {"workers": 0, "requests_a_minute": 0, "insecure_local": True, "baselines": 0}
    return Space.open(Settings(store=str(tmp_path / "store"), work=tmp_path / "work", **told))  # type: ignore[arg-type]


def test_jobs_and_the_store_end_whatever_else_fails_to(space: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[str] = []
    for told, (owner, name) in {"jobs": (space.jobs, "stop"), "storage": (space.storage, "close")}.items():
        really = getattr(owner, name)

        def end(*given: object, told: str = told, really: Callable[..., None] = really) -> None:
            ended.append(told)
            really(*given)

        monkeypatch.setattr(owner, name, end)
    app = create_app(space)

    async def fail() -> None:
        async with app.router.lifespan_context(app):
            raise IsADirectoryError

    with pytest.raises(IsADirectoryError):
        asyncio.run(fail())
    assert ended == ["jobs", "storage"]
