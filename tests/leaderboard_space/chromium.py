import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
]


@contextmanager
def chromium() -> Iterator[Browser]:
    """A headless Chromium; skips the test without one, unless FAIRSPACE_REQUIRE_BROWSER is 1."""
    path = next((found for name in NAMES if (found := shutil.which(name))), None)
    if path is None:
        reason = f"no Chromium: none of {', '.join(NAMES)} is on the PATH; `apt-get install chromium` brings one"
        if os.environ.get("FAIRSPACE_REQUIRE_BROWSER") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()
