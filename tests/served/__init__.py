"""Models on loopback that speak OpenAI's chat and images protocols, deterministic, in a process of their own.

They stand for OpenAI's protocol as its documents and client have it, and are no other program's output: what other
programs write is in `tests/foreign/`. Without a seed, pictures of one prompt are alike, as SGLang's are.

    with Served.start(faults=(Fault("status", status=429, share=0.1),), latency=0.01) as served:
        client = openai.OpenAI(base_url=served.url, api_key=served.key)
        ...
        assert served.requests().most_answers == 1

- `POST /v1/chat/completions`: an answer depends on the messages (texts, hashes of images) and `seed` alone. Prompts
  of the benchmarks and the GENRES judge (`answers.KINDS`) get readable answers, others a plain sentence. `n` <= 10.
- `POST /v1/images/generations`: small drawn faces that depend on `prompt`, `seed` and the place among the `n` alone.
- `GET /v1/models`.

A request's key is its text, images and seed up to the first assistant answer, so a repair request has the same key. A
fault spoils keys by hash and attempts by `attempt` and `times`; only `every` and `skip` follow the order of requests.

    Fault("status", times=None, share=0.01)                  # one key in a hundred always fails with 500
    Fault("unreadable", about="genres_profile", share=0.1)   # broken JSON first, right when asked again
    Fault("slow", seconds=30, matching="nurse")              # longer than the client waits, at the first attempt
"""

from tests.served.faults import WAYS, Fault
from tests.served.options import Options, Requests
from tests.served.running import Served

__all__ = ["WAYS", "Fault", "Options", "Requests", "Served"]
