"""Our requests as vLLM-Omni's and SGLang's own request classes took them, and the answers that their classes wrote."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from fairspace.builders.engine.tools import ImagePrompt
from fairspace.submissions.running.images.models import open_image_model

FOREIGN = Path(__file__).parents[3] / "foreign"
SERVERS = ("vllm_omni", "sglang")
MET = {server: json.loads((FOREIGN / server / "answers.json").read_text()) for server in SERVERS}


class Replay(BaseHTTPRequestHandler):
    met: dict[str, Any]
    bodies: list[Any]

    def log_message(self, *line: Any) -> None: ...

    def do_POST(self) -> None:
        self.bodies.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        body = json.dumps(self.met["response"]).encode()
        self.send_response(self.met["status"])
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture
def address() -> Iterator[str]:
    Replay.bodies = []
    with HTTPServer(("127.0.0.1", 0), Replay) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/v1"
        server.shutdown()


@pytest.mark.parametrize("met", [each for server in SERVERS for each in MET[server]])
def test_a_server_takes_our_request_and_we_take_its_answer(met: dict[str, Any], address: str) -> None:
    Replay.met = met
    model = open_image_model(f"endpoint:{address}#Qwen/Qwen-Image?attempts=1&{met['settings']}")
    (made,) = model.make([ImagePrompt("a nurse", 7)])
    if met["status"] == 200:
        assert made.fate == "answered", made.reason
        assert Replay.bodies == [met["request"]]
        assert met["seed"] == met["request"].get("seed"), "the server read it"
    else:  # an empty size, which no setting of ours sends
        assert "size must be in format" in made.reason
        assert Replay.bodies == [{name: value for name, value in met["request"].items() if name != "size"}]


def test_a_misspelt_field_is_passed_over_in_silence_and_so_told_as_asked_alone() -> None:
    assert [MET[server][2]["passed_over"] for server in SERVERS] == [["num_inference_step"]] * 2
    assert [MET[server][2]["status"] for server in SERVERS] == [200, 200]
