import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from fairspace.submissions.errors import RunError
from fairspace.submissions.running.quality.measuring import Vectors, image_key
from tests.submissions.running.quality.factory import Fixed


def test_vectors_come_back_to_the_bit_under_their_own_key(tmp_path: Path) -> None:
    values = np.random.default_rng(0).normal(size=7).astype(np.float32)
    with closing(Vectors(tmp_path / "a/cache.sqlite")) as vectors:
        vectors.put(Fixed({}, "clip a"), {image_key("1"): values, image_key("2"): np.zeros(0, np.float32)})
    with closing(Vectors(tmp_path / "a/cache.sqlite")) as vectors:
        found, nothing = (vectors.get("clip a", image_key(name)) for name in "12")
        assert found is not None
        assert found.tobytes() == values.tobytes()
        assert nothing is not None
        assert nothing.size == 0
        assert vectors.get("clip b", image_key("1")) is None
        assert vectors.get("clip a", image_key("3")) is None


def test_a_file_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no database, but a text that is long enough to look like one" * 20)
    with pytest.raises(RunError, match=r"RUN_OTHER.*a cache of image quality"):
        Vectors(tmp_path / "text")
    other = sqlite3.connect(tmp_path / "other.sqlite")
    other.execute("CREATE TABLE answer (task TEXT)")
    other.close()
    with pytest.raises(RunError, match="RUN_OTHER"):
        Vectors(tmp_path / "other.sqlite")
