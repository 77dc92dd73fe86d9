import hashlib
from pathlib import Path

import pytest

from fairspace.submissions.errors import RunError
from fairspace.submissions.running.local import found


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
