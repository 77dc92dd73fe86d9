import pytest

from fairspace.submissions.running.folders import public_name
from fairspace.submissions.tasks import _named

NAMES = {
    "openai/gpt-4o": "openai/gpt-4o",
    "openai-api/lab/Qwen/Qwen2.5-VL-7B-Instruct": "openai-api/lab/Qwen/Qwen2.5-VL-7B-Instruct",
    "local/org/model@main": "local/org/model@main",
    "hf/models/mine": "hf/models/mine",
    "cf/@cf/meta/llama": "cf/@cf/meta/llama",
    "mockllm": "mockllm",
    "hf//home/alice/m": "hf/m",
    "hf//home/alice/m/": "hf/m",
    "vllm//home/alice/v1.5": "vllm/v1.5",
    "local//home/alice/m@abc": "local/m",
    "local/./m": "local/m",
    "local/../alice/m": "local/m",
    "local/~/models/m": "local/m",
    "local/~alice": "local/folder",
    "local/.": "local/folder",
    "local/m/..": "local/m/..",
    "hf//": "hf/folder",
    "openai-api/lab//home/alice/m": "openai-api/m",
    "python/module.inner:answer": "python/module.inner:answer",
    "python/./mine.py:answer": "python/mine.py:answer",
    "python//home/alice/mine.py:answer": "python/mine.py:answer",
    "python/alice/mine.py:answer": "python/mine.py:answer",
    "python/mine.py:answer": "python/mine.py:answer",
}


@pytest.mark.parametrize("model", NAMES)
def test_a_model_is_named_without_its_place(model: str) -> None:
    assert public_name(model) == NAMES[model]


def test_names_of_tasks_lose_their_blanks() -> None:
    assert _named(" a, b,") == _named(["a ", "b"]) == ("a", "b")
    assert _named("") == _named([]) == ()
