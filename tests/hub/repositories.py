import re
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.hub.access import asker, kind_of, known, may_write, part, readable, store_of, writable
from tests.hub.card_rules import check_card, read_metadata
from tests.hub.errors import RefusalError
from tests.hub.storage import Commit, Repository, Store, lfs_of

_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,95}")


async def who_am_i(request: Request) -> Response:
    user = known(request)
    orgs = [{"type": "org", "name": name, "roleInOrg": "write"} for name in user.organisations]
    auth = {"type": "access_token", "accessToken": {"displayName": user.name, "role": "write"}}
    return JSONResponse({"type": "user", "id": user.name, "name": user.name, "orgs": orgs, "auth": auth})


async def validate_yaml(request: Request) -> Response:
    asked = await request.json()
    errors, warnings = check_card(asked["content"], asked.get("repoType") or "model")
    answer = {"errors": [{"message": e} for e in errors], "warnings": [{"message": w} for w in warnings]}
    return JSONResponse(answer, 400 if errors else 200)


async def create(request: Request) -> Response:
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


async def settings(request: Request) -> Response:
    repository, asked = writable(request), await request.json()
    if asked.get("gated", False) not in (False, "auto", "manual"):
        raise RefusalError(400, '"gated" must be one of [false, auto, manual]')
    repository.gated = asked.get("gated", repository.gated)
    if "visibility" in asked or "private" in asked:
        repository.private = asked.get("visibility") == "private" or bool(asked.get("private"))
    store_of(request).save(repository)
    return JSONResponse({"gated": repository.gated, "private": repository.private})


async def list_all(request: Request) -> Response:
    user, store, asked = asker(request), store_of(request), request.query_params
    found = []
    for repository in store.all(kind_of(request)):
        if repository.private and not may_write(user, repository.owner):
            continue
        if asked.get("author", repository.owner) == repository.owner:
            found.append(describe(store, repository, store.commit_of(repository, "main")))
    return JSONResponse(found)


async def info(request: Request) -> Response:
    repository, store = readable(request), store_of(request)
    revision = part(request, "revision") if "revision" in request.path_params else "main"
    described = describe(store, repository, store.commit_of(repository, revision), "blobs" in request.query_params)
    return JSONResponse(described)


def describe(store: Store, repository: Repository, commit: Commit, blobs: bool = False) -> dict[str, Any]:
    readme = commit.files.get("README.md")
    text = store.content(readme).read_text(encoding="utf-8") if readme else ""
    card = read_metadata(text) or {}
    siblings = []
    for path, file in commit.files.items():
        about = {"size": file.size, "blobId": file.oid, "lfs": lfs_of(file)} if blobs else {}
        siblings.append({"rfilename": path, **about})
    described = {
        "id": repository.id,
        "author": repository.owner,
        "sha": commit.id,
        "private": repository.private,
        "gated": repository.gated,
        "createdAt": repository.created,
        "lastModified": commit.date,
        "tags": [str(tag) for tag in card.get("tags") or []],
        "cardData": card,
        "siblings": siblings,
    }
    return described | ({"sdk": repository.sdk} if repository.kind == "space" else {})


async def refs(request: Request) -> Response:
    repository = readable(request)

    def listed(names: dict[str, str], folder: str) -> list[dict[str, str]]:
        return [{"name": n, "ref": f"refs/{folder}/{n}", "targetCommit": c} for n, c in sorted(names.items())]

    branches = {name: commit for name, commit in repository.branches.items() if not name.startswith("refs/")}
    answer = {"branches": listed(branches, "heads"), "tags": listed(repository.tags, "tags")}
    return JSONResponse({**answer, "converts": [], "pullRequests": []})


async def create_tag(request: Request) -> Response:
    """POST /api/T/id/tag/R, where R is the revision to tag."""
    repository, store, asked = writable(request), store_of(request), await request.json()
    if asked["tag"] in repository.branches or asked["tag"] in repository.tags:
        raise RefusalError(409, f"Reference {asked['tag']} already exists")
    repository.tags[asked["tag"]] = store.commit_of(repository, part(request, "revision")).id
    store.save(repository)
    return Response()


def entries(name: str, shown: Callable[[str], dict[str, str | None]]) -> Callable[[Request], Awaitable[Response]]:
    """GET and POST of a Space's variables or secrets; of each is answered what may be shown."""

    async def endpoint(request: Request) -> Response:
        repository = writable(request)
        kept: dict[str, str] = getattr(repository, name)
        if request.method == "POST":
            asked = await request.json()
            kept[asked["key"]] = asked["value"]
            store_of(request).save(repository)
        return JSONResponse({key: shown(value) for key, value in kept.items()})

    return endpoint


variables = entries("variables", lambda value: {"value": value})
secrets = entries("secrets", lambda value: {"description": None})
_REPOSITORY = "/api/{kind}/{owner}/{name}"
ROUTES = [
    Route("/api/whoami-v2", who_am_i),
    Route("/api/validate-yaml", validate_yaml, methods=["POST"]),
    Route("/api/repos/create", create, methods=["POST"]),
    Route("/api/{kind}", list_all),
    Route(_REPOSITORY, info),
    Route(f"{_REPOSITORY}/revision/{{revision}}", info),
    Route(f"{_REPOSITORY}/settings", settings, methods=["PUT"]),
    Route(f"{_REPOSITORY}/refs", refs),
    Route(f"{_REPOSITORY}/tag/{{revision}}", create_tag, methods=["POST"]),
    Route(f"{_REPOSITORY}/variables", variables, methods=["GET", "POST"]),
    Route(f"{_REPOSITORY}/secrets", secrets, methods=["GET", "POST"]),
]
