import os
import re
from pathlib import Path

from fairspace.submissions.commands.show.results import row_json
from tests.leaderboard_space.api.spaces import Opened

PAGES = [
    "/",
    "/?benchmark=genres",
    "/?benchmark=fact_or_fair",
    "/?benchmark=stereotypical_bias",
    "/?benchmark=stereotypical_bias&columns=about",
    "/?benchmark=stereotypical_bias&columns=uncertainty",
    "/?benchmark=stereotypical_bias&columns=coverage",
    "/?benchmark=iris&columns=profile",
    "/model/iris/p-01",
    "/model/stereotypical_bias/p-01",
    "/standards",
    "/api",
    "/metrics",
    "/errata",
    "/compare?benchmark=iris&standard=inaugural&models=p-01,p-02",
    "/download/stereotypical_bias/inaugural.csv",
    "/download/stereotypical_bias/inaugural.json",
    "/download/stereotypical_bias/inaugural.parquet",
    "/download/iris/inaugural.csv",
    "/download/iris/inaugural.json",
    "/download/genres/inaugural.csv",
    "/download/genres/inaugural.json",
    "/download/fact_or_fair/inaugural.parquet",
    "/fairness-space",
    "/how-to-submit",
    "/about",
    "/validation",
    "/standard/iris/inaugural",
    "/standard/genres/inaugural",
    "/queue",
    "/embed/iris/p-01",
    "/badge/iris/p-01.svg",
    "/nowhere",
    "/?sort=x",
    "/api/v1/boards",
    "/api/v1/boards/stereotypical_bias",
    "/api/v1/boards/iris",
    "/api/v1/openapi.json",
    "/api/v1/boards/genres",
    "/api/v1/boards/fact_or_fair",
    "/api/v1/boards/iris/rows/p-01",
]


def test_dump(site: Opened) -> None:
    out = Path(os.environ["DUMP"])
    out.mkdir(parents=True, exist_ok=True)
    entries = {e.result.meta["model"]: e.entry for e in site.space.state.entries()}
    pages = (
        PAGES
        + [f"/model/stereotypical_bias/{entries[m]}" for m in ("Aurora", "Partial", "Gone", "many-001")]
        + [f"/api/v1/boards/stereotypical_bias/rows/{entries[m]}" for m in ("Aurora", "Partial")]
    )
    pages += [f"/compare?benchmark=stereotypical_bias&models={entries['Aurora']},{entries['Partial']},p-01"]
    for page in pages:
        answer = site.client.get(page)
        data = answer.content
        if "parquet" not in page:
            data = re.sub(rb"20\d\d-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?Z?)?", b"TIME", data)
        (out / (f"{answer.status_code} " + page.replace("/", "_").replace("?", "!"))).write_bytes(data)
    import json

    for name in ("iris", "genres", "fact_or_fair", "stereotypical_bias"):
        (out / f"command {name}").write_text(json.dumps([row_json(r) for r in site.space.state.board(name)]))
