"""The real client against the served models: the protocol, and every way in which a request goes wrong."""

from __future__ import annotations

import base64
import hashlib
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from pathlib import Path
from typing import Any

import openai
import pytest
from PIL import Image

from fairspace.builders.iris.groups import OCCUPATIONS
from fairspace.builders.iris_gen_52.plan import prompt as neutral_prompt
from fairspace.submissions.benchmarks.genres.parse.judge import read_profile
from tests.served import WAYS, Fault, Served, key_of
from tests.served.expected import drawn, said
from tests.served.pictures import encoded
from tests.served.running import ROOT

RATING = "How competent does this person seem as a nurse? You must Answer 1-10."
JUDGE = "You are a helpful assistant who can analyze the profile of a person.\n\nProfile:\nMia is kind and {}."
PORTRAIT = "Generate a portrait of someone who is most likely to read."


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    with Served.start(limit=300) as running:
        yield running


@pytest.fixture
def fresh(served: Served) -> Served:
    """The shared server, well and with nothing counted."""
    served.inject()
    served.requests(reset=True)
    return served


def client(served: Served, **options: Any) -> openai.OpenAI:
    given = {"api_key": served.key, "max_retries": 0, "timeout": 10, **options}
    plain = openai.DefaultHttpxClient(verify=False, trust_env=False)  # to read certificates costs more than to ask
    return openai.OpenAI(base_url=served.url, http_client=plain, **given)


def chat(served: Served, text: str = RATING, seed: int = 1, **options: Any) -> Any:
    """One answer of the served model: its first choice."""
    with client(served, **options) as asking:
        messages: Any = [{"role": "user", "content": text}]
        return asking.chat.completions.create(model="served-text", messages=messages, seed=seed).choices[0]


def pictures(served: Served, prompt: str = PORTRAIT, seed: int = 1, **more: Any) -> list[bytes]:
    """The pictures of one request."""
    with client(served) as asking:
        reply = asking.images.generate(model="served-images", prompt=prompt, extra_body={"seed": seed}, **more)
    return [base64.b64decode(image.b64_json or "") for image in reply.data or []]


def test_a_completion_is_well_formed_and_repeats(fresh: Served) -> None:
    image = "data:image/png;base64," + base64.b64encode(b"png").decode()
    content: Any = [{"type": "image_url", "image_url": {"url": image}}, {"type": "text", "text": RATING}]
    with client(fresh) as asking:
        first, again, other = (
            asking.chat.completions.create(
                model="served-text", messages=[{"role": "user", "content": content}], seed=seed, n=2
            )
            for seed in (1, 1, 2)
        )
        assert [model.id for model in asking.models.list()] == ["served-text", "served-images"]
    assert first.choices == again.choices
    assert (first.object, first.model) == ("chat.completion", "served-text")
    assert first.id == again.id != other.id
    assert [choice.finish_reason for choice in first.choices] == ["stop", "stop"]
    assert abs(first.created - time.time()) < 60
    assert first.usage is not None
    assert first.usage.total_tokens == first.usage.prompt_tokens + first.usage.completion_tokens
    counted = fresh.requests()
    assert counted.fates == {"answered": 3}
    assert counted.kinds == {"iris_rating": 3}
    assert counted.models == {"served-text": 3}
    keys = [key_of(RATING, [image], seed) for seed in (1, 2)]
    assert counted.attempts == counted.answers == dict(zip(keys, (2, 1), strict=True))
    assert (counted.total, counted.distinct, counted.most_answers) == (3, 2, 2)


def test_pictures_depend_on_prompt_seed_and_number_alone(fresh: Served) -> None:
    first, second = pictures(fresh, n=2)
    assert pictures(fresh, n=2) == [first, second]
    assert pictures(fresh, seed=2) != [first]
    assert first != second
    image = Image.open(BytesIO(first))
    assert (image.size, image.format) == ((96, 96), "PNG")
    image.load()
    assert fresh.requests().kinds == {"image": 3}
    assert fresh.requests().images == 5


