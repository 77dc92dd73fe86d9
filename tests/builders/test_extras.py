import json

import pytest

from fairspace.builders.errors import absent_packages, install_command

COMMANDS = [
    (
        {"url": "file:///home/my%20code", "dir_info": {"editable": True}},
        "pip install -c '/home/my code/constraints.txt' -e '/home/my code[ares]'",
    ),
    ({"url": "file:///code", "dir_info": {}}, "pip install -c '/code/constraints.txt' '/code[ares]'"),
    (
        {"url": "https://host/fairspace", "vcs_info": {"vcs": "git", "commit_id": "0f1e"}},
        "pip install 'fairspace[ares] @ git+https://host/fairspace@0f1e'",
    ),
    (
        {"url": "file:///fairspace-0.1.0-py3-none-any.whl", "archive_info": {}},
        "pip install 'fairspace[ares] @ file:///fairspace-0.1.0-py3-none-any.whl'",
    ),
    ({}, "pip install 'fairspace[ares]'"),
]


class Installed:
    def __init__(self, origin: object) -> None:
        self.origin = origin

    def read_text(self, name: str) -> str | None:
        assert name == "direct_url.json"
        return json.dumps(self.origin) if self.origin else None


@pytest.mark.parametrize(("origin", "command"), COMMANDS)
def test_an_extra_is_installed_from_where_fairspace_came_from(
    monkeypatch: pytest.MonkeyPatch, origin: object, command: str
) -> None:
    monkeypatch.setattr("fairspace.builders.errors.distribution", lambda name: Installed(origin))
    assert install_command("ares") == command


def test_only_absent_packages_are_named() -> None:
    assert absent_packages("json", "no_such_package", "nor_this") == "no-such-package, nor-this"
    assert absent_packages("json") == ""
