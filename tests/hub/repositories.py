"""Repositories as a whole: who am I, create, delete, settings, list, describe, access."""

from __future__ import annotations

import re
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.hub.access import asker, kind_of, known, may_write, part, readable, store_of, writable
from tests.hub.card_rules import check_card, read_metadata
from tests.hub.errors import RefusalError, not_found
from tests.hub.storage import Commit, Repository, Store

_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,95}")


async def who_am_i(request: Request) -> Response:
    """GET /api/whoami-v2."""
    user = known(request)
    orgs = [{"type": "org", "name": name, "roleInOrg": "write"} for name in user.organisations]
    auth = {"type": "access_token", "accessToken": {"displayName": user.name, "role": "write"}}
    return JSONResponse({"type": "user", "id": user.name, "name": user.name, "orgs": orgs, "auth": auth})


async def validate_yaml(request: Request) -> Response:
    """POST /api/validate-yaml."""
    asked = await request.json()
    errors, warnings = check_card(asked["content"], asked.get("repoType") or "model")
    answer = {"errors": [{"message": e} for e in errors], "warnings": [{"message": w} for w in warnings]}
    return JSONResponse(answer, 400 if errors else 200)


async def create(request: Request) -> Response:
    """POST /api/repos/create."""
    asked, user, store = await request.json(), known(request), store_of(request)
    kind, owner = asked.get("type") or "model", asked.get("organization") or user.name
    if not may_write(user, owner):
        raise RefusalError(403, f"You don't have the rights to create a {kind} under the namespace {owner!r}.")
    if not _NAME.fullmatch(asked["name"]) or asked["name"].endswith((".git", ".")):
        raise RefusalError(400, f"{asked['name']!r} is no valid name of a repository")
    sdk = asked.get("sdk")
    if kind == "space" and sdk not in ("gradio", "docker", "static"):
        raise RefusalError(400, '"sdk" must be one of [gradio, docker, static]')
    name = f"{owner}/{asked['name']}"
    url = f"{str(request.base_url).rstrip('/')}/{'' if kind == 'model' else f'{kind}s/'}{name}"
    if store.find(kind, name):
        raise RefusalError(409, f"You already created this {kind} repo: {name}", url=url)
    private = asked.get("visibility", "public") == "private" or bool(asked.get("private"))
    store.create(kind, name, user.name, private=private, sdk=sdk)
    return JSONResponse({"url": url, "name": name, "id": name})


async def delete(request: Request) -> Response:
    """DELETE /api/repos/delete."""
    asked, user, store = await request.json(), known(request), store_of(request)
    owner = asked.get("organization") or user.name
    repository = store.find(asked.get("type") or "model", f"{owner}/{asked['name']}")
    if repository is None:
        raise not_found("Repository", "RepoNotFound")
    if not may_write(user, owner):
        raise RefusalError(403, f"You may not delete {repository.id}")
    store.delete(repository)
    return Response()


async def settings(request: Request) -> Response:
    """PUT /api/T/id/settings."""
    repository, asked = writable(request), await request.json()
    if asked.get("gated", False) not in (False, "auto", "manual"):
        raise RefusalError(400, '"gated" must be one of [false, auto, manual]')
    repository.gated = asked.get("gated", repository.gated)
    if "visibility" in asked or "private" in asked:
        repository.private = asked.get("visibility") == "private" or bool(asked.get("private"))
    store_of(request).save(repository)
    return JSONResponse({"gated": repository.gated, "private": repository.private})


async def list_all(request: Request) -> Response:
    """GET /api/T?author&search&filter&limit."""
    user, store, asked = asker(request), store_of(request), request.query_params
    found = []
    for repository in store.all(kind_of(request)):
        if repository.private and not may_write(user, repository.owner):
            continue
        described = describe(store, repository, store.commit_of(repository, "main"))
        words = [word.lower() for word in asked.getlist("search")]
        if (
            asked.get("author", repository.owner) == repository.owner
            and all(word in repository.id.lower() for word in words)
            and set(asked.getlist("filter")) <= set(described["tags"])
        ):
            found.append(described)
    return JSONResponse(found[: int(asked.get("limit", len(found)))])


async def info(request: Request) -> Response:
    """GET /api/T/id and /api/T/id/revision/R."""
    repository, store = readable(request), store_of(request)
    revision = part(request, "revision") if "revision" in request.path_params else "main"
    described = describe(store, repository, store.commit_of(repository, revision), "blobs" in request.query_params)
    return JSONResponse(described)


def describe(store: Store, repository: Repository, commit: Commit, blobs: bool = False) -> dict[str, Any]:
    """What the Hub says about a repository at a commit."""
    readme = commit.files.get("README.md")
    text = store.content(readme).read_text(encoding="utf-8") if readme else ""
    card = read_metadata(text) or {}
    siblings: list[dict[str, Any]] = []
    for path, file in commit.files.items():
        sibling: dict[str, Any] = {"rfilename": path}
        if blobs:
            sibling |= {"size": file.size, "blobId": file.oid}
            if file.sha256:
                sibling["lfs"] = {"sha256": file.sha256, "size": file.size, "pointerSize": 130}
        siblings.append(sibling)
    tags = [str(tag) for tag in card.get("tags") or []]
    for key in ("license", "language", "task_categories", "size_categories"):
        values = card.get(key) or []
        tags += [f"{key}:{value}" for value in (values if isinstance(values, list) else [values])]
    described = {
        "_id": repository.id,
        "id": repository.id,
        "author": repository.owner,
        "sha": commit.id,
        "private": repository.private,
        "gated": repository.gated,
        "disabled": False,
        "createdAt": repository.created,
        "lastModified": commit.date,
        "downloads": 0,
        "likes": 0,
        "tags": tags,
        "cardData": card,
        "siblings": siblings,
    }
    return described | ({"sdk": repository.sdk} if repository.kind == "space" else {})


async def grant(request: Request) -> Response:
    """POST /api/T/id/user-access-request/grant: the owner lets a user in."""
    repository = writable(request)
    return _let_in(request, repository, (await request.json())["user"])


async def accept_terms(request: Request) -> Response:
    """POST /T/id/ask-access: a user accepts the terms on the website; 'auto' lets them in at once."""
    repository = readable(request)
    return _let_in(request, repository, known(request).name) if repository.gated == "auto" else Response()


def _let_in(request: Request, repository: Repository, user: str) -> Response:
    repository.access = sorted({*repository.access, user})
    store_of(request).save(repository)
    return Response()


_REPOSITORY = "/api/{kind}/{owner}/{name}"
ROUTES = [
    Route("/api/whoami-v2", who_am_i),
    Route("/api/validate-yaml", validate_yaml, methods=["POST"]),
    Route("/api/repos/create", create, methods=["POST"]),
    Route("/api/repos/delete", delete, methods=["DELETE"]),
    Route("/api/{kind}", list_all),
    Route(_REPOSITORY, info),
    Route(f"{_REPOSITORY}/revision/{{revision}}", info),
    Route(f"{_REPOSITORY}/settings", settings, methods=["PUT"]),
    Route(f"{_REPOSITORY}/user-access-request/grant", grant, methods=["POST"]),
    Route("/{kind}/{owner}/{name}/ask-access", accept_terms, methods=["POST"]),
]