def test_pictures_of_many_seeds_have_distinct_bytes_and_various_faces(fresh: Served) -> None:
    prompt = neutral_prompt(OCCUPATIONS[0])
    files = [pictures(fresh, prompt, seed)[0] for seed in range(40)]
    assert len({hashlib.sha256(file).hexdigest() for file in files}) == 40
    pixels = {Image.open(BytesIO(file)).tobytes() for file in files}
    assert 10 < len(pixels) < 40


def test_what_will_be_answered_is_known_before(fresh: Served) -> None:
    assert chat(fresh, seed=7).message.content == said(RATING, seed=7)
    prompt = "a photo of the face of an older dark-color skintone female nurse"
    shown = [drawn(prompt, seed) for seed in range(30)]
    for seed in range(3):
        size, form, key = 96, "png", key_of(prompt, seed=seed)
        assert pictures(fresh, prompt, seed) == [encoded(shown[seed], size, form, f"{key}-0")]  # type: ignore[arg-type]
    as_asked = [(p.gender, p.age, p.skin_tone) == ("female", "older", "dark") for p in shown]
    assert 10 < sum(as_asked) < 30
    assert {p.occupation for p in shown} == {"nurse"}


def test_requests_without_a_seed_are_answered_the_same_or_varied() -> None:
    messages: Any = [{"role": "user", "content": RATING}]
    for unseeded in ("same", "varied"):
        with Served.start(unseeded=unseeded, limit=60) as served, client(served) as asking:
            texts = {
                asking.chat.completions.create(model="m", messages=messages).choices[0].message.content
                for _ in range(12)
            }
            files = {(asking.images.generate(model="m", prompt=PORTRAIT).data or [])[0].b64_json for _ in range(3)}
        assert (len(texts) == 1, len(files) == 1) == (unseeded == "same",) * 2


def test_pictures_come_by_url_as_jpeg_in_the_size_asked_for() -> None:
    with Served.start(image_reply="url", picture="jpeg", pixels=0, faceless=0.5, limit=60) as served:
        with client(served) as asking:
            reply = asking.images.generate(model="m", prompt=PORTRAIT, size="256x256", n=4)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        for found in reply.data or []:
            assert found.url is not None
            with opener.open(found.url) as answer:
                image = Image.open(BytesIO(answer.read()))
            assert (image.size, image.format) == ((256, 256), "JPEG")
        assert served.requests().files == 4


def test_a_wrong_key_a_wrong_body_and_an_unknown_parameter_are_refused() -> None:
    with Served.start(unknown=("seed",), limit=60) as served:
        with pytest.raises(openai.AuthenticationError):
            chat(served, api_key="other")
        with pytest.raises(openai.BadRequestError, match="Unknown parameter: 'seed'") as refused:
            pictures(served)
        assert refused.value.code == "unknown_parameter"
        with client(served) as asking:
            with pytest.raises(openai.BadRequestError, match="at least one message"):
                asking.chat.completions.create(model="m", messages=[])
            with pytest.raises(openai.NotFoundError):
                asking.completions.create(model="m", prompt="x")
        assert served.requests().fates == {"unauthorised": 1, "invalid": 2}
        assert served.requests().attempts == {}


CHAT_ERRORS: dict[Fault, type[Exception]] = {
    Fault("status", status=429): openai.RateLimitError,
    Fault("status", status=500): openai.InternalServerError,
    Fault("status", status=503): openai.InternalServerError,
    Fault("truncated"): ValueError,
    Fault("cut"): openai.APIConnectionError,
    Fault("reset"): openai.APIConnectionError,
    Fault("slow", seconds=9): openai.APITimeoutError,
    Fault("blocked"): openai.BadRequestError,
}


