"""Models on loopback that speak OpenAI's chat and images protocols, deterministic, in a process of their own.

    with Served.start(faults=(Fault("status", status=429, share=0.1),), latency=0.01) as served:
        client = openai.OpenAI(base_url=served.url, api_key=served.key)
        ...
        assert served.requests().most_answers == 1

What is served
- `POST /v1/chat/completions`: the answer depends on the messages (texts, and images by the hash of their data URI) and
  `seed` alone. The prompts of the four benchmarks and of the GENRES judge are recognised (`answers.KINDS`) and answered
  in forms that the parsers read, drawn by hash; any other prompt gets a plain sentence. `n` up to 10; no streaming.
- `POST /v1/images/generations`: small drawn faces (`fairspace.builders.drawn.drawing`) that depend on `prompt`, `seed`
  and the place among the `n` alone. Groups that a prompt names are followed in most pictures; a prompt that names
  none has a usual group. No two requests with different keys get the same bytes. `response_format` b64_json or url.
- `GET /v1/models`, and `GET /v1/files/...` for pictures by URL (no key needed).
- Any other API key than `served.key` is a 401; a malformed request is a 400.

`Options` says what `Served.start` takes, `Requests` what `requests()` counts, `faults.py` what can go wrong. The server
ends with its parent process, after `limit` seconds, and at the end of the `with` block.

The key of a request is its text, images and seed: everything before the first answer of an assistant, so that a model
which is asked to mend its answer meets the same key at a later attempt. Which keys a fault spoils depends on a hash,
and which attempts on `attempt` and `times` (None: for ever); only `every` and `skip` go by the order of requests.

    Fault("status", status=429, seconds=0.01, share=0.2)            # a fifth is limited once, then answered
    Fault("status", times=None, share=0.01)                         # one in a hundred always fails with 500
    Fault("unreadable", about="genres_profile", share=0.1)          # broken JSON first, right when asked again
    Fault("unreadable", about="genres_analysis", share=0.02, times=None)  # never right
    Fault("refusing", about="iris_rating", share=0.05, times=None)  # "I can't help with that."
    Fault("slow", seconds=30, matching="nurse")                     # longer than the client waits, at the first attempt
    Fault("status", status=503, times=None, skip=200)               # the server is well for 200 requests, then never
"""

from tests.served.counts import Requests
from tests.served.faults import WAYS, Fault
from tests.served.options import Options
from tests.served.running import Served

__all__ = ["WAYS", "Fault", "Options", "Requests", "Served"]
