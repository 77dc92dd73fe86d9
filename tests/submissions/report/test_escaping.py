import csv
import io
import json
import re
from dataclasses import fields, replace
from functools import lru_cache
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

import fairspace as fs
from fairspace.submissions.errors import plain
from fairspace.submissions.report.contents import Report, make_report, to_csv, to_html, to_latex, to_markdown
from fairspace.submissions.results.board import board
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.scoring import rescore
from fairspace.submissions.show.board import board_text
from fairspace.submissions.show.result import result_text
from tests.submissions.conftest import Run
from tests.submissions.results.test_tiers import result, waves

NAMES = {
    "closing tag of rich": "A[/]",
    "style of rich": "[bold red]m[/bold red]",
    "link of rich": "[link=https://evil.example]m[/link]",
    "emoji of rich": "m :skull:",
    "HTML": "<img src=x onerror=alert(1)>",
    "HTML that closes": "</title></td></svg><script>alert(1)</script>\"' onload='x",
    "entity": "&lt;script&gt;",
    "link of Markdown": "[x](javascript:alert(1))",
    "image of Markdown": "![y](http://evil.example/a.png)",
    "autolink": "<https://evil.example> https://evil.example www.evil.example a@evil.example",
    "heading and list": "# h",
    "code and table": "`a` | b | ~~c~~ **d** _e_ $f$",
    "TeX": r"\input{/etc/passwd} $x$ 100 % #1 & ~^_ {a}",
    "formula": "=1+1",
    "formula behind a line break": "\r=1+1",
    "formula behind a separator": "a;@SUM(1)",
    "line breaks": "a\r\nb\n\n# c\u2028d\u2029e",
    "order of writing": "a\u202eb\u2066c",
    "zero width": "a\u200bb\ufeffc\u00ad",
    "controls": "a\x1b[31mb\x07\x00\x9b31m",
    "very long": "long [/] <b> \\x " * 500,
    "half a pair": "a\ud800b",
}
STEERING = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\xad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]")


@lru_cache
def made(level: float, wave: int) -> Result:
    return rescore(result("m", level, waves(0.01, wave)), "up_to_twenty")


def scored(model: str, level: float, wave: int) -> Result:
    unnamed = made(level, wave)
    return replace(unnamed, meta={**unnamed.meta, "model": model, "revision": model})


def report_of(name: str) -> Report:
    return make_report([scored(name, 0.2, 3), scored("beside", 0.3, 4)])


@pytest.fixture(params=NAMES.values(), ids=[kind.replace(" ", "_") for kind in NAMES])
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def letters(text: str) -> str:
    """A text without white space, which terminals fold."""
    return re.sub(r"\s", "", text)


def test_terminal(name: str) -> None:
    first, second = scored(name, 0.2, 3), scored("beside", 0.3, 4)
    told = result_text(first)
    assert letters(plain(name)) in letters(told)
    told += board_text(first.benchmark, first.standard, board(first.benchmark, first.standard, [first, second]))
    assert letters(plain(name)) in letters(told)
    assert not STEERING.search(told)


def test_comparison(name: str, run: Run, tmp_path: Path) -> None:
    files = [tmp_path / "first.json", tmp_path / "second.json"]
    for file, each in zip(files, (scored(plain(name), 0.2, 3), scored("beside", 0.3, 4)), strict=True):
        file.write_text(json.dumps(each.to_json()), encoding="utf-8")
    told = run.fine("compare", *files)
    assert letters(f"beside against {plain(name)}: sure differences") in letters(told)
    assert not STEERING.search(told)


def test_markdown(name: str) -> None:
    text = to_markdown(report_of(name))
    page = MarkdownIt("gfm-like").render(text)
    tags = set(re.findall(r"<(\w+)", page))
    assert tags <= {"h1", "h2", "p", "ul", "li", "strong", "table", "thead", "tbody", "tr", "th", "td", "pre", "code"}
    assert page.count("<h1>") == 1
    assert page.count("<table>") == text.count("\n| --- ")
    headings = re.findall(r"<h1>(.*?)</h1>", page, re.S)
    assert unescape(headings[0]).split(" and beside on ")[0].split() == plain(name).split()
    assert not STEERING.search(text)


def test_csv(name: str) -> None:
    text = to_csv(report_of(name))
    lines = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    assert {len(line) for line in lines} == {len(lines[0])}
    assert not any(re.match(r"\s*[=+@-]", cell) and not is_number(cell) for line in lines for cell in line)
    assert not STEERING.search(text)


def test_latex(name: str) -> None:
    text = to_latex(report_of(name))
    code = "\n".join(line for line in text.splitlines() if not line.startswith("%"))
    drawn = {"begin", "end", "toprule", "midrule", "bottomrule", "caption", "label", "centering", "times"}
    assert set(re.findall(r"\\([A-Za-z]+)", code)) <= drawn | {"textbackslash", "textasciitilde", "textasciicircum"}
    assert not re.search(r"(?<!\\)[#%]|[\^~]", code.replace("tab:", ""))
    for body in re.findall(r"\\toprule\n(.*?)\\bottomrule", code, re.S):
        assert len({len(re.findall(r"(?<!\\)&", line)) for line in body.splitlines() if line.endswith("\\\\")}) == 1
    assert not STEERING.search(text)


def test_pages(name: str) -> None:
    report = report_of(name)
    made_of = [field.name for field in fields(Result) if field.init]
    first, second = (fs.Result(**{field: getattr(each, field) for field in made_of}) for each in report.results)
    page = to_html(report)
    assert tags_of(page) == usual_tags()
    assert not STEERING.search(page)
    for shown in (first._repr_html_(), fs.compare(first, second)._repr_html_()):
        assert not STEERING.search(shown)
        assert {tag for tag, _ in tags_of(shown)} <= {"table", "thead", "tbody", "tr", "th", "td", "ul", "li", "p"}


@lru_cache
def usual_tags() -> set[tuple[str, tuple[str, ...]]]:
    return tags_of(to_html(report_of("usual")))


def tags_of(page: str) -> set[tuple[str, tuple[str, ...]]]:
    tags: set[tuple[str, tuple[str, ...]]] = set()

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            tags.add((tag, tuple(key for key, _ in attrs)))

    Reader().feed(page)
    return tags


def is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
