"""The command `fairspace probe`: what the representations of a model hold (IRIS, appendices D.3 and E)."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from fairspace.submissions.commands.app import RUN, app
from fairspace.submissions.errors import UsageError, need_packages
from fairspace.submissions.plotting import digits

FILE = "probe.json"


@app.command(epilog="Example: fairspace probe models/Janus-Pro-1B --recipe janus --out probed", rich_help_panel=RUN)
def probe(
    model: Annotated[
        str, typer.Argument(help="A folder, ID or ID@REVISION, or python:./FILE.py:FUNCTION.", metavar="MODEL")
    ],
    recipe: Annotated[str, typer.Option(help="A .toml or .json file, or janus or qwen-image, which come along.")],
    out: Annotated[Path, typer.Option(help="Folder for probe.json and a CSV file per probe.")],
    occupations: Annotated[
        str, typer.Option(help="With commas, NAME or NAME:GENDER of the stereotype; those of Table 30 if left out.")
    ] = "",
    images: Annotated[
        Path | None, typer.Option(help="Folder of OCCUPATION/GENDER/*.png and anchor/GENDER/*.png, for RSA.")
    ] = None,
    steps: Annotated[int | None, typer.Option(help="Generation steps to follow; all if left out.", min=2)] = None,
) -> None:
    """Probe a model's representations: association, similarity, consistency, distortion, steps and complexity."""
    need_packages("run", "torch", "transformers", "diffusers")
    from fairspace.submissions.probing.measuring import ProbeSettings, dumps
    from fairspace.submissions.probing.measuring import probe as probed
    from fairspace.submissions.probing.opening import open_model
    from fairspace.submissions.probing.recipe import read_recipe
    from fairspace.submissions.probing.stimuli import make_stimuli
    from fairspace.submissions.probing.tables import csv_of
    from fairspace.submissions.progress import progress

    _check_out(out)
    read = read_recipe(recipe)
    stimuli = make_stimuli(occupations, images)
    opened = open_model(model, read)
    with progress(f"Probing {opened.name}", None) as bar:
        document = probed(opened, read, stimuli, ProbeSettings(steps=steps), lambda _, done: bar(done))
    texts = {FILE: dumps(document)}
    for name, each in document["probes"].items():
        if each["state"] != "not_run":
            texts[f"{name}.csv"] = csv_of(name, each)
    out.mkdir(exist_ok=True)
    for name, text in texts.items():
        part = out / f".{name}.part"
        part.write_text(text, encoding="utf-8", newline="\n")
        part.replace(out / name)
    for name, each in document["probes"].items():
        _tell(name, each)
    typer.echo(f"Wrote {out}: probe.json, and a CSV file per probe.")


def _check_out(out: Path) -> None:
    """UsageError where the folder cannot be written, or holds something else."""
    if not out.parent.is_dir():
        raise UsageError(f"There is no folder {out.parent} to write {out.name} to; make it first.")
    if out.exists() and (not out.is_dir() or (any(out.iterdir()) and not (out / FILE).is_file())):
        raise UsageError(f"{out} holds something else; name another --out.")


def _tell(name: str, probe_values: dict[str, Any]) -> None:
    if probe_values["state"] == "value":
        ends = probe_values["interval"]
        shown = f" ({digits(ends[0])} to {digits(ends[1])})" if ends else ""
        typer.echo(f"{name}: {digits(probe_values[name])}{shown}")
    else:
        rest = probe_values.get("partial_mean")
        of_others = "" if rest is None else f"; mean of the others: {digits(rest)}"
        typer.echo(f"{name}: {probe_values['state'].replace('_', ' ')}: {probe_values['reason']}{of_others}")
