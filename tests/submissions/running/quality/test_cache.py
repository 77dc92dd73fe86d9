"""What was computed is found again, under its own key alone."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from fairspace.submissions.running.errors import RunError
from fairspace.submissions.running.quality.cache import Vectors, image_key, text_key


def test_vectors_come_back_to_the_bit(tmp_path: Path) -> None:
    values = np.random.default_rng(0).normal(size=7).astype(np.float32)
    with Vectors(tmp_path / "a/cache.sqlite") as vectors:
        vectors.put("clip a", {"image 1": values, "image 2": np.zeros(0, np.float32)})
    with Vectors(tmp_path / "a/cache.sqlite") as vectors:
        found = vectors.get("clip a", "image 1")
        assert found is not None
        assert found.tobytes() == values.tobytes()
        nothing = vectors.get("clip a", "image 2")
        assert nothing is not None
        assert nothing.size == 0
        assert vectors.has("clip a", "image 2")


def test_another_model_image_or_text_has_another_key(tmp_path: Path) -> None:
    with Vectors(tmp_path / "cache.sqlite") as vectors:
        vectors.put("clip a@1", {image_key("00"): np.ones(2, np.float32)})
        assert vectors.get("clip a@2", image_key("00")) is None
        assert vectors.get("clip a@1", image_key("01")) is None
        assert not vectors.has("clip a@1", text_key("00"))
    assert text_key("a nurse") != text_key("a nurse ")


def test_a_killed_process_loses_only_what_it_had_not_put(tmp_path: Path) -> None:
    file = tmp_path / "cache.sqlite"
    script = (
        "import os, signal, sys, numpy as np; from pathlib import Path\n"
        "from fairspace.submissions.running.quality.cache import Vectors\n"
        "vectors = Vectors(Path(sys.argv[1]))\n"
        "vectors.put('m', [(str(n), np.ones(3, np.float32)) for n in range(50)])\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(file)], cwd=Path(__file__).parents[4], check=False)
    assert done.returncode == -9
    with Vectors(file) as vectors:
        assert all(vectors.has("m", str(n)) for n in range(50))


def test_a_file_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no database, but a text that is long enough to look like one" * 20)
    with pytest.raises(RunError, match=r"RUN_OTHER.*a cache of image quality"):
        Vectors(tmp_path / "text")
    other = sqlite3.connect(tmp_path / "other.sqlite")
    other.execute("CREATE TABLE answer (task TEXT)")
    other.close()
    with pytest.raises(RunError, match="RUN_OTHER"):
        Vectors(tmp_path / "other.sqlite")
