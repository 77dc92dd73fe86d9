"""`make rows`: the cores of many models, one after another; the same command goes on where it stopped.

OUT/MODEL/BENCHMARK-REVISION/    as `fairspace eval` writes it

`rows.toml` lists the models, and for each kind its cores. A model of the Hub is opened at `main`; its manifest records
the commit. Each core has a process of its own: memory is free after it, and a crash ends it alone.
"""

import json
import re
import sys
import tomllib
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from fairspace.builders.errors import BuildError
from fairspace.builders.models import weights
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.checking.names import HUB
from fairspace.submissions.errors import UsageError, plain
from fairspace.submissions.running.asking.inspect_task import ChosenPart
from fairspace.submissions.running.asking.models import ModelSettings
from fairspace.submissions.running.evaluating import evaluate, folder_of
from fairspace.submissions.running.planning import DRAWN_TOKENS
from fairspace.submissions.running.settings import ModelFacts

LIST: dict[str, Any] = tomllib.loads(Path(__file__).with_name("rows.toml").read_text(encoding="utf-8"))
KILLED = "its process was killed, often for want of memory. Mend: free memory, and start the same command again"
OPTIONS = {"data": "pictures to show", "labeller": "labels images", "judge": "reads GENRES' stories"}


def main(words: Sequence[str] | None = None) -> int:
    """Evaluate models on the cores that their kinds allow. Exit code 1 if something failed."""
    parser = ArgumentParser(prog="rows", description=main.__doc__)
    parser.add_argument("models", nargs="*", help="OWNER/NAME, ./FOLDER or @FILE; the list if left out")
    parser.add_argument("--out", type=Path, default=Path("rows"))
    parser.add_argument("--limit", type=int, help="at most so many stimuli of a task: a trial")
    parser.add_argument("--dry-run", action="store_true", help="print the plan alone")
    for option, use in OPTIONS.items():
        parser.add_argument(f"--{option}", default="", help=use)
    options, failed, jobs = parser.parse_args(words), dict[str, str](), []
    for name, benchmarks in wanted_models(options.models).items():
        try:
            kind = kind_of(name)
        except BuildError as error:
            failed[name] = str(error)
            continue
        asked, about = LIST["kinds"][kind], LIST["models"].get(name)
        takes = (
            "{gb} GB, {hours} hours (estimates); {licence}, gated: {gated}".format(**about)
            if about
            else "size not known"
        )
        print(f"{name}: {kind}; {asked['requests']:,} requests, {asked['images']:,} images; {takes}")
        cores = dict.fromkeys([*asked["answers"], *asked["makes"]])
        jobs += [(name, kind, core) for core in cores if not benchmarks or core.partition("@")[0] in benchmarks]
    for job in jobs if not options.dry_run else ():
        try:
            with ProcessPoolExecutor(1, get_context("spawn")) as pool:
                fault = pool.submit(run_core, *job, options).result()
        except BrokenExecutor:
            fault = KILLED
        print(f"{job[0]}, {job[2]}: {'failed' if fault else 'done'}", flush=True)
        failed |= {f"{job[0]}, {job[2]}": fault} if fault else {}
    print(f"Onto a board: fairspace submit {options.out}/MODEL/BENCHMARK/submission --space OWNER/NAME, for each.")
    for what, fault in failed.items():
        print(plain(f"Failed: {what}: {fault}"), file=sys.stderr)
    return bool(failed)


def wanted_models(words: Sequence[str]) -> dict[str, Sequence[str]]:
    """Model -> benchmarks that it is wanted for, all if empty; @FILE holds the answer of a Space's /api/v1/wanted.

    SystemExit: another file, or a name that is neither one of the Hub nor, given by hand, a folder.
    """
    models: dict[str, Sequence[str]] = dict.fromkeys([word for word in words or LIST["models"] if word[0] != "@"], ())
    for word in [word for word in words if word[0] == "@"]:
        try:
            asked = json.loads(Path(word[1:]).read_text(encoding="utf-8"))["models"]
            models |= {str(each["model"]): each["benchmarks"] for each in asked if each["state"] == "asked"}
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise SystemExit(f"{word} is no answer of /api/v1/wanted ({error}); save it with `curl`.") from error
    for name in models:
        if not (HUB.fullmatch(name) or (name in words and name.startswith((".", "/")))):
            raise SystemExit(f"{name[:100]!r} is no model; name it OWNER/NAME as on the Hub, or ./FOLDER.")
    return models


def kind_of(name: str) -> str:
    """The kind of a model: the list's, else by its configuration. BuildError TOOL_MISSING."""
    if name in LIST["models"]:
        return str(LIST["models"][name]["kind"])
    try:
        config = json.loads(weights.find(_pinned(name), "config.json").marker.read_text(encoding="utf-8"))
    except BuildError:
        return "text-to-image" if weights.find(_pinned(name), "model_index.json") else ""
    kind = "vision-language" if "vision_config" in config else "language model"
    return "unified" if config.get("model_type") in DRAWN_TOKENS else kind


def run_core(name: str, kind: str, core: str, options: Namespace) -> str:
    """Evaluate a model on a core, BENCHMARK@REVISION, unless that is done; the error with its remedy, '' for none."""
    asked, about, (bench, revision) = LIST["kinds"][kind], LIST["models"].get(name, {}), core.split("@")
    blind = kind == "language model" and "text_only" in benchmark(bench).asking.options
    data, limit = "" if kind == "language model" else options.data, options.limit
    part = ChosenPart(bench, data, (), limit, limit is not None, text_only=blind, dataset_revision=revision)
    folder = options.out / re.sub(r"[^\w.-]+", "-", name).strip("-.")
    report, result = (folder_of(part, folder) / file for file in ("report.html", "result.json"))
    if report.exists() and json.loads(result.read_bytes())["meta"]["generation"].get("limit") == limit:
        return ""
    images = f"{asked['images_by']}:{_pinned(name)}{about.get('settings', '')}" if core in asked["makes"] else ""
    facts = {fact: about[fact] for fact in ("licence", "parameters") if about}
    stated = ModelFacts(name.lstrip("./"), open_weights=True, **facts)
    model = ModelSettings(f"local/{_pinned(name)}") if core in asked["answers"] else None
    try:
        if images and not options.labeller:
            raise UsageError("nothing labels its images. Mend: name a labeller, LABELLER=NAME")
        judge, labeller = ModelSettings(options.judge) if options.judge else None, options.labeller if images else ""
        evaluate(part, model, folder, judge=judge, images=images, ares=labeller, about=stated)
    except Exception as error:  # noqa: BLE001 a model's own code may raise anything, and the others are run all the same
        return f"{type(error).__name__}: {error}"
    return ""


def _pinned(name: str) -> str:
    """A model of the Hub at `main`: no folder of the same name stands for it."""
    return f"{name}@main" if HUB.fullmatch(name) else name


if __name__ == "__main__":
    sys.exit(main())
