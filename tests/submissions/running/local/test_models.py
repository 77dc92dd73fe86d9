import asyncio
import base64
import json
from collections.abc import Sequence
from importlib.metadata import entry_points
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageUser,
    ContentImage,
    ContentText,
    GenerateConfig,
    Model,
    ModelOutput,
)
from PIL import Image

from fairspace.submissions.errors import RunError
from fairspace.submissions.running.asking.asking import schema_of
from fairspace.submissions.running.asking.models import (
    ModelSettings,
    found_revision,
    local_facts,
    open_model,
    story_sampling,
)
from fairspace.submissions.running.local import llama_cpp
from fairspace.submissions.running.local.ending import LOOP_TOKENS
from tests.submissions.probing import tiny_models as unified
from tests.submissions.running.local import tiny_models
from tests.submissions.running.local.tiny_gguf import write_gguf

QUESTIONS = ("Who is the nurse?", "A or B?", "Which of these four persons is most likely a nurse, and why is that so?")


@pytest.fixture(scope="module")
def chat(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tiny_models.chat(tmp_path_factory.mktemp("models") / "chat"))


@pytest.fixture(scope="module")
def vision(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tiny_models.vision_chat(tmp_path_factory.mktemp("models") / "vision"))


def opened(name: str, **arguments: Any) -> Model:
    return open_model(ModelSettings(name, arguments=arguments))


def local(folder: str, **arguments: Any) -> Model:
    return opened(f"local/{folder}", device="cpu", **arguments)


def shown(colour: str, text: str = "What is this?") -> list[ChatMessage]:
    stream = BytesIO()
    Image.new("RGB", (48, 40), colour).save(stream, "PNG")
    uri = f"data:image/png;base64,{base64.b64encode(stream.getvalue()).decode()}"
    return [ChatMessageUser(content=[ContentImage(image=uri), ContentText(text=text)])]


def said(model: Model, asked: Sequence[str | list[ChatMessage]], **config: Any) -> list[ModelOutput]:
    """All at once; each gets a seed of its own if `seed` is given."""
    seed = config.pop("seed", None)

    async def ask() -> list[ModelOutput]:
        settings = [
            GenerateConfig(**config, seed=None if seed is None else seed + number) for number in range(len(asked))
        ]
        return await asyncio.gather(
            *(model.generate(one, config=each) for one, each in zip(asked, settings, strict=True))
        )

    return asyncio.run(ask())


def texts(outputs: Sequence[ModelOutput]) -> list[str]:
    return [output.completion for output in outputs]


def batches(model: Model, monkeypatch: pytest.MonkeyPatch) -> list[list[Any]]:
    """Prompts that the model computes from now on, by batch."""
    behind, computed = model.api.chat, list[list[Any]]()  # type: ignore[attr-defined]
    answer = behind.answer

    def counting(prompts: Any, *rest: Any) -> Any:
        computed.append(list(prompts))
        return answer(prompts, *rest)

    monkeypatch.setattr(behind, "answer", counting)
    return computed


@pytest.mark.parametrize("temperature", [0, 1.0])
def test_an_answer_does_not_depend_on_what_is_asked_beside_it(chat: str, temperature: float) -> None:
    config = {"temperature": temperature, "max_tokens": 12, "seed": 7}
    together = texts(said(local(chat, batch=4), QUESTIONS * 3, **config))
    alone = local(chat, batch=4)
    assert together == [
        texts(said(alone, [question], **{**config, "seed": 7 + number}))[0]
        for number, question in enumerate(QUESTIONS * 3)
    ]
    assert len(set(together)) == (3 if temperature == 0 else 9)


def test_temperature_zero_takes_the_likeliest_token_again_and_again_until_one_that_ends(chat: str) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    words, weights = AutoTokenizer.from_pretrained(chat), AutoModelForCausalLM.from_pretrained(chat)
    asked = words.apply_chat_template(
        [{"role": "user", "content": QUESTIONS[0]}], add_generation_prompt=True, return_tensors="pt", return_dict=True
    )
    ids = asked["input_ids"]
    start = ids.shape[1]
    with torch.inference_mode():
        for _ in range(10):
            likeliest = weights(ids).logits[0, -1].argmax()
            if likeliest == words.eos_token_id:
                break
            ids = torch.cat([ids, likeliest.reshape(1, 1)], dim=1)
    model = local(chat, batch=3)
    whole, first = (said(model, QUESTIONS[:1], temperature=0, max_tokens=most)[0] for most in (10, 1))
    assert whole.completion == words.decode(ids[0, start:], skip_special_tokens=True)
    assert (first.stop_reason, first.usage and first.usage.output_tokens) == ("max_tokens", 1)
    model.api.chat.model.generation_config.eos_token_id = [int(ids[0, start])]  # type: ignore[attr-defined]
    (last,) = said(model, QUESTIONS[:1], temperature=0, max_tokens=5)
    assert (last.completion, last.stop_reason, last.usage and last.usage.output_tokens) == ("", "stop", 0)


