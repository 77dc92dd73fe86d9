"""Images over the wire: fields and addresses of the images protocol, and Hugging Face's Inference Providers.

Also our requests as vLLM-Omni's and SGLang's own request classes took them, and the answers that their classes wrote.
"""

import base64
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import huggingface_hub.constants
import pytest
from huggingface_hub.inference._providers import _common

from fairspace.builders.engine.tools import ImagePrompt
from fairspace.builders.models.opening import Fields
from fairspace.submissions.errors import RunError
from fairspace.submissions.running.images import models
from fairspace.submissions.running.images.made import checked
from fairspace.submissions.running.images.models import open_image_model
from tests.submissions.running.images.painter import encoded, picture

PROMPT = ImagePrompt("a nurse", 7)
IMAGE = encoded(picture(PROMPT, 32), "PNG")
PROVIDERS = ("fal-ai", "together", "nscale", "replicate")
SERVERS = ("vllm_omni", "sglang")
FOREIGN = Path(__file__).parents[3] / "foreign"
MET = {server: json.loads((FOREIGN / server / "answers.json").read_text()) for server in SERVERS}


class Wire(ThreadingHTTPServer):
    """The Hub's mapping of a model, four providers behind the router, and an images endpoint that gives addresses."""

    daemon_threads = True
    bodies: list[Any]
    faults: list[tuple[int, str]]
    image, address = IMAGE, ""
    met: dict[str, Any] | None = None
    """Status and response of every request, as a server wrote them."""


class Handler(BaseHTTPRequestHandler):
    server: Wire

    def log_message(self, *line: Any) -> None: ...

    def do_GET(self) -> None:
        live = {"providerId": "p/m", "status": "live", "task": "text-to-image"}
        mapping = json.dumps({"id": "org/m", "inferenceProviderMapping": dict.fromkeys(PROVIDERS, live)}).encode()
        self._say(302 if self.path == "/away" else 200, mapping if "/api/" in self.path else self.server.image)

    def do_POST(self) -> None:
        wire, url = self.server, self.server.address
        wire.bodies.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        answers: dict[str, Any] = {"fal-ai": {"images": [{"url": url}]}, "replicate": {"output": [url]}}
        answers["v1"] = {"created": 1, "data": [{"url": url}]}
        other = {"data": [{"b64_json": base64.b64encode(wire.image).decode()}]}
        status, fault = wire.faults.pop() if wire.faults else (200, "")
        answer: Any = {"error": fault} if fault else answers.get(self.path.split("/")[1], other)
        if wire.met:
            status, answer = wire.met["status"], wire.met["response"]
        self._say(status, json.dumps(answer).encode())

    def _say(self, status: int, body: bytes) -> None:
        self.send_response(status)
        for header in (("Content-Length", str(len(body))), ("Retry-After", "0"), ("Location", "/image")):
            self.send_header(*header)
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture
def wire(monkeypatch: pytest.MonkeyPatch) -> Iterator[Wire]:
    with Wire(("127.0.0.1", 0), Handler) as server:
        url, server.bodies, server.faults = f"http://127.0.0.1:{server.server_port}", [], []
        server.address = f"{url}/image"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        for name, value in (("NO_PROXY", "127.0.0.1"), ("HF_TOKEN", "hf_loopback"), ("OPENAI_API_KEY", "loopback")):
            monkeypatch.setenv(name, value)
        hub = {"ENDPOINT": url, "INFERENCE_PROXY_TEMPLATE": f"{url}/{{provider}}", "HF_HUB_OFFLINE": False}
        for name, given in hub.items():
            monkeypatch.setattr(huggingface_hub.constants, name, given)
        monkeypatch.setattr(models, "_WAIT", 0.001)
        _common._fetch_inference_provider_mapping.cache_clear()
        yield server
        server.shutdown()


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_provider_makes_images_with_the_settings_that_the_manifest_tells(wire: Wire, provider: str) -> None:
    steps = {} if provider == "nscale" else {"num_inference_steps": 9}
    asked = "size=64&guidance=3.5&negative=blur&extra=quality:90" + "&steps=9" * bool(steps)
    model = open_image_model(f"hf:org/m?provider={provider}&{asked}")
    assert model.make([PROMPT]) == [checked(picture(PROMPT, 32))]
    body = wire.bodies[0].get("input", wire.bodies[0])
    fields = {"prompt": "a nurse", "guidance_scale": 3.5, "negative_prompt": "blur", "seed": 7, "quality": 90}
    assert fields.items() <= body.items()
    assert body.get("steps", body.get("num_inference_steps")) == steps.get("num_inference_steps")
    told = {"provider": provider, **steps, "guidance_scale": 3.5, "negative_prompt": "blur", "width": 64, "height": 64}
    assert model.settings() == {**told, "seeded": "asked", "extra.quality": 90}


