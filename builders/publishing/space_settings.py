"""Settings of a Space beside its files: a private store for its results, variables and secrets."""

import secrets
from collections.abc import Callable, Mapping
from functools import partial
from typing import TypeVar

from fairspace.builders.publishing.repository import Repo
from fairspace.builders.publishing.requests import Requests

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
) -> list[str]:
    """Make the store and the Space if they are absent, and set variables and secrets; a line for each change.

    Variables are replaced; an existing store or secret stays: another signing key would end all tokens of its users.
    `store` is the dataset repository `OWNER/NAME` for a Space without one; `store_token`, if not '', may write to it.
    Errors: BuildError HUB_REFUSED, HUB_UNAVAILABLE.
    """
    from huggingface_hub import HfApi
    from huggingface_hub.errors import RepositoryNotFoundError

    hub, requests = HfApi(), Requests(repo.name)
    lines: list[str] = []

    def change(what: str, do: Callable[[], object]) -> None:
        lines.append(f"would {what}" if dry_run else what)
        if not dry_run:
            requests.ask(do)

    def read(look: Callable[[str], Answer], name: str = repo.id) -> Answer | None:
        def read_or_none() -> Answer | None:
            try:
                return look(name)
            except RepositoryNotFoundError:
                return None

        return requests.ask(read_or_none)

    current = {name: variable.value for name, variable in (read(hub.get_space_variables) or {}).items()}
    wanted = {STORE: f"{ON_HUB}{store}"} | current | dict(variables)
    on_hub = wanted[STORE].startswith(ON_HUB)
    if on_hub:
        kept_in = wanted[STORE].removeprefix(ON_HUB)
        there = read(hub.dataset_info, kept_in)
        if there is None:
            create = partial(hub.create_repo, kept_in, repo_type="dataset", private=True, exist_ok=True)
            change(f"create the private dataset {kept_in}", create)
        elif not there.private:
            lines.append(f"note: the dataset {kept_in} is public, so everybody can read submissions in it")
    if read(hub.space_info) is None:
        create = partial(hub.create_repo, repo.id, repo_type="space", space_sdk=repo.sdk, exist_ok=True)
        change(f"create the Space {repo.id}", create)
    for name, value in wanted.items():
        if current.get(name) != value:
            change(f"set the variable {name} to {value}", partial(hub.add_space_variable, repo.id, name, value))
    secrets_there, put = read(hub.get_space_secrets) or {}, partial(hub.add_space_secret, repo.id)
    if store_token:
        change(f"set the secret {TOKEN}", partial(put, TOKEN, store_token))
    elif on_hub and TOKEN not in secrets_there:
        lines.append(
            f"note: the Space has no secret {TOKEN}, so it will refuse submissions; put a token that may write to "
            "the store, and to nothing else, into FAIRSPACE_STORE_TOKEN and run this again"
        )
    if SIGNING_KEY not in secrets_there:
        key = secrets.token_hex(32)
        change(f"set the secret {SIGNING_KEY} to a drawn key", partial(put, SIGNING_KEY, key))
    return lines
