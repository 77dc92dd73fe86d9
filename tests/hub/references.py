"""Names of commits: branches and tags."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.hub.access import part, readable, store_of, writable
from tests.hub.errors import RefusalError, not_found
from tests.hub.storage import Repository, Store


async def refs(request: Request) -> Response:
    """GET /api/T/id/refs."""
    repository = readable(request)

    def listed(names: dict[str, str], folder: str) -> list[dict[str, str]]:
        return [{"name": n, "ref": f"refs/{folder}/{n}", "targetCommit": c} for n, c in sorted(names.items())]

    branches = {name: commit for name, commit in repository.branches.items() if not name.startswith("refs/")}
    answer = {"branches": listed(branches, "heads"), "tags": listed(repository.tags, "tags")}
    return JSONResponse({**answer, "converts": [], "pullRequests": []})


async def create_tag(request: Request) -> Response:
    """POST /api/T/id/tag/R, where R is what is to be tagged."""
    repository, store, asked = writable(request), store_of(request), await request.json()
    return _name(store, repository, repository.tags, asked["tag"], part(request, "revision"))


async def create_branch(request: Request) -> Response:
    """POST /api/T/id/branch/X."""
    repository, store, asked = writable(request), store_of(request), await request.json()
    start = asked.get("startingPoint", "main")
    return _name(store, repository, repository.branches, part(request, "revision"), start)


def _name(store: Store, repository: Repository, names: dict[str, str], name: str, revision: str) -> Response:
    if name in repository.branches or name in repository.tags:
        raise RefusalError(409, f"Reference {name} already exists")
    names[name] = store.commit_of(repository, revision).id
    store.save(repository)
    return Response()


async def delete_tag(request: Request) -> Response:
    """DELETE /api/T/id/tag/X."""
    repository = writable(request)
    return _forget(request, repository, repository.tags)


async def delete_branch(request: Request) -> Response:
    """DELETE /api/T/id/branch/X."""
    repository = writable(request)
    if part(request, "revision") == "main":
        raise RefusalError(403, "The main branch cannot be deleted")
    return _forget(request, repository, repository.branches)


def _forget(request: Request, repository: Repository, names: dict[str, str]) -> Response:
    if names.pop(part(request, "revision"), None) is None:
        raise not_found("Reference", "RevisionNotFound")
    store_of(request).save(repository)
    return Response()


_REPOSITORY = "/api/{kind}/{owner}/{name}"
ROUTES = [
    Route(f"{_REPOSITORY}/refs", refs),
    Route(f"{_REPOSITORY}/tag/{{revision}}", create_tag, methods=["POST"]),
    Route(f"{_REPOSITORY}/tag/{{revision}}", delete_tag, methods=["DELETE"]),
    Route(f"{_REPOSITORY}/branch/{{revision}}", create_branch, methods=["POST"]),
    Route(f"{_REPOSITORY}/branch/{{revision}}", delete_branch, methods=["DELETE"]),
]