def test_a_provider_is_asked_again_and_what_it_withholds_is_refused(wire: Wire) -> None:
    model = open_image_model("hf:org/m?provider=together&attempts=3")
    for faults, fate, requests in (
        ([(400, "unknown field: seed")], "answered", 2),
        ([(429, "slow down"), (503, "cold")], "answered", 3),
        ([(500, "broken")] * 3, "failed", 3),
        ([(402, "no credits left")], "failed", 1),
        ([(400, "NSFW content detected")], "refused", 1),
    ):
        wire.bodies, wire.faults = [], list(faults)
        assert (model.make([PROMPT])[0].fate, len(wire.bodies)) == (fate, requests)
    wire.image = encoded(picture(PROMPT, 32).point(lambda value: 0), "PNG")
    assert "one colour" in model.make([PROMPT])[0].reason


@pytest.mark.parametrize(
    ("named", "what"),
    [
        ("hf:org/m", "no provider.*such as fal-ai"),
        ("hf:org/m?provider=together&key=NO_SUCH_VARIABLE", "NO_SUCH_VARIABLE, which is not set"),
        ("hf:org/m?provider=together&attempts=0", "attempts=0"),
        ("hf:org/m?provider=nscale&steps=9", "steps, which"),
        ("hf:org/m?provider=hal-ai", "hal-ai.*not supported"),
        ("hf:org/m?provider=wavespeed", "not supported by provider wavespeed"),
        ("hf:org/m?provider=together", "401"),
        ("endpoint:http://127.0.0.1:1/v1#m?extra=size:9", "extra=size"),
        ("endpoint:http://127.0.0.1:1/v1#m?extra=steps", "extra=steps.*NAME:VALUE"),
    ],
)
def test_what_no_provider_can_answer_ends_the_run(wire: Wire, named: str, what: str) -> None:
    wire.faults = [(401, "who are you?")]
    with pytest.raises(RunError, match=f"MODEL_UNKNOWN.*{what}") as error:
        open_image_model(named).make([PROMPT])
    assert "hf_loopback" not in str(error.value)


def test_an_endpoint_gets_further_fields_and_the_manifest_tells_them(wire: Wire) -> None:
    extra = {"num_inference_steps": 28, "negative_prompt": "a, b", "lora": ["x"]}
    model = open_image_model(
        f"endpoint:http://127.0.0.1:{wire.server_port}/v1#m?size=64&seed=true&extra={json.dumps(extra)}"
    )
    assert model.make([PROMPT])[0].image == IMAGE
    usual = {"model": "m", "prompt": "a nurse", "n": 1, "size": "64x64", "response_format": "b64_json", "seed": 7}
    assert wire.bodies == [usual | extra]
    told = {"host": "127.0.0.1", "size": "64x64", "seeded": "asked", "extra.num_inference_steps": 28}
    assert model.settings() == {**told, "extra.negative_prompt": "a, b", "extra.lora": '["x"]'}
    assert Fields("steps:28, scale:4.5,sampler:euler") == {"steps": 28, "scale": 4.5, "sampler": "euler"}
    for wrong in ('{"a": NaN}', "[1]", "{1}", ":2", "a:\n", "a:" + "b" * 1000):
        with pytest.raises(ValueError):  # noqa: PT011 - of json, or ours
            Fields(wrong)


@pytest.mark.parametrize(
    ("address", "settings", "fate"),
    [
        ("/image", "", "answered"),  # relative, as of SGLang
        ("data:image/png;base64," + base64.b64encode(IMAGE).decode(), "", "answered"),
        ("/away", "", "failed"),
        ("http://127.0.0.1:1/image", "&host=127.0.0.1:1", "failed"),
        ("https://127.0.0.1:1/image", "", "failed"),
        ("https://127.0.0.1:1/image", "&host=127.0.0.1:1", "failed"),  # nothing listens there
        ("http://[", "", "failed"),
    ],
)
def test_images_at_addresses_come_from_the_endpoint_alone(wire: Wire, address: str, settings: str, fate: str) -> None:
    wire.address = address
    (made,) = open_image_model(f"endpoint:http://127.0.0.1:{wire.server_port}/v1#m?attempts=1{settings}").make([PROMPT])
    assert made.fate == fate, made.reason
    assert ("ConnectError" in made.reason) == (address.startswith("https") and bool(settings))


@pytest.mark.parametrize("met", [each for server in SERVERS for each in MET[server]])
def test_a_server_takes_our_request_and_we_take_its_answer(wire: Wire, met: dict[str, Any]) -> None:
    wire.met = met
    address = f"http://127.0.0.1:{wire.server_port}/v1"
    (made,) = open_image_model(f"endpoint:{address}#Qwen/Qwen-Image?attempts=1&{met['settings']}").make([PROMPT])
    if met["status"] == 200:
        assert made.fate == "answered", made.reason
        assert wire.bodies == [met["request"]]
        assert met["seed"] == met["request"].get("seed"), "the server read it"
    else:  # an empty size, which no setting of ours sends
        assert "size must be in format" in made.reason
        assert wire.bodies == [{name: value for name, value in met["request"].items() if name != "size"}]


def test_a_misspelt_field_is_passed_over_in_silence_and_so_told_as_asked_alone() -> None:
    assert [MET[server][2]["passed_over"] for server in SERVERS] == [["num_inference_step"]] * 2
    assert [MET[server][2]["status"] for server in SERVERS] == [200, 200]
