import re

from tests.leaderboard_space.api.spaces import Opened

BENCHMARK = "stereotypical_bias"
HOSTILE_MODEL = '=cmd|calc!A0 <script>alert(1)</script> "><img src=x onerror=alert(1)> \u202egnp.exe {{ 9001*9001 }}'
MANY = 230
_ROW = re.compile(r'<th scope="row" role="rowheader" class="model"[^>]*><div><a href="/model/[a-z_]+/([0-9a-z-]+)')


def page(site: Opened, address: str, status: int = 200) -> str:
    answer = site.client.get(address)
    assert answer.status_code == status, answer.text[:2000]
    return answer.text


def entries(text: str) -> list[str]:
    """Rows of a board's page in order, baselines last."""
    return _ROW.findall(text)


def models_of_table(text: str) -> list[str]:
    """Rows of a board's table in order, without baselines."""
    return entries(text.partition('<details class="baselines"')[0])
