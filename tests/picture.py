"""README's picture: the first page of a board that has the results which come with the software, light and dark.

python -m tests.picture [FOLDER]     as `make picture`, into cards/site/pages
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image
from playwright.sync_api import Route
from starlette.testclient import TestClient

from fairspace.leaderboard_space.app import create_app
from fairspace.leaderboard_space.jobs.jobs import add_shipped
from fairspace.leaderboard_space.settings import Settings
from fairspace.leaderboard_space.space import Space
from tests.leaderboard_space.chromium import chromium

FOLDER = Path(__file__).parents[1] / "cards" / "site" / "pages"
SCHEMES = ("light", "dark")
WIDTH, HEIGHT, COLOURS = 1200, 780, 96


@contextmanager
def board() -> Iterator[TestClient]:
    """A client of the board."""
    with TemporaryDirectory() as work:
        space = Space.open(Settings(store=str(Path(work) / "store"), work=Path(work) / "work", board_seconds=0))
        add_shipped(space.state)
        space.state.refresh()
        yield TestClient(create_app(space), base_url="http://127.0.0.1")
        space.storage.close()


def draw(folder: Path = FOLDER) -> list[Path]:
    """Open the page in Chromium in each colour scheme, and write what it shows."""
    files = []
    with board() as client, chromium() as browser:

        def answer(route: Route) -> None:
            page = client.get(route.request.url)
            route.fulfill(status=page.status_code, content_type=page.headers["content-type"], body=page.content)

        for scheme in SCHEMES:
            page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme=scheme)  # type: ignore[arg-type]
            page.route("**/*", answer)
            page.goto("http://127.0.0.1/", wait_until="networkidle")
            files.append(folder / f"board-{scheme}.png")
            shown = Image.open(BytesIO(page.screenshot())).convert("RGB")
            shown.quantize(COLOURS, dither=Image.Dither.NONE).save(files[-1], optimize=True)
    return files


if __name__ == "__main__":
    for file in draw(*map(Path, sys.argv[1:])):
        print(f"{file}: {file.stat().st_size:,} bytes")
