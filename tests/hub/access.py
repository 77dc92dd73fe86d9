"""Who asks, and what they may do: tokens, private and gated repositories.

As on the Hub, a repository that the asker may not see looks like one that is not there (401 without a token, 404 with
one). A gated repository's tree and card are open; its files are for its owner, since nobody here accepts terms.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import unquote

from starlette.requests import Request

from tests.hub.errors import RefusalError, not_found
from tests.hub.storage import KINDS, Repository, Store


@dataclass(frozen=True)
class User:
    """A user with the organisations that they write to."""

    name: str
    organisations: tuple[str, ...] = ()


USERS = {"hf_owner": User("owner", ("fairspace",)), "hf_stranger": User("stranger")}
"""Token -> user."""


def asker(request: Request) -> User | None:
    """The user of the request's token; None without one. 401 if no user has it."""
    given = request.headers.get("authorization")
    if not given:
        return None
    user = USERS.get(given.removeprefix("Bearer "))
    if user is None:
        raise RefusalError(401, "Invalid credentials in Authorization header")
    return user


def known(request: Request) -> User:
    """The user. 401 without a token."""
    user = asker(request)
    if user is None:
        raise RefusalError(401, "Invalid username or password.")
    return user


def may_write(user: User | None, owner: str) -> bool:
    """Whether a user writes to what the owner has."""
    return user is not None and owner in (user.name, *user.organisations)


def store_of(request: Request) -> Store:
    """The server's repositories."""
    store: Store = request.app.state.store
    return store


def part(request: Request, name: str) -> str:
    """A part of the path, unquoted: paths are matched as they came, so that `%2F` does not split a revision."""
    return unquote(request.path_params[name])


def kind_of(request: Request) -> str:
    """The kind of repository that the path names: `datasets` -> dataset; none is a model."""
    kind = request.path_params.get("kind", "models").removesuffix("s")
    if kind not in KINDS:
        raise not_found(kind, "RepoNotFound")
    return kind


def readable(request: Request) -> Repository:
    """The repository of the path, if the asker may see it."""
    user, name = asker(request), f"{part(request, 'owner')}/{part(request, 'name')}"
    repository = store_of(request).find(kind_of(request), name)
    if repository is None or (repository.private and not may_write(user, repository.owner)):
        if user is None:
            raise RefusalError(401, "Invalid username or password.", "RepoNotFound")
        raise not_found("Repository", "RepoNotFound")
    return repository


def writable(request: Request) -> Repository:
    """The repository of the path, if the asker may write to it."""
    repository = readable(request)
    if not may_write(known(request), repository.owner):
        raise RefusalError(403, f"Forbidden: you must be a member of {repository.owner} to write to {repository.id}")
    return repository


def proposable(request: Request) -> Repository:
    """The repository of the path, if the asker may write to it, or opens a pull request that needs no such right."""
    repository, user = readable(request), known(request)
    branch = part(request, "revision")
    author = repository.proposals.get(branch, {}).get("author")
    return repository if request.query_params.get("create_pr") or author == user.name else writable(request)


def downloadable(request: Request) -> Repository:
    """The repository of the path, if the asker may read its files."""
    repository, user = readable(request), asker(request)
    if repository.gated and not may_write(user, repository.owner):
        if user is None:
            raise RefusalError(401, f"Access to {repository.id} is restricted. Please log in.", "GatedRepo")
        raise RefusalError(403, f"Access to {repository.id} is restricted: accept its terms first.", "GatedRepo")
    return repository
