from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.leaderboard_space.chromium import chromium
from tests.submissions.conftest import run as run


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as launched:
        yield launched
