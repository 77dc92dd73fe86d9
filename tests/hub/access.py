"""Tokens, and access to private and gated repositories.

As on the Hub, an invisible repository looks missing (401 without a token, 404 with one). A gated repository's tree and
card are open; only its owner gets the files.
"""

from dataclasses import dataclass
from urllib.parse import unquote

from starlette.requests import Request

from tests.hub.errors import RefusalError, not_found
from tests.hub.storage import KINDS, Repository, Store


@dataclass(frozen=True)
class User:
    name: str
    organisations: tuple[str, ...] = ()


USERS = {"hf_owner": User("owner", ("fairspace",)), "hf_stranger": User("stranger")}


def asker(request: Request) -> User | None:
    """The user of the request's token; None without one. 401 for an unknown token."""
    given = request.headers.get("authorization")
    if not given:
        return None
    user = USERS.get(given.removeprefix("Bearer "))
    if user is None:
        raise RefusalError(401, "Invalid credentials in Authorization header")
    return user


def known(request: Request) -> User:
    user = asker(request)
    if user is None:
        raise RefusalError(401, "Invalid username or password.")
    return user


def may_write(user: User | None, owner: str) -> bool:
    return user is not None and owner in (user.name, *user.organisations)


def store_of(request: Request) -> Store:
    store: Store = request.app.state.store
    return store


def part(request: Request, name: str) -> str:
    """A part of the path, unquoted: paths are matched raw, so that `%2F` does not split a revision."""
    return unquote(request.path_params[name])


def kind_of(request: Request) -> str:
    """Kind of repository in the path: `datasets` -> dataset; without one a model."""
    kind = request.path_params.get("kind", "models").removesuffix("s")
    if kind not in KINDS:
        raise not_found(kind, "RepoNotFound")
    return kind


def readable(request: Request) -> Repository:
    user, name = asker(request), f"{part(request, 'owner')}/{part(request, 'name')}"
    repository = store_of(request).find(kind_of(request), name)
    if repository is None or (repository.private and not may_write(user, repository.owner)):
        if user is None:
            raise RefusalError(401, "Invalid username or password.", "RepoNotFound")
        raise not_found("Repository", "RepoNotFound")
    return repository


def writable(request: Request) -> Repository:
    repository = readable(request)
    if not may_write(known(request), repository.owner):
        raise RefusalError(403, f"Forbidden: you must be a member of {repository.owner} to write to {repository.id}")
    return repository


def downloadable(request: Request) -> Repository:
    repository, user = readable(request), asker(request)
    if repository.gated and not may_write(user, repository.owner):
        if user is None:
            raise RefusalError(401, f"Access to {repository.id} is restricted. Please log in.", "GatedRepo")
        raise RefusalError(403, f"Access to {repository.id} is restricted: accept its terms first.", "GatedRepo")
    return repository
