"""What the tests of the pages read from them, and the names of the rows."""

import re

from tests.leaderboard_space.api.spaces import Opened

BENCHMARK = "stereotypical_bias"
HOSTILE_MODEL = '=cmd|calc!A0 <script>alert(1)</script> "><img src=x onerror=alert(1)> \u202egnp.exe {{ 9001*9001 }}'
MANY = 230
_ROW = re.compile(r'<th scope="row" role="rowheader" class="model"><a href="/model/[a-z_]+/([0-9a-z-]+)')


def page(site: Opened, address: str, status: int = 200) -> str:
    """The text of a page, which was answered with that status."""
    answer = site.client.get(address)
    assert answer.status_code == status, answer.text[:2000]
    return answer.text


def entries(text: str) -> list[str]:
    """The rows of a board's page, in their order, the baselines last."""
    return _ROW.findall(text)


def models_of_table(text: str) -> list[str]:
    """The rows of a board's table, which has no baselines, in their order."""
    return entries(text.partition('<details class="baselines"')[0])


def entry_of(site: Opened, model: str) -> str:
    """The entry of a model that was scored here, withdrawn or not."""
    return next(own.entry for own in site.space.state.entries() if own.result.meta["model"] == model)


def models(site: Opened, address: str) -> list[str]:
    """The models of a board's page, in their order."""
    names = {row.entry: row.model for row in site.space.state.board(BENCHMARK, "up_to_twenty")}
    return [names[entry] for entry in entries(page(site, address))]
