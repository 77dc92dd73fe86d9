"""Images over the wire: fields and addresses of the images protocol, and Hugging Face's Inference Providers."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import huggingface_hub.constants
import pytest
from huggingface_hub.inference._providers import _common

from fairspace.builders.engine.tools import Prompt
from fairspace.builders.models.opening import Fields
from fairspace.submissions.running.errors import RunError
from fairspace.submissions.running.images import models, providers
from fairspace.submissions.running.images.made import checked
from fairspace.submissions.running.images.models import open_image_model
from tests.submissions.running.images.painter import encoded, picture

PROMPT = Prompt("a nurse", 7)
IMAGE = encoded(picture(PROMPT, 32), "PNG")
PROVIDERS = {"fal-ai": "fal/m", "together": "t/m", "nscale": "n/m", "replicate": "r/m"}


class Wire(ThreadingHTTPServer):
    """The Hub's mapping of a model, four providers behind the router, and an images endpoint that gives addresses."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.bodies: list[Any] = []
        self.faults: list[tuple[int, str]] = []
        self.image, self.address = IMAGE, f"{self.url}/image"
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Handler(BaseHTTPRequestHandler):
    server: Wire

    def log_message(self, *line: Any) -> None: ...

    def do_GET(self) -> None:
        if self.path.startswith("/api/models/"):
            live = {"status": "live", "task": "text-to-image"}
            served = {name: {"providerId": model, **live} for name, model in PROVIDERS.items()}
            self._say(200, {"id": "org/m", "inferenceProviderMapping": served})
        elif self.path == "/away":
            self._say(302, {}, Location=f"{self.server.url}/image")
        else:
            self._say(200, self.server.image)

    def do_POST(self) -> None:
        wire = self.server
        wire.bodies.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        if wire.faults:
            status, text = wire.faults.pop()
            return self._say(status, {"error": text}, **{"Retry-After": "0"})
        text, provider = base64.b64encode(wire.image).decode(), self.path.split("/")[1]
        answers: dict[str, Any] = {
            "fal-ai": {"images": [{"url": wire.address}]},
            "replicate": {"output": [wire.address]},
            "v1": {"created": 1, "data": [{"url": wire.address}]},
        }
        return self._say(200, answers.get(provider, {"data": [{"b64_json": text}]}))

    def _say(self, status: int, body: Any, **headers: str) -> None:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for header in ({"Content-Length": str(len(data)), "Content-Type": "application/json"} | headers).items():
            self.send_header(*header)
        self.end_headers()
        self.wfile.write(data)


@pytest.fixture
def wire(monkeypatch: pytest.MonkeyPatch) -> Iterator[Wire]:
    server = Wire()
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("HF_TOKEN", "hf_loopback")
    monkeypatch.setenv("OPENAI_API_KEY", "loopback")
    monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", server.url)
    monkeypatch.setattr(huggingface_hub.constants, "INFERENCE_PROXY_TEMPLATE", f"{server.url}/{{provider}}")
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    for module in (models, providers):
        monkeypatch.setattr(module, "_WAIT", 0.001)
    _common._fetch_inference_provider_mapping.cache_clear()
    yield server
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_provider_makes_images_with_the_settings_that_the_manifest_tells(wire: Wire, provider: str) -> None:
    asked = f"hf:org/m?provider={provider}&size=64&guidance=3.5&negative=blur&extra=output_quality:90"
    model = open_image_model(asked + "&steps=9" * (provider != "nscale"))
    (made,) = model.make([PROMPT])
    assert made == checked(picture(PROMPT, 32))
    (body,) = wire.bodies
    body = body.get("input", body)
    assert (body["prompt"], body["guidance_scale"], body["negative_prompt"]) == ("a nurse", 3.5, "blur")
    assert (body["seed"], body["output_quality"]) == (7, 90)
    told = model.settings()
    assert (model.name, model.engine, told["provider"]) == ("org/m", "huggingface_hub", provider)
    steps = None if provider == "nscale" else 9
    assert (told.get("num_inference_steps"), told["guidance_scale"], told["width"]) == (steps, 3.5, 64)
    assert body.get("steps", body.get("num_inference_steps")) == steps
    assert (told["seeded"], told["extra.output_quality"]) == (True, 90)


