import re
import shlex
from collections.abc import Iterator, Mapping
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
import typer.main

import fairspace
import fairspace.submissions.commands.main
from fairspace.builders.publishing.artifacts import choose, metric_names
from fairspace.cards.site import hook
from fairspace.cards.site.hook import ROOT, markdown
from fairspace.submissions.benchmarks.registry import NAMES, benchmark
from tests.scored_baselines import scored_baseline

MACHINE = re.compile(r"^(?:\S*/)?fairspace (?=[a-z-])")


class Outside(HTMLParser):
    """Collects a page's resources from other servers, and the names of its places."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.places.add(found.get("id") or "")
        address = found.get("src") or (found.get("href") if tag == "link" and found.get("rel") != "canonical" else "")
        if (address or "").startswith(("http:", "https:", "//")):
            self.loaded.append(f"{tag} {address}")


def names_in_results(name: str) -> list[str]:
    result = scored_baseline("constant", name)
    return list(dict.fromkeys([*result.scored.scores, *result.values]))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, Path | bytes]]:
    """The static Space's files; its pages list results that other tests have scored."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hook, "value_names", lambda bench: names_in_results(bench.name))
        (docs,) = choose(["docs"], Path(), Path(), "fairspace", allow_sample=False)
        yield docs.files(tmp_path_factory.mktemp("site"))


def page(site: Mapping[str, Path | bytes], path: str) -> str:
    file = site[path]
    assert isinstance(file, Path)
    return file.read_text(encoding="utf-8")


@pytest.mark.slow
def test_every_metric_value_function_and_document_has_its_place(site: Mapping[str, Path | bytes]) -> None:
    assert all(f"metrics/{name}/index.html" in site for name in metric_names())
    for name in NAMES:
        texts = [page(site, path) for path in site if path.startswith(f"values/{name}/")]
        places = set().union(*(Outside(text).places for text in texts))
        assert set(names_in_results(name)) <= places
        assert all("Range" in text or "from 0" in text or "ideal" in text for text in texts)
    assert {"fairspace.score", "fairspace.run", "fairspace.Result.to_latex"} <= Outside(
        page(site, "reference/python/index.html")
    ).places
    for path in markdown():
        shown = path.removesuffix("README.md") if path.endswith("README.md") else f"{path.removesuffix('.md')}/"
        assert f"{shown}index.html" in site or path == "README.md", path


@pytest.mark.slow
def test_every_public_name_module_and_start_page_is_there(site: Mapping[str, Path | bytes]) -> None:
    places = Outside(page(site, "reference/python/index.html")).places
    assert {f"fairspace.{name}" for name in fairspace.__all__ if not name.startswith("_")} <= places
    parts = Outside(page(site, "reference/parts/index.html")).places
    assert {*hook.PARTS, "fairspace.ares.modeling_ares.AresModel", "fairspace.testing.fairspace_gate"} <= parts
    assert all("Args:" in page(site, f"metrics/{name}/index.html") for name in metric_names())
    for name in re.findall(r"cards/start/(\w+)\.md", (ROOT / "README.md").read_text(encoding="utf-8")):
        assert f"cards/start/{name}/index.html" in site
    for picture in re.findall(rf'"{hook.PICTURES}/([^"]+)"', (ROOT / "README.md").read_text(encoding="utf-8")):
        assert f'"{picture}"' in page(site, "index.html")
        assert picture in site
    links = re.findall(r"\]\((\S+)\)", page(site, "llms.txt"))
    assert len(links) > 20
    address = "https://fairspace-docs.static.hf.space/"
    assert all(f"{link.removeprefix(address)}index.html" in site for link in links)


def test_the_repositorys_llms_txt_is_made_of_the_site_and_leads_to_files() -> None:
    text = (ROOT / "llms.txt").read_text(encoding="utf-8")
    assert text == hook.llms(lambda path: path if (ROOT / path).is_file() else ""), "make docs"
    assert re.match(r"# fairspace\n\n> fairspace measures [^\n]+\n\n", text)
    assert [*re.findall(r"^## (.+)$", text, re.MULTILINE)] == ["Start", "How to", "Reference", "Background"]
    links = re.findall(r"^- \[[^]]+\]\(([^)]+)\)(?:: .+)?$", text, re.MULTILINE)
    assert len(links) == len(re.findall(r"^- ", text, re.MULTILINE)) > 15
    assert all((ROOT / link).is_file() for link in links)
    assert {path for path in markdown() if path.startswith(("cards/start/", "README"))} <= {*links}


@pytest.mark.slow
def test_no_page_loads_anything_from_elsewhere(site: Mapping[str, Path | bytes]) -> None:
    pages = [path for path in site if path.endswith(".html")]
    assert len(pages) > 80
    assert [(path, found) for path in pages if (found := Outside(page(site, path)).loaded)] == []


def test_the_names_of_values_are_those_of_a_result() -> None:
    assert hook.value_names(benchmark("stereotypical_bias")) == names_in_results("stereotypical_bias")


def commands(text: str) -> list[str]:
    """Command lines in a page's blocks of code and within its text."""
    blocks = re.findall(r"^```(?:bash|console)\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    lines = [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]
    inline = re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE))
    lines = [line.strip().replace('"$(which fairspace)"', "fairspace") for line in lines]
    lines = [re.sub(r"^(?:\$ |[A-Z_]+=\S+ )+", "", line) for line in lines]
    return [line for line in [*lines, *inline] if MACHINE.match(line)]


@cache
def application() -> Any:
    return typer.main.get_command(fairspace.submissions.commands.app.app)


@pytest.mark.parametrize("path", [path for path in markdown() if "CHANGELOG" not in path])
def test_every_command_exists_with_its_options(path: str) -> None:
    for line in commands((ROOT / path).read_text(encoding="utf-8")):
        words = shlex.split(MACHINE.sub("", line.partition(" #")[0]).replace("'", ""))
        chosen: list[Any] = [application()]
        for word in words:
            if not hasattr(chosen[0], "commands") or word.startswith(("-", "...", "…")):
                break
            by_path = word not in chosen[0].commands and "parse_args" in vars(type(chosen[0]))
            assert by_path or word in chosen[0].commands, f"{path}: {line}"
            chosen = list(chosen[0].commands.values()) if by_path else [chosen[0].commands[word]]
            if by_path:
                break
        parameters = [parameter for command in chosen for parameter in command.params]
        known = {option for parameter in parameters for option in [*parameter.opts, *parameter.secondary_opts]}
        used = {word.partition("=")[0] for word in words if word.startswith("--")}
        assert used <= known | {"--help"}, f"{path}: {line}"
