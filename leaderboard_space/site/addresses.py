"""Addresses of public pages: their files, the headers that they are sent with, and what they show."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl, quote, urlencode

from fairspace.leaderboard_space.boards.views import BoardQuery, draft_of
from fairspace.leaderboard_space.pages.rendering import POLICY
from fairspace.leaderboard_space.pages.texts import DOCUMENTS
from fairspace.submissions.benchmarks.registry import NAMES
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark

TEXTS = ("/about", "/api", "/how-to-submit", "/standards", "/api/v1/standards", *DOCUMENTS)
"""Pages that no single board decides on."""
OVER_ALL = ("/", "/sitemap.xml", "/api/v1/boards", "/about", "/api")
"""Pages that show something of every board."""
_PUBLIC = re.compile(
    r"/|/robots\.txt|/llms\.txt|/sitemap\.xml|/api/v1/boards|" + "|".join(map(re.escape, TEXTS)) + "|"
    r"/(board|compare|download|figures|model|models|standard|api/v1/boards)/.+"
)
_SEGMENT = re.compile(r"[A-Za-z0-9_,:~+-][A-Za-z0-9_.,:~+-]{0,120}")
_TYPES = {
    ".csv": "text/csv; charset=utf-8",
    ".svg": "image/svg+xml",
    ".tex": "text/plain; charset=utf-8",
    ".txt": "text/plain; charset=utf-8",
    ".xml": "application/xml",
    ".json": "application/json",
}
PAGE = "text/html; charset=utf-8"


def is_public(path: str) -> bool:
    """Whether a page follows from its address and the boards alone."""
    return _PUBLIC.fullmatch(path) is not None


def file_of(path: str) -> str:
    """The file of a public page below the folder, '' for an address that cannot be one."""
    segments = path.strip("/").split("/") if path != "/" else []
    if not all(map(_SEGMENT.fullmatch, segments)):
        return ""
    if media_type(path) != PAGE:
        end = "" if segments[-1].endswith(tuple(_TYPES)) else ".json"
        return f"{'/'.join(segments)}{end}"
    return "/".join((*segments, "index.html"))


def path_of(file: str) -> str:
    """The address of a file."""
    path = f"/{file.removesuffix('index.html').rstrip('/')}"
    return path.removesuffix(".json") if path.startswith("/api/") else path


def media_type(path: str) -> str:
    """The media type of a public page."""
    if path.startswith("/api/"):
        return _TYPES[".json"]
    end = path[path.rfind(".") :] if "." in path.rsplit("/", 1)[-1] else ""
    is_name = path.startswith("/models/") or "/evidence/" in path  # a dot in a name ends it with no type
    return PAGE if is_name else _TYPES.get(end, PAGE)


def headers_of(path: str, *, shared: bool) -> dict[str, str]:
    """The headers of a public page; `shared`: whether programs in other sites' pages may read the API."""
    kind = media_type(path)
    headers = {"Content-Type": kind, "Cache-Control": "no-cache", "Vary": "Accept-Encoding"}
    if kind == PAGE:
        headers |= {"Content-Security-Policy": POLICY, "Referrer-Policy": "same-origin"}
    if kind == _TYPES[".svg"]:
        headers["Content-Security-Policy"] = "default-src 'none'; style-src 'unsafe-inline'"
    if kind == _TYPES[".csv"]:
        of, name = shown_by(path), path.strip("/").removeprefix("download/").removesuffix(".csv").replace("/", "-")
        draft = "-draft" if draft_of(of.benchmark, of.standard) else ""
        headers["Content-Disposition"] = f'attachment; filename="fairspace-{name}{draft}.csv"'
    if kind == _TYPES[".json"] and shared:
        headers["Access-Control-Allow-Origin"] = "*"
    return headers


@dataclass(frozen=True)
class Shows:
    """The content of a page: a board (`benchmark`, '' for all or none), under a standard, or rows of it, or a model."""

    benchmark: str = ""
    standard: str = ""
    entries: tuple[str, ...] = ()
    slug: str = ""
    every_board: bool = False


def shown_by(path: str) -> Shows:
    """The content of a public page."""
    words = path.strip("/").split("/")
    if path in OVER_ALL:
        return Shows(every_board=True)
    if words[0] == "models":
        return Shows(slug="/".join(words[1:]))
    if words[0] == "api":
        words = words[2:]
    name, rest = (words[1] if len(words) > 1 else "").split(".")[0], words[2:]
    if name not in NAMES or (words[0] == "compare" and len(rest) < 2):
        return Shows()
    if words[0] == "compare":
        return Shows(name, rest[0], (rest[1].removesuffix(".json"),))
    default = find_benchmark(name).default
    if words[0] == "model":
        return Shows(name, rest[2] if rest[1:2] == ["under"] and len(rest) > 2 else default, tuple(rest[:1]))
    if words[0] == "boards":
        entries = tuple(rest[1:2]) if rest[:1] == ["rows"] else ()
        return Shows(name, _after("under", rest) or default, entries)
    standard = rest[0].removesuffix(".csv") if rest else default
    of = tuple(_after("row", rest).split(",")) if "row" in rest else ()
    return Shows(name, standard if standard in find_benchmark(name).standards else default, of)


def _after(word: str, words: list[str]) -> str:
    return words[words.index(word) + 1] if word in words[:-1] else ""


def moved(path: str, query: str) -> str:
    """The present address of a former spelling, '' for a present one. Earlier versions chose by parameters."""
    pairs = parse_qsl(query, keep_blank_values=True)
    parameters = {name: value.strip() for name, value in pairs}
    words = path.strip("/").split("/")
    if path == "/" and "benchmark" in parameters:
        benchmark, standard, table = (parameters.get(name, "") for name in ("benchmark", "standard", "table"))
        board = BoardQuery(benchmark, standard, table, parameters.get("columns", "none") != "none", _page(parameters))
        rest = [pair for pair in pairs if pair[0] not in ("benchmark", "standard", "table", "columns", "page", "from")]
        return _with(board.address(), rest)
    if words[0] == "model" and "standard" in parameters and "under" not in words and len(words) > 2:
        place = "/".join(words[:3]) + (f"/under/{parameters['standard']}" if parameters["standard"] else "")
        return _quoted("/".join(("", place, *words[3:])))
    if path.startswith("/api/v1/boards/") and parameters.keys() & {"standard", "page"}:
        under = f"/under/{parameters['standard']}" if parameters.get("standard") else ""
        return _quoted(f"{path}{under}" + (f"/page/{_page(parameters)}" if "page" in parameters else ""))
    if words[0] == "download" and len(words) > 2 and "," not in parameters.get("models", ","):
        return _quoted(f"/model/{words[1]}/{parameters['models']}/under/{words[2].removesuffix('.csv')}/scores.csv")
    if words[0] == "download" and parameters.get("table"):
        return _quoted(f"{path.removesuffix('.csv')}/{parameters['table']}.csv")
    return ""


def _page(parameters: Mapping[str, str]) -> int | str:
    text = parameters.get("page", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 7 and int(text) else text or 1


def _with(path: str, pairs: list[tuple[str, str]]) -> str:
    return _quoted(path) + (f"?{urlencode(pairs, safe=',')}" if pairs else "")


def _quoted(path: str) -> str:
    return quote(path, safe="/,:~+@")
