import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fairspace.builders.errors import BuildError
from fairspace.builders.models.describing import EndpointDescriber, FileDescriber, parse
from tests.ares.test_endpoint import Endpoint, completion, refusal, serving

FIVE = [f"two people talking, scene {n}" for n in range(5)]
GOOD = "\n".join(f"[start]{one}[end]" for one in FIVE)


@pytest.fixture
def serve() -> Iterator[Any]:
    with serving(lambda url, **how: EndpointDescriber(url, "writer", **how)) as start:

        def scripted(*script: tuple[int, dict[str, str], str], **how: Any) -> tuple[Endpoint, EndpointDescriber]:
            """Serve these (status, headers, text) in turn; the last repeats."""
            *answers, last = (
                (status, headers, completion(text)) if status == 200 else refusal(status, headers=headers)
                for status, headers, text in script
            )
            return start(*answers, then=lambda body: last, **how)

        yield scripted


def test_the_papers_form_is_read() -> None:
    assert parse(GOOD) == FIVE
    assert parse(f" {GOOD.replace(FIVE[0], ' a  b ')} ")[0] == "a b"


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("", "0 descriptions"),
        (GOOD + "[start]six[end]", "6 descriptions"),
        ("Here they are: " + GOOD, "text outside"),
        (GOOD.replace(FIVE[2], " "), "an empty description"),
        (GOOD.replace(FIVE[2], FIVE[1]), "for the second time"),
        (GOOD.replace("[end]", "", 1), "inside of a description"),
        (GOOD[:-5], "text outside"),
    ],
)
def test_another_form_is_refused(answer: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        parse(answer)


def test_the_endpoint_gets_the_prompt_and_the_key_but_the_name_tells_no_key(serve: Any) -> None:
    endpoint, describer = serve((200, {}, GOOD), temperature=0.5)
    assert describer.describe("cs/1", "Please generate 5 different prompts") == FIVE
    _, key, body = endpoint.requests[0]
    assert key == "Bearer secret-key"
    assert body["messages"] == [{"role": "user", "content": "Please generate 5 different prompts"}]
    assert (body["model"], body["temperature"]) == ("writer", 0.5)
    assert describer.name == "writer at 127.0.0.1 temperature 0.5"


def test_an_endpoint_that_keeps_failing_ends_the_build(serve: Any) -> None:
    endpoint, describer = serve((500, {"retry-after-ms": "1"}, "oops"), retries=2)
    with pytest.raises(BuildError, match=r"TOOL_OUTPUT at cs/1, asked of writer.*InternalServerError.*goes on where"):
        describer.describe("cs/1", "p")
    assert len(endpoint.requests) == 3


def test_an_answer_without_the_form_is_asked_for_again_a_few_times(serve: Any) -> None:
    endpoint, describer = serve((200, {}, "Sure!"), (200, {}, GOOD))
    assert describer.describe("cs/1", "p") == FIVE
    assert len(endpoint.requests) == 2
    endpoint, describer = serve((200, {}, "Sure! " + GOOD), asks=3)
    with pytest.raises(BuildError, match=r"TOOL_OUTPUT at cs/1: 3 answers of writer.*text outside.*Sure!"):
        describer.describe("cs/1", "p")
    assert len(endpoint.requests) == 3


def write(file: Path, *lines: Any) -> Path:
    file.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
    return file


def test_a_file_of_descriptions_is_read(tmp_path: Path) -> None:
    file = write(tmp_path / "d.jsonl", {"element": "cs/1", "descriptions": FIVE}, "")
    describer = FileDescriber(file)
    assert describer.describe("cs/1", "p") == FIVE
    assert describer.name.startswith("file d.jsonl (sha256 ")
    with pytest.raises(BuildError, match=r"TOOL_OUTPUT.*no descriptions of cs/2"):
        describer.describe("cs/2", "p")
    with pytest.raises(BuildError, match=r"TOOL_MISSING.*no such file"):
        FileDescriber(tmp_path / "none.jsonl")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "Expecting"),
        ([1], "no element"),
        ({"element": 3, "descriptions": FIVE}, "no element"),
        ({"element": "b", "descriptions": "text"}, "no list"),
        ({"element": "b", "descriptions": FIVE[:4]}, "4 descriptions"),
        ({"element": "b", "descriptions": [*FIVE[:4], " "]}, "empty"),
        ({"element": "b", "descriptions": [*FIVE[:4], FIVE[0]]}, "second time"),
        ({"element": "a", "descriptions": FIVE}, "a for the second time"),
    ],
)
def test_a_faulty_line_is_named(tmp_path: Path, line: Any, said: str) -> None:
    file = write(tmp_path / "d.jsonl", {"element": "a", "descriptions": FIVE}, line)
    with pytest.raises(BuildError, match=rf"TOOL_OUTPUT at .*d\.jsonl:2: .*{said}"):
        FileDescriber(file).describe("a", "p")