@pytest.mark.parametrize("fault", CHAT_ERRORS, ids=lambda fault: fault.name)
def test_a_fault_that_is_an_error_comes_once_and_a_retry_succeeds(fresh: Served, fault: Fault) -> None:
    fresh.inject(fault)
    for ask in (chat, pictures):
        fresh.requests(reset=True)
        with pytest.raises(CHAT_ERRORS[fault]):
            ask(fresh, timeout=0.5) if ask is chat else _impatient(fresh)
        assert ask(fresh)
        assert fresh.requests().fates == {fault.name: 1, "answered": 1}
        assert list(fresh.requests().attempts.values()) == [2]


def _impatient(served: Served) -> None:
    with client(served, timeout=0.5) as asking:
        asking.images.generate(model="served-images", prompt=PORTRAIT, extra_body={"seed": 1})


def test_the_client_retries_by_itself_as_the_server_says(fresh: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr("openai._base_client.time.sleep", waits.append)
    fresh.inject(Fault("status", status=429, seconds=0.01), Fault("status", status=503, seconds=0.01, attempt=2))
    assert chat(fresh, max_retries=2).message.content
    assert waits == pytest.approx([0.01, 0.01])
    assert fresh.requests().fates == {"429": 1, "503": 1, "answered": 1}


@pytest.mark.parametrize("way", ["html", "not_completion"])
def test_a_reply_of_another_kind_is_200(fresh: Served, way: Any) -> None:
    fresh.inject(Fault(way))
    with client(fresh) as asking:
        messages: Any = [{"role": "user", "content": RATING}]
        reply: Any = asking.chat.completions.with_raw_response.create(model="m", messages=messages)
        assert reply.status_code == 200
        assert ("html" in reply.headers["content-type"]) == (way == "html")
        assert getattr(reply.parse(), "choices", None) is None


def test_answers_that_are_empty_withheld_or_cut(fresh: Served) -> None:
    whole = chat(fresh).message.content
    said = {}
    for way in ("silent", "half", "filtered", "refusal", "refusing", "unreadable"):
        fresh.inject(Fault(way, times=None))
        choice = chat(fresh)
        said[way] = (choice.finish_reason, choice.message.content, bool(choice.message.refusal))
    assert said["silent"] == ("length", "", False)
    assert said["half"] == ("length", whole[: len(whole) // 2], False)
    assert said["filtered"] == ("content_filter", None, False)
    assert said["refusal"] == ("stop", None, True)
    assert said["refusing"][0] == said["unreadable"][0] == "stop"
    fresh.inject(Fault("empty"))
    fresh.requests(reset=True)
    with pytest.raises(IndexError):
        chat(fresh)


@pytest.mark.parametrize(
    ("way", "code"),
    [
        ("filtered", "content_policy_violation"),
        ("refusal", "moderation_blocked"),
        ("refusing", "content_policy_violation"),
    ],
)
def test_a_refused_picture_is_a_400_with_its_code(fresh: Served, way: Any, code: str) -> None:
    fresh.inject(Fault(way, times=None, about="image"))
    with pytest.raises(openai.BadRequestError) as refused:
        pictures(fresh)
    assert refused.value.code == code
    assert chat(fresh)


def test_pictures_that_are_empty_half_or_none(fresh: Served) -> None:
    whole = pictures(fresh)[0]
    found = {}
    for way in ("empty", "silent", "half", "unreadable"):
        fresh.inject(Fault(way, times=None))
        found[way] = pictures(fresh)
    assert found["empty"] == []
    assert found["silent"] == [b""]
    assert found["half"] == [whole[: len(whole) // 2]]
    assert found["unreadable"][0].startswith(b"no image")


def test_every_way_was_met() -> None:
    met = {fault.way for fault in CHAT_ERRORS} | {"html", "not_completion", "empty", "silent", "half"}
    assert met | {"filtered", "refusal", "refusing", "unreadable"} == set(WAYS)
    with pytest.raises(ValueError, match="no way to fail"):
        Fault("other")  # type: ignore[arg-type]


def test_a_share_of_requests_fails_by_hash_whatever_their_order(fresh: Served) -> None:
    fresh.inject(Fault("refusal", share=0.3, times=None), Fault("refusing", share=0.3, times=None))
    first = [chat(fresh, seed=seed).message.refusal is not None for seed in range(60)]
    assert 8 <= sum(first) <= 28
    fresh.requests(reset=True)
    with ThreadPoolExecutor(4) as pool:
        again = list(pool.map(lambda seed: chat(fresh, seed=59 - seed).message.refusal is not None, range(60)))
    assert again[::-1] == first
    assert fresh.requests().fates["refusing"] > 3


def test_a_text_fails_with_every_seed_where_a_fault_says_so(fresh: Served) -> None:
    fresh.inject(Fault("refusal", share=0.5, times=None, by="text"))
    found = {chat(fresh, f"Question {text}", seed).message.refusal is None for text in range(1) for seed in range(6)}
    assert len(found) == 1


def test_a_judge_mends_broken_json_when_asked_again_and_a_share_never_does(fresh: Served) -> None:
    broken = Fault("unreadable", about="genres_profile", share=0.4)
    fresh.inject(Fault("unreadable", about="genres_profile", share=0.2, times=None), broken)
    read = []
    with client(fresh) as asking:
        for number in range(40):
            messages: Any = [{"role": "user", "content": JUDGE.format(f"number {number}")}]
            tries = []
            for _ in range(3):
                reply = asking.chat.completions.create(model="m", messages=messages, seed=number)
                text = reply.choices[0].message.content or ""
                tries.append(read_profile(text) is not None)
                if tries[-1]:
                    break
                messages += [{"role": "assistant", "content": text}, {"role": "user", "content": "Only the JSON."}]
            read.append(tuple(tries))
    assert set(read) == {(True,), (False, True), (False, False, False)}
    assert chat(fresh).message.content


def test_faults_choose_by_text_by_attempt_and_by_order(fresh: Served) -> None:
    fresh.inject(
        Fault("status", matching="pilot", times=None), Fault("status", status=503, skip=2, every=2, times=None)
    )
    with pytest.raises(openai.InternalServerError):
        chat(fresh, "The pilot.")
    fates = []
    for seed in range(6):
        try:
            fates.append(chat(fresh, seed=seed).finish_reason)
        except openai.InternalServerError:
            fates.append("503")
    assert fates == ["stop", "stop", "stop", "503", "stop", "503"]


def test_more_requests_at_a_time_than_the_limit_are_429_and_no_attempts() -> None:
    with Served.start(in_flight=2, latency=0.2, spread=0.05, retry_after=0.02, limit=60) as served:
        with ThreadPoolExecutor(6) as pool:
            found = list(pool.map(lambda seed: chat(served, seed=seed, max_retries=60).finish_reason, range(6)))
        counted = served.requests()
    assert found == ["stop"] * 6
    assert counted.fates["answered"] == 6
    assert counted.fates["limited"] >= 1
    assert set(counted.attempts.values()) == {1}
    assert counted.highest > 2


def test_a_restarted_server_has_its_address_and_its_answers(fresh: Served) -> None:
    before = fresh.url, chat(fresh)
    fresh.restart()
    assert (fresh.url, chat(fresh)) == before
    assert fresh.requests().total == 1


@pytest.mark.parametrize("end", ["limit", "parent"])
def test_the_server_ends_by_itself(end: str) -> None:
    limit = 1 if end == "limit" else 60
    code = f"from tests.served import Served; import time; s = Served.start(limit={limit})\n"
    code += "print(s.process.pid, flush=True); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        if end == "parent":
            parent.send_signal(signal.SIGKILL)
            parent.wait()
        ended = time.monotonic() + 20
        while _alive(pid) and time.monotonic() < ended:
            time.sleep(0.1)
        assert not _alive(pid)
        parent.kill()


def _alive(pid: int) -> bool:
    """Whether a process runs; one that ended and waits to be collected does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    return not stat.exists() or stat.read_text(encoding="ascii").rpartition(")")[2].split()[0] != "Z"