def test_draws_follow_the_models_probabilities(chat: str) -> None:
    import torch

    from fairspace.submissions.running.local.chat import GumbelNoise

    chances = torch.tensor([0.5, 0.3, 0.2, 0.0])
    draw = GumbelNoise([1, 2])
    rows = torch.stack([chances.log(), chances.log()])
    drawn = torch.stack([draw(torch.zeros(2, 1), rows).argmax(dim=1) for _ in range(3000)])
    shares = torch.nn.functional.one_hot(drawn.flatten(), 4).float().mean(dim=0)
    # Four standard deviations of a share of 6 000.
    assert torch.allclose(shares, chances, atol=4 * (0.25 / 6000) ** 0.5)
    assert shares[3] == 0
    assert not torch.equal(drawn[:, 0], drawn[:, 1])


def test_without_settings_the_models_own_decide(chat: str, vision: str) -> None:
    # The chat model's own settings sample, those of the other do not.
    drawn, same = local(chat), local(vision)
    assert len({texts(said(drawn, QUESTIONS[:1], max_tokens=12))[0] for _ in range(6)}) > 1
    assert len({texts(said(same, QUESTIONS[:1], max_tokens=12))[0] for _ in range(3)}) == 1


def test_a_model_sees(vision: str) -> None:
    model = local(vision, batch=2)
    asked = [shown(colour) for colour in ("red", "lime", "red")] + [shown("red", "Who?")]
    red, lime, again, other = said(model, asked, temperature=0, max_tokens=12)
    assert red.completion == again.completion
    assert len({red.completion, lime.completion, other.completion}) == 3
    assert (red.stop_reason, lime.stop_reason) == ("max_tokens", "max_tokens")
    assert red.usage is not None
    # 16 patches of 8 x 8, and no padding.
    assert red.usage.input_tokens > 16
    assert red.usage.output_tokens == 12


def test_a_language_model_says_that_it_sees_no_images(chat: str) -> None:
    with pytest.raises(Exception, match="sees no images"):
        said(local(chat), [shown("red")], max_tokens=2)


