"""`make site`: every public page as a plain file, for any web server, a static Space or a snapshot with a DOI."""

import asyncio
import re
import shutil
import sys
from collections import deque
from collections.abc import Iterable
from html import unescape
from pathlib import Path
from tempfile import TemporaryDirectory

from fairspace.leaderboard_space.boards.views import VIEWS
from fairspace.leaderboard_space.jobs.jobs import add_shipped
from fairspace.leaderboard_space.pages.rendering import ASSETS, ENVIRONMENT, asset
from fairspace.leaderboard_space.settings import Settings
from fairspace.leaderboard_space.site.addresses import PAGE, TEXTS, file_of, is_public, media_type
from fairspace.leaderboard_space.site.builder import FIRST, Builder, unpacked
from fairspace.leaderboard_space.site.process import PageAnswer
from fairspace.leaderboard_space.space import Space

DYNAMIC = ("/submit", "/queue")
"""Pages that need a running Space; a copy says so in their place."""
_LINK = re.compile(r'(?:href|src|data-all)="(/[^"#?]*)|data-figure="(/[^"#?]*)')


async def export(space: Space, folder: Path, site: str) -> int:
    """Write all public pages that a visitor can reach into an empty folder, and return their number. OSError."""
    with TemporaryDirectory(dir=space.settings.work) as work:
        builder = Builder(space, Path(work), site)
        listed = ("/robots.txt", "/llms.txt", "/sitemap.xml")
        addresses = dict.fromkeys([*FIRST, *TEXTS, *listed, *(f"/compare/{name}" for name in VIEWS)])
        queue = deque(addresses)
        while queue:
            path = queue.popleft()
            answer = await builder.answer(path)
            content = _content(answer)
            if answer.status != 200:
                raise LookupError(f"{path}: {answer.status}")
            file = folder / file_of(path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
            if media_type(path) == PAGE:
                new = dict.fromkeys(each for each in linked(content.decode()) if each not in addresses)
                addresses |= new
                queue += new
    for name in sorted(file.name for file in ASSETS.iterdir()):
        place = folder / asset(name).lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ASSETS / name, place)
    number, time = space.state.last
    about = {"site": site, "number": number, "time": time, "log": (number, time)}
    for path in DYNAMIC:
        place = folder / file_of(path)
        place.parent.mkdir(parents=True, exist_ok=True)
        text = ENVIRONMENT.get_template("copy.html.jinja").render(**about, path=path)
        place.write_text(text, encoding="utf-8")
    return len(addresses)


def linked(text: str) -> Iterable[str]:
    """The public addresses that a page links to, its figures in all widths."""
    for link, figure in _LINK.findall(text):
        widths = [""] if link else ["", ".360", ".1160"]
        for address in (unescape(link or figure.replace(".svg", f"{width}.svg")) for width in widths):
            if is_public(address) and file_of(address):
                yield address.rstrip("/") or "/"


def _content(answer: PageAnswer) -> bytes:
    return unpacked(answer.content) if answer.kept else answer.content


def main() -> None:
    """Export the store of the settings into the folder that the command line names."""
    folder = Path(sys.argv[1])
    if folder.exists() and any(folder.iterdir()):
        sys.exit(f"{folder} is not empty; name a new folder, so that no page of before stays.")
    settings = Settings.from_environment()
    settings.work.mkdir(parents=True, exist_ok=True)
    space = Space.open(settings)
    add_shipped(space.state)
    site = settings.site() or "http://127.0.0.1:7860"
    print(f"{asyncio.run(export(space, folder, site))} pages in {folder}")


if __name__ == "__main__":
    main()
