import pytest

from fairspace.leaderboard_space.site.addresses import (
    Shows,
    file_of,
    headers_of,
    is_public,
    media_type,
    moved,
    path_of,
    shown_by,
)

FILES = {
    "/": "index.html",
    "/board/iris": "board/iris/index.html",
    "/board/iris/inaugural/scores/board.json": "board/iris/inaugural/scores/board.json",
    "/models/gpt-4.1": "models/gpt-4.1/index.html",
    "/models/a.csv": "models/a.csv/index.html",
    "/model/iris/p-01/evidence/IFS_Gen": "model/iris/p-01/evidence/IFS_Gen/index.html",
    "/model/iris/p-01/scores.tex": "model/iris/p-01/scores.tex",
    "/figures/iris/inaugural/row/p-01,p-02/sectors.360.svg": "figures/iris/inaugural/row/p-01,p-02/sectors.360.svg",
    "/download/iris/inaugural.csv": "download/iris/inaugural.csv",
    "/api/v1/boards/iris/rows/p-01": "api/v1/boards/iris/rows/p-01.json",
    "/api/v1/boards": "api/v1/boards.json",
    "/sitemap.xml": "sitemap.xml",
}


@pytest.mark.parametrize(("path", "file"), FILES.items())
def test_an_address_has_one_file_and_the_file_its_address(path: str, file: str) -> None:
    assert is_public(path)
    assert file_of(path) == file
    assert path_of(file) == path


@pytest.mark.parametrize(
    "path", ["/model/iris/../x", "/model//x", "/model/iris/.part", "/model/iris/a b", "/models/é", "/model/iris/x\0"]
)
def test_an_address_that_could_lead_elsewhere_has_no_file(path: str) -> None:
    assert file_of(path) == ""


@pytest.mark.parametrize("path", ["/submit", "/queue", "/submission/x", "/api/v1/queue", "/health", "/site/x/y.css"])
def test_what_differs_by_user_or_moment_is_no_public_page(path: str) -> None:
    assert not is_public(path)


SHOWS = {
    "/": Shows(every_board=True),
    "/errata": Shows(),
    "/compare/iris": Shows(),
    "/compare/iris/bounded/p-01.json": Shows("iris", "bounded", ("p-01",)),
    "/board/genres": Shows("genres", "zero_centred"),
    "/board/iris/inaugural/scores/all": Shows("iris", "inaugural"),
    "/model/iris/p-01": Shows("iris", "inaugural_points", ("p-01",)),
    "/model/iris/p-01/under/bounded/evidence/x": Shows("iris", "bounded", ("p-01",)),
    "/figures/iris/bounded/row/p-01,p-02/sectors.svg": Shows("iris", "bounded", ("p-01", "p-02")),
    "/figures/iris/bounded/ranking.svg": Shows("iris", "bounded"),
    "/download/iris/bounded.csv": Shows("iris", "bounded"),
    "/api/v1/boards/iris/rows/p-01": Shows("iris", "inaugural_points", ("p-01",)),
    "/api/v1/boards/iris/under/bounded/page/2": Shows("iris", "bounded"),
    "/models/gpt-4o": Shows(slug="gpt-4o"),
    "/standard/iris/bounded": Shows("iris", "bounded"),
}


@pytest.mark.parametrize(("path", "shows"), SHOWS.items())
def test_an_address_says_what_its_page_shows(path: str, shows: Shows) -> None:
    assert shown_by(path) == shows


def test_no_former_address_leads_to_another_host() -> None:
    for query in ("benchmark=//evil.example", "benchmark=iris&standard=//evil.example", "benchmark=%0d%0aX:y"):
        address = moved("/", query)
        assert address.startswith("/board/")
        assert not {"\r", "\n"} & {*address}
    assert moved("/board/iris", "q=x") == moved("/", "utm_source=x") == ""


def test_pages_allow_scripts_of_this_site_alone_and_figures_none() -> None:
    assert "script-src 'self';" in headers_of("/board/iris", shared=True)["Content-Security-Policy"]
    assert "script" not in headers_of("/figures/iris/x/y.svg", shared=True)["Content-Security-Policy"]
    assert media_type("/figures/iris/x/y.svg") == "image/svg+xml"
    assert headers_of("/api/v1/boards", shared=True)["Access-Control-Allow-Origin"] == "*"
    assert "Access-Control-Allow-Origin" not in headers_of("/api/v1/boards", shared=False)