def test_a_provider_is_asked_again_and_what_it_withholds_is_refused(wire: Wire) -> None:
    model = open_image_model("hf:org/m?provider=together&attempts=3")
    for faults, fate, requests in (
        ([(429, "slow down"), (503, "cold")], "answered", 3),
        ([(500, "broken")] * 3, "failed", 3),
        ([(402, "no credits left")], "failed", 1),
        ([(400, "NSFW content detected")], "refused", 1),
    ):
        wire.bodies, wire.faults = [], list(faults)
        (made,) = model.make([PROMPT])
        assert (made.fate, len(wire.bodies)) == (fate, requests)
    wire.image = encoded(picture(PROMPT, 32).point(lambda value: 0), "PNG")
    assert "one colour" in model.make([PROMPT])[0].reason


@pytest.mark.parametrize(
    ("named", "fault", "what"),
    [
        ("hf:org/m", 0, "no provider.*such as fal-ai"),
        ("hf:org/m?provider=together&key=NO_SUCH_VARIABLE", 0, "NO_SUCH_VARIABLE, which is not set"),
        ("hf:org/m?provider=together&attempts=0", 0, "attempts=0"),
        ("hf:org/m?provider=nscale&steps=9", 0, "steps, which"),
        ("hf:org/m?provider=hal-ai", 0, "hal-ai.*not supported"),
        ("hf:org/m?provider=wavespeed", 0, "not supported by provider wavespeed"),
        ("hf:org/m?provider=together", 401, "401"),
        ("endpoint:http://127.0.0.1:1/v1#m?extra=size:9", 0, "extra=size"),
        ("endpoint:http://127.0.0.1:1/v1#m?extra=steps", 0, "extra=steps.*NAME:VALUE"),
    ],
)
def test_what_no_provider_can_answer_ends_the_run(wire: Wire, named: str, fault: int, what: str) -> None:
    wire.faults = [(fault, "")] * bool(fault)
    with pytest.raises(RunError, match=f"MODEL_UNKNOWN.*{what}") as error:
        open_image_model(named).make([PROMPT])
    assert "hf_loopback" not in str(error.value)


EXTRA = 'extra={"num_inference_steps": 28, "negative_prompt": "a, b", "lora": ["x"]}'


def test_an_endpoint_gets_further_fields_and_the_manifest_tells_them(wire: Wire) -> None:
    model = open_image_model(f"endpoint:{wire.url}/v1#m?size=64&seed=true&{EXTRA}")
    (made,) = model.make([PROMPT])
    assert made.image == IMAGE
    (body,) = wire.bodies
    assert body == {
        **{"model": "m", "prompt": "a nurse", "n": 1, "size": "64x64", "response_format": "b64_json", "seed": 7},
        **{"num_inference_steps": 28, "negative_prompt": "a, b", "lora": ["x"]},
    }
    told = {"host": "127.0.0.1", "size": "64x64", "seeded": True, "extra.num_inference_steps": 28}
    assert model.settings() == {**told, "extra.negative_prompt": "a, b", "extra.lora": '["x"]'}


def test_fields_are_json_or_pairs() -> None:
    assert Fields("steps:28, guidance_scale:4.5,sampler:euler,tile:true") == {
        **{"steps": 28, "guidance_scale": 4.5, "sampler": "euler", "tile": True}
    }
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
        ("file:///etc/hostname", "", "failed"),
        ("http://[", "", "failed"),
    ],
)
def test_images_at_addresses_come_from_the_endpoint_alone(wire: Wire, address: str, settings: str, fate: str) -> None:
    wire.address = address
    (made,) = open_image_model(f"endpoint:{wire.url}/v1#m?attempts=1{settings}").make([PROMPT])
    assert made.fate == fate, made.reason
