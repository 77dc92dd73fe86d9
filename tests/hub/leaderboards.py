"""Leaderboards of datasets: what repositories of models, and open pull requests to them, state about their tasks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.hub.access import readable, store_of
from tests.hub.errors import RefusalError
from tests.hub.storage import Store


async def leaderboard(request: Request) -> Response:
    """GET /api/datasets/id/leaderboard: the entries of all its tasks, best first. 404 without an `eval.yaml`."""
    store, dataset = store_of(request), readable(request)
    if "eval.yaml" not in store.commit_of(dataset, "main").files:
        raise RefusalError(404, "This dataset has no leaderboard")
    entries = sorted(_entries(store, dataset.id), key=lambda entry: -entry["value"])
    return JSONResponse([{"rank": rank, **entry} for rank, entry in enumerate(entries, 1)])


def _entries(store: Store, dataset: str) -> Iterator[dict[str, Any]]:
    for model in store.all("model"):
        seen: set[str] = set()
        for branch in ("main", *model.proposals):
            for path, file in store.commit_of(model, branch).files.items():
                if not path.startswith(".eval_results/") or file.oid in seen:
                    continue
                seen.add(file.oid)
                for result in yaml.safe_load(store.content(file).read_text(encoding="utf-8")):
                    if result["dataset"]["id"] == dataset:
                        about = {
                            "modelId": model.id,
                            "value": result["value"],
                            "filename": path,
                            "verified": False,
                            "author": {"type": "org", "name": model.owner, "fullname": model.owner, "avatarUrl": ""},
                            "notes": result.get("notes"),
                        }
                        about |= {"source": result["source"]} if "source" in result else {}
                        yield about | ({} if branch == "main" else {"pullRequest": int(branch.rpartition("/")[2])})


ROUTES = [Route("/api/{kind}/{owner}/{name}/leaderboard", leaderboard)]
