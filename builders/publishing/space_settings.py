"""Settings of a Space beside its files: a private store for its results, variables and secrets."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from fairspace.builders.publishing.repository import Repo
from fairspace.builders.publishing.requests import Requests

if TYPE_CHECKING:
    from huggingface_hub import HfApi

STORE, SIGNING_KEY, TOKEN = "FAIRSPACE_STORE", "FAIRSPACE_SECRET", "HF_TOKEN"
ON_HUB = "hf://datasets/"
Answer = TypeVar("Answer")


def set_up_space(
    repo: Repo,
    variables: Mapping[str, str],
    *,
    store: str,
    store_token: str = "",
    dry_run: bool = False,
    endpoint: str | None = None,
    token: str | None = None,
) -> list[str]:
    """Make the store and the Space if they are absent, and set variables and secrets; a line for each change.

    Variables are replaced; an existing store or secret stays: another signing key would end all tokens of its users.
    `store` is the dataset repository `OWNER/NAME` for a Space without one; `store_token`, if not '', may write to it.
    Errors: BuildError HUB_REFUSED, HUB_UNAVAILABLE.
    """
    from huggingface_hub import HfApi

    steps = _Steps(HfApi(endpoint=endpoint, token=token), repo, Requests(repo.name), dry_run)
    there = steps.read(steps.hub.get_space_variables) or {}
    current = {name: variable.value for name, variable in there.items()}
    wanted = {STORE: f"{ON_HUB}{store}"} | current | dict(variables)
    on_hub = wanted[STORE].startswith(ON_HUB)
    lines = steps.create_store(wanted[STORE].removeprefix(ON_HUB)) if on_hub else iter(())
    changed = {name: value for name, value in wanted.items() if current.get(name) != value}
    return [*lines, *steps.create(), *steps.set_variables(changed), *steps.set_secrets(store_token, on_hub)]


@dataclass(frozen=True)
class _Steps:
    hub: HfApi
    repo: Repo
    requests: Requests
    dry_run: bool

    def create_store(self, store: str) -> Iterator[str]:
        there = self.read(lambda space: self.hub.dataset_info(store))
        if there is None:
            create = partial(self.hub.create_repo, store, repo_type="dataset", private=True, exist_ok=True)
            yield self._change(f"create the private dataset {store}", create)
        elif not there.private:
            yield f"note: the dataset {store} is public, so everybody can read submissions in it"

    def create(self) -> Iterator[str]:
        if self.read(self.hub.space_info) is None:
            create = partial(self.hub.create_repo, self.repo.id, repo_type="space", space_sdk=self.repo.sdk)
            yield self._change(f"create the Space {self.repo.id}", partial(create, exist_ok=True))

    def set_variables(self, variables: Mapping[str, str]) -> Iterator[str]:
        for name, value in variables.items():
            change = partial(self.hub.add_space_variable, self.repo.id, name, value)
            yield self._change(f"set the variable {name} to {value}", change)

    def set_secrets(self, store_token: str, on_hub: bool) -> Iterator[str]:
        there, put = self.read(self.hub.get_space_secrets) or {}, partial(self.hub.add_space_secret, self.repo.id)
        if store_token:
            yield self._change(f"set the secret {TOKEN}", partial(put, TOKEN, store_token))
        elif on_hub and TOKEN not in there:
            yield (
                f"note: the Space has no secret {TOKEN}, so it will refuse submissions; put a token that may write to "
                "the store, and to nothing else, into FAIRSPACE_STORE_TOKEN and run this again"
            )
        if SIGNING_KEY not in there:
            key = secrets.token_hex(32)
            yield self._change(f"set the secret {SIGNING_KEY} to a drawn key", partial(put, SIGNING_KEY, key))

    def read(self, look: Callable[[str], Answer]) -> Answer | None:
        from huggingface_hub.errors import RepositoryNotFoundError

        def read_or_none() -> Answer | None:
            try:
                return look(self.repo.id)
            except RepositoryNotFoundError:
                return None

        return self.requests.ask(read_or_none)

    def _change(self, what: str, change: Callable[[], object]) -> str:
        if self.dry_run:
            return f"would {what}"
        self.requests.ask(change)
        return what
