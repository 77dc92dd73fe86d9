import hashlib
from pathlib import Path
from typing import Any

import pytest

from fairspace.builders.engine.tools import ImagePrompt
from fairspace.submissions.benchmarks.task import Ask
from fairspace.submissions.errors import RunError
from fairspace.submissions.running.images import models as image_endpoint
from fairspace.submissions.running.images.making import ImageReport, make_images
from fairspace.submissions.running.images.models import open_image_model
from tests.served import Fault, Served
from tests.served.faults import Way

SERVED = {"pixels": 32}


@pytest.fixture(autouse=True)
def well(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    served.inject()
    served.requests(reset=True)
    monkeypatch.setattr(image_endpoint, "_WAIT", 0.001)


def model(served: Served, settings: str = "") -> Any:
    return open_image_model(f"endpoint:{served.url}#served-images?seed=true&size=64{settings}")


def asks(count: int, name: str = "") -> list[Ask]:
    return [Ask("t2i_objective", f"t2i_objective/{name}{n // 20}", n % 20, f"A person {n // 20}") for n in range(count)]


def run(served: Served, folder: Path, count: int, settings: str = "", **more: Any) -> ImageReport:
    return make_images(asks(count), model(served, settings), folder, seed=1, **more)


def hashes(report: ImageReport) -> list[str]:
    return [hashlib.sha256(shard.read_bytes()).hexdigest() for shard in report.shards]


def test_images_come_with_their_seeds_and_several_at_once(served: Served, tmp_path: Path) -> None:
    served.inject(Fault("slow", seconds=0.05))
    report = run(served, tmp_path, 40)
    told = served.requests()
    assert report.fates == {"answered": 40, "refused": 0, "failed": 0}
    assert (told.distinct, told.most_answers) == (40, 1)
    assert 4 <= told.highest <= 8


def test_a_server_that_gives_one_image_twice_ends_the_run_at_the_second(served: Served, tmp_path: Path) -> None:
    """As SGLang, the served model draws alike where it gets no seed."""
    images = open_image_model(f"endpoint:{served.url}#served-images?seed=false&concurrency=1&size=default")
    assert images.settings()["seeded"] == "no"
    with pytest.raises(RunError, match=r"DUPLICATE_IMAGE.*sample 1 of .*employ.*as sample 0.*SGLang draws with 42"):
        make_images(asks(5, "employment"), images, tmp_path, seed=1)
    assert served.requests().total == 2
    alone = asks(60)[::20]
    assert make_images(alone, images, tmp_path / "alone", seed=1).fates["answered"] == 3


WAYS: tuple[Way, ...] = ("reset", "cut", "truncated", "html", "not_completion", "empty", "silent", "half", "unreadable")
TRANSIENT = [
    Fault("status", status=429, seconds=0.01, share=0.3),
    Fault("status", status=500, share=0.3),
    *(Fault(way, share=0.3) for way in WAYS),
]


def test_what_goes_wrong_once_is_asked_again_and_changes_no_byte(served: Served, tmp_path: Path) -> None:
    whole = run(served, tmp_path / "whole", 70)
    served.requests(reset=True)
    served.inject(*TRANSIENT)
    spoiled = run(served, tmp_path / "spoiled", 70)
    told = served.requests()
    assert told.total > 100
    assert told.most_answers == 1
    assert spoiled.fates == {"answered": 70, "refused": 0, "failed": 0}
    assert hashes(spoiled) == hashes(whole)


def test_a_timeout_is_asked_again(served: Served, tmp_path: Path) -> None:
    served.inject(Fault("slow", seconds=5))
    assert run(served, tmp_path, 3, "&timeout=0.5").fates["answered"] == 3


@pytest.mark.parametrize("way", ["filtered", "refusal", "blocked", "refusing"])
def test_what_a_filter_withholds_is_refused_and_not_asked_again(served: Served, tmp_path: Path, way: Way) -> None:
    served.inject(Fault(way, share=0.3, times=None))
    report = run(served, tmp_path, 20)
    told = served.requests()
    assert 0 < report.fates["refused"] < 20
    assert report.fates["answered"] + report.fates["refused"] == 20
    assert told.total == 20
    (reason,) = set(report.reasons)
    assert reason.startswith("refused: status 400")


@pytest.mark.parametrize("way", ["status", "half", "html", "truncated", "reset"])
def test_attempts_are_bounded_and_then_it_has_failed(served: Served, way: Way) -> None:
    served.inject(Fault(way, times=None, matching="spoiled"))
    bad, good = model(served, "&attempts=3").make([ImagePrompt("spoiled", 1), ImagePrompt("well", 1)])
    assert (bad.fate, good.fate) == ("failed", "answered")
    assert served.requests().total == 4


def test_client_retries_and_bad_bodies_share_the_attempts(served: Served) -> None:
    served.inject(Fault("status", status=500, times=2), Fault("empty", attempt=3, times=None))
    (made,) = model(served, "&attempts=4").make([ImagePrompt("a nurse", 1)])
    assert (made.fate, made.reason) == ("failed", "an answer that holds no image")
    assert served.requests().total == 4


def test_a_server_that_dies_ends_the_run_and_fails_at_nothing(served: Served, tmp_path: Path) -> None:
    served.inject(Fault("status", status=503, times=None, skip=30))
    with pytest.raises(RunError, match=r"MODEL_SILENT at served-images.*status 503"):
        run(served, tmp_path, 70, "&attempts=1&concurrency=2")
    served.inject()
    assert run(served, tmp_path, 70).fates["failed"] == 0


def test_a_wrong_key_or_address_ends_the_run_at_once(
    served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    images = open_image_model(f"endpoint:{served.address}/elsewhere#served-images")
    with pytest.raises(RunError, match=r"MODEL_UNKNOWN.*often ends with /v1"):
        make_images(asks(5), images, tmp_path / "a", seed=1)
    monkeypatch.setenv("OTHER_KEY", "wrong")
    with pytest.raises(RunError, match=r"^(?!.*wrong)MODEL_UNKNOWN.*status 401.*set OPENAI_API_KEY"):
        run(served, tmp_path / "b", 5, "&key=OTHER_KEY")
    monkeypatch.setenv("OTHER_KEY", served.key)
    monkeypatch.setenv("OPENAI_API_KEY", "wrong")
    assert run(served, tmp_path / "b", 5, "&key=OTHER_KEY").fates["answered"] == 5


def test_a_key_is_not_sent_over_http_to_other_machines() -> None:
    assert open_image_model("endpoint:http://example.org/v1#m")._client.api_key == "none"  # type: ignore[attr-defined]
    assert open_image_model("endpoint:https://example.org/v1#m")._client.api_key != "none"  # type: ignore[attr-defined]


@pytest.mark.parametrize("unknown", [("response_format",), ("seed",), ("seed", "response_format")])
def test_fields_that_a_model_does_not_know_are_dropped_once_and_said(tmp_path: Path, unknown: tuple[str, ...]) -> None:
    with Served.start(pixels=32, unknown=unknown) as other:
        for start in ("first", "again"):  # the second has nothing left to ask
            images = open_image_model(f"endpoint:{other.url}#served-images?concurrency=1")
            report = make_images(asks(60)[::20], images, tmp_path, seed=1)
            assert (report.fates["answered"], report.refused) == (3, tuple(sorted(unknown))), start
        told = other.requests()
        assert (told.images, told.fates["invalid"]) == (3, len(unknown))