def test_one_prompt_that_breaks_takes_no_other_with_it(chat: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = local(chat, batch=4)
    answer = model.api.chat.answer  # type: ignore[attr-defined]
    poison = model.api.chat.prepare(  # type: ignore[attr-defined]
        [{"role": "user", "content": [{"type": "text", "text": "A or X?"}]}]
    ).tensors["input_ids"]

    def breaking(prompts: Any, seeds: Any, choice: Any) -> Any:
        if any(one.tensors["input_ids"].equal(poison) for one in prompts):
            raise MemoryError("too long")
        return answer(prompts, seeds, choice)

    monkeypatch.setattr(model.api.chat, "answer", breaking)  # type: ignore[attr-defined]

    async def ask() -> list[ModelOutput | BaseException]:
        config = GenerateConfig(max_tokens=3, temperature=0)
        asked = ("A or B?", "A or X?", "A or C?", "A or D?", "A or E?")
        return await asyncio.gather(*(model.generate(one, config=config) for one in asked), return_exceptions=True)

    found = asyncio.run(ask())
    assert [isinstance(one, ModelOutput) for one in found] == [True, False, True, True, True]


def test_a_setting_that_is_not_heeded_is_refused(chat: str) -> None:
    with pytest.raises(Exception, match="does not heed presence_penalty"):
        said(local(chat), ["A or B?"], max_tokens=2, presence_penalty=0.5)


@pytest.mark.parametrize(
    ("named", "arguments", "what"),
    [
        ("local/./nowhere", {}, "no such folder"),
        ("local/{chat}", {"colour": "red"}, "unexpected keyword argument 'colour'"),
        ("local/{chat}", {"dtype": "float12"}, "float12"),
        ("python/nothing", {}, "no function is named"),
        ("python/./nowhere.py:answer", {}, "No such file"),
        ("python/json:answer", {}, "no function 'answer'"),
    ],
)
def test_a_model_that_cannot_be_opened_says_why(chat: str, named: str, arguments: dict[str, Any], what: str) -> None:
    with pytest.raises(RunError, match=f"MODEL_UNKNOWN at .*{what}"):
        opened(named.format(chat=chat), **arguments)


def test_a_base_model_completes_the_question(chat: str, tmp_path: Path) -> None:
    for file in Path(chat).iterdir():
        if file.name != "chat_template.jinja":
            (tmp_path / file.name).hardlink_to(file)
    model = local(str(tmp_path))
    behind = model.api.chat  # type: ignore[attr-defined]
    turns = [{"role": "user", "content": [{"type": "text", "text": "Who is it?"}]}]
    assert behind.tokenizer.decode(behind.prepare(turns).tensors["input_ids"][0]) == "Question: Who is it?\nAnswer:"
    facts = local_facts(model)
    assert (facts["local.prompt"], facts["local.stop"]) == ("completion", r"'\nQuestion:' '\nAnswer:'")
    (answer,) = said(model, ["Who is it?"], temperature=0, max_tokens=4)
    assert answer.usage is not None
    assert answer.usage.output_tokens == 4


def test_an_answer_ends_before_a_stop_text(chat: str) -> None:
    (whole,) = texts(said(local(chat), QUESTIONS[:1], temperature=0, max_tokens=12))
    stop = whole[len(whole) // 2 :][:3]
    for model, config in ((local(chat, stop=stop), {}), (local(chat), {"stop_seqs": [stop]})):
        (answer,) = said(model, QUESTIONS[:1], temperature=0, max_tokens=12, **config)
        assert (answer.completion, answer.stop_reason) == (whole[: whole.index(stop)], "stop")


def test_a_prompt_that_fills_the_context_fails_with_its_length(chat: str) -> None:
    model = local(chat, context=64)
    behind = model.api.chat  # type: ignore[attr-defined]
    behind.model.generation_config.suppress_tokens = [*behind._marks.ends]  # so that no answer ends by itself
    full, short = said(model, ["Who? " * 40, "Who?"], temperature=0, max_tokens=100)
    assert full.error is not None
    assert "tokens, and the model's context 64" in full.error
    assert short.usage is not None
    assert (short.stop_reason, short.usage.total_tokens) == ("model_length", 64)


def test_a_looping_answer_is_named_and_may_be_stopped(tmp_path: Path) -> None:
    folder = str(tiny_models.chat(tmp_path / "one_word", ("A",)))
    asked, config = ["A or B?"], {"temperature": 0, "max_tokens": 256}
    (whole,), (cut,) = (said(local(folder, stop_loops=stops), asked, **config) for stops in (False, True))
    assert (whole.completion, whole.metadata) == ("A" * 256, {"ended": "loop"})
    assert (cut.completion, cut.metadata) == ("A" * LOOP_TOKENS, {"ended": "loop"})
    assert (whole.stop_reason, cut.stop_reason) == ("max_tokens", "max_tokens")


def test_requests_that_wait_fill_the_batches(chat: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = local(chat, batch=4)
    computed = batches(model, monkeypatch)
    said(model, [*QUESTIONS] * 8, temperature=1.0, max_tokens=2, seed=1)
    assert sum(map(len, computed)) == 24
    assert len(computed) <= 7  # two lengths of prompts: six full batches, and at most one that is not


@pytest.mark.parametrize(("temperature", "computed"), [(0, 3), (1.0, 9)])
def test_an_answer_without_chance_is_computed_once(
    chat: str, monkeypatch: pytest.MonkeyPatch, temperature: float, computed: int
) -> None:
    model = local(chat, batch=1)
    asked = batches(model, monkeypatch)
    outputs = said(model, [*QUESTIONS] * 3, temperature=temperature, max_tokens=4)
    assert len(asked) == computed
    assert (texts(outputs[:3]) == texts(outputs[3:6])) is (temperature == 0)
    said(model, QUESTIONS[:1], temperature=temperature, max_tokens=5)
    assert len(asked) == computed + 1


@pytest.fixture(scope="module")
def gguf(chat: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(write_gguf(Path(chat), tmp_path_factory.mktemp("models") / "tiny.gguf"))


def test_llama_cpp_answers_as_transformers_does(chat: str, gguf: str) -> None:
    model = opened(f"local/{gguf}", context=256)
    config = {"temperature": 0, "max_tokens": 12}
    of_both = zip(said(model, QUESTIONS, **config), said(local(chat), QUESTIONS, **config), strict=True)
    for ours, theirs in of_both:
        assert ours.usage is not None
        assert theirs.usage is not None
        assert (ours.completion, ours.usage.input_tokens) == (theirs.completion, theirs.usage.input_tokens)
    facts = local_facts(model)
    assert str(facts["local.engine"]).startswith("llama.cpp (xllamacpp 20")
    assert (facts["local.prompt"], facts["local.stop_loops"]) == ("chat template", True)
    assert local_facts(local(chat))["local.stop_loops"] is False
    assert found_revision(ModelSettings(f"local/{gguf}")).startswith("sha256 ")
    drawn = {"temperature": 1.0, "max_tokens": 12, "seed": 3}
    assert texts(said(model, QUESTIONS, **drawn)) == texts(said(model, QUESTIONS, **drawn))


def test_llama_cpp_answers_alike_on_one_thread_and_on_several_and_computes_a_text_once(
    gguf: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone, together = (opened(f"local/{gguf}", context=256, threads=threads) for threads in (1, 3))
    computed = batches(together, monkeypatch)
    config = {"temperature": 0, "max_tokens": 40}
    answers = said(together, [*QUESTIONS] * 2, **config)
    assert texts(answers) == texts(said(alone, [*QUESTIONS] * 2, **config))
    assert sum(map(len, computed)) == 3
    drawn = {"temperature": 1.0, "max_tokens": 40, "seed": 3}
    assert texts(said(together, QUESTIONS, **drawn)) == texts(said(alone, QUESTIONS, **drawn))


def test_a_server_takes_a_longer_context_when_an_answer_needs_it(
    gguf: str, chat: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Answers are those of a context that was long from the start."""
    config = {"temperature": 1.0, "max_tokens": 40, "seed": 3}
    whole = texts(said(opened(f"local/{gguf}", context=512, threads=1), QUESTIONS, **config))
    monkeypatch.setattr(llama_cpp, "_FIRST", 16)
    contexts: list[int] = []
    start = llama_cpp._start

    def started(path: Path, context: int) -> Any:
        contexts.append(context)
        return start(path, context)

    monkeypatch.setattr(llama_cpp, "_start", started)
    model = opened(f"local/{gguf}", context=512, threads=1)
    assert texts(said(model, QUESTIONS, **config)) == whole
    assert contexts[0] == 16
    assert 64 <= contexts[-1] < 512
    said(model, QUESTIONS[:1], **config | {"max_tokens": 2000})
    assert contexts[-1] == 512
    assert contexts == sorted(set(contexts))


def test_a_header_says_what_the_package_gguf_reads(gguf: str) -> None:
    from gguf import GGUFReader

    reader = GGUFReader(gguf)
    fields, parameters = llama_cpp._header(Path(gguf))
    assert parameters == sum(int(tensor.n_elements) for tensor in reader.tensors)
    for name, field in reader.fields.items():
        if not name.startswith("GGUF."):
            texts = field.types[0] == 9 and field.types[-1] == 8
            assert fields.pop(name) == ([] if texts else field.contents())
    assert not fields


def test_stories_of_a_gguf_file_have_the_files_temperature_else_llama_cpps(
    gguf: str, chat: str, tmp_path: Path
) -> None:
    stating = write_gguf(Path(chat), tmp_path / "stating.gguf", {"general.sampling.temp": 0.5})
    plain, own = (opened(f"local/{file}", context=256) for file in (gguf, stating))
    assert story_sampling(plain) == {"top_k": 40, "top_p": 0.95, "temperature": 0.8}
    assert story_sampling(own)["temperature"] == 0.5
    assert story_sampling(local(chat)) == {}


def test_llama_cpp_keeps_to_a_schema(gguf: str) -> None:
    config = {"response_schema": schema_of(["left", "right"]), "temperature": 1.0, "max_tokens": 100, "seed": 3}
    answers = texts(said(opened(f"local/{gguf}", context=256), QUESTIONS, **config))
    assert all(json.loads(answer)["answer"] in ("left", "right") for answer in answers)


def test_a_damaged_gguf_file_is_refused(gguf: str, tmp_path: Path) -> None:
    content = Path(gguf).read_bytes()
    for size in (8, 2000, len(content) - 4000):
        file = tmp_path / "cut.gguf"
        file.write_bytes(content[:size])
        with pytest.raises(RunError, match=r"MODEL_UNKNOWN.*a file that llama.cpp can open"):
            opened(f"local/{file}")


def test_inspects_own_transformers_are_refused(chat: str) -> None:
    with pytest.raises(RunError, match=r"MODEL_UNKNOWN.*depend on other requests.*name local/"):
        open_model(ModelSettings(f"hf/{chat}"))


def test_inspect_alone_knows_local_models() -> None:
    (point,) = {point.value: point for point in entry_points(group="inspect_ai", name="fairspace")}.values()
    assert point.load().fairspace.submissions.running.local.models.LocalAPI


def test_what_ran_on_this_machine_is_named_by_its_content(chat: str, mine: str) -> None:
    names = (f"local/{chat}", f"{mine}:answer", "python/json:dumps", "openai/gpt-4o")
    local, own, *others = (found_revision(ModelSettings(name)) for name in names)
    assert [one.startswith("sha256 ") and len(one) == 23 for one in (local, own)] == [True, True]
    assert others == ["not stated"] * 2


OWN = """
calls = []
def answer(prompt, images, seed, temperature=None):
    calls.append((seed, temperature))
    if "refuse" in prompt:
        return None
    if "wrong" in prompt:
        return 7
    return f"{prompt} {[image.size for image in images]}"
plain = lambda prompt, images: prompt.upper()
"""


@pytest.fixture
def mine(tmp_path: Path) -> str:
    (tmp_path / "mine.py").write_text(OWN)
    return f"python/{tmp_path}/mine.py"


def test_own_code_answers_sees_and_refuses(mine: str) -> None:
    model = opened(f"{mine}:answer")
    asked: list[str | list[ChatMessage]] = ["Who?", shown("red"), "please refuse"]
    answered, seen, refused = said(model, asked, seed=3, temperature=0)
    assert answered.completion == "Who? []"
    assert seen.completion == "What is this? [(48, 40)]"
    assert (refused.completion, refused.stop_reason) == ("", "content_filter")
    assert sorted(model.api._function.__globals__["calls"]) == [(3, 0), (4, 0), (5, 0)]  # type: ignore[attr-defined]
    with pytest.raises(Exception, match=r"MODEL_OUTPUT.*the function returned 7"):
        said(model, ["wrong"])


def test_own_code_may_leave_settings_alone_and_is_told_who_said_what(mine: str) -> None:
    question, answer, more = ChatMessageUser(content="Who?"), ChatMessageAssistant(content="Me"), "As JSON"
    (found,) = said(opened(f"{mine}:plain"), [[question, answer, ChatMessageUser(content=more)]], temperature=0.5)
    assert found.completion == "USER: WHO?\n\nASSISTANT: ME\n\nUSER: AS JSON"


# A picture of 48 x 40. Qwen: sides to multiples of two patches, 2 x 1 cells. InternVL: 4 x 3 tiles and the whole, each
# of 4 tokens. LLaVA-OneVision: the whole, of 16, and 1 x 2 tiles without their padding, 4 rows of 4 and an end.
SEEN = {"qwen2_5_vl": 2, "qwen3_vl": 2, "internvl": 13 * 4, "llava_onevision": 16 + 4 * 5}


@pytest.mark.parametrize("family", SEEN)
def test_a_picture_is_expanded_and_seen_without_torchvision(family: str, tmp_path: Path) -> None:
    assert find_spec("torchvision") is None
    model = local(str(tiny_models.seeing(tmp_path, family)), batch=2)
    behind: Any = model.api.chat  # type: ignore[attr-defined]
    picture = {"type": "image", "image": Image.new("RGB", (48, 40))}
    prompt = behind.prepare([{"role": "user", "content": [picture, {"type": "text", "text": "Who?"}]}])
    first, *rest = tiny_models.MARKS[family]
    begin, end = rest[:2] if len(rest) > 2 else ("", "")
    turn = f"<|im_start|>user\n{begin}{first * SEEN[family]}{end}\nWho?<|im_end|>\n<|im_start|>assistant\n"
    assert behind.tokenizer.decode(prompt.tensors["input_ids"][0]) == turn
    config = {"temperature": 0, "max_tokens": 12}
    red, lime, again, other = texts(
        said(model, [shown("red"), shown("lime"), shown("red"), shown("red", "Who? " * 9)], **config)
    )
    assert red == again
    assert len({red, lime, other}) == 3
    assert [red] == texts(said(model, [shown("red")], **config))


@pytest.mark.parametrize("kind", ["janus", "emu3"])
def test_a_unified_model_answers_at_its_temperature(kind: str, tmp_path: Path) -> None:
    model = local(str(getattr(unified, kind)(tmp_path)), batch=4)
    drawn, greedy = (
        texts(said(model, [shown("red")] * 4, temperature=temperature, max_tokens=8, seed=3))
        for temperature in (1.5, 0)
    )
    assert (len(set(drawn)), len(set(greedy))) == (4, 1)
    assert texts(said(model, [shown("red"), shown("lime")], temperature=0, max_tokens=8))[1] != greedy[0]
