"""`fairspace ares quality`: rate annotated images for IRIS' image quality and semantics (M8, M9)."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fairspace.submissions.commands.ares import DeviceOption, app, faces_setting
from fairspace.submissions.errors import UsageError, need_packages


@app.command(
    epilog="Example: fairspace ares quality mine.run/images/generation_steer/shards --annotations mine --out rated"
)
def quality(
    images: Annotated[str, typer.Argument(help="The steered images of IRIS, as `ares annotate` takes images.")],
    annotations: Annotated[Path, typer.Option(help="Folder with annotations*.parquet of the same images.")],
    out: Annotated[
        Path, typer.Option(help="Folder to write to, or to go on in; that of --annotations has its files replaced.")
    ],
    iqa: Annotated[str, typer.Option(help="Rates images: clip:ID; '' leaves image_quality as it is.")] = "clip",
    face_iqa: Annotated[
        str, typer.Option("--face-iqa", help="Rates faces: clip:ID, a proxy, or pyiqa:METRIC; '' likewise.")
    ] = "clip",
    similarity: Annotated[str, typer.Option(help="Compares images with prompts: clip:ID; '' likewise.")] = "clip",
    reference: Annotated[
        str, typer.Option(help="Compares images with the references: dinov2:ID; '' likewise.")
    ] = "dinov2",
    references: Annotated[
        str,
        typer.Option(
            help="Folder of builds, or NAMESPACE[@TAG], with IRIS-Ideal-52: its images are the references. If left "
            "out, the prompt's other images are (dataset revision v1)."
        ),
    ] = "",
    faces: Annotated[
        str, typer.Option(help="Face detector, a folder or ID@REVISION; the whole image if left out.")
    ] = "",
    batch: Annotated[int, typer.Option(help="Images at a time; changes nothing but speed.", min=1)] = 32,
    device: DeviceOption = "",
) -> None:
    """Measure image quality and semantics (IRIS M8, M9) of annotated images; a stopped run goes on where it was."""
    need_packages("ares", "torch", "transformers", "safetensors")
    from fairspace.submissions.progress import reported
    from fairspace.submissions.reading.tables import META
    from fairspace.submissions.running.quality.folder import fill_quality
    from fairspace.submissions.running.quality.opening import open_quality
    from fairspace.submissions.running.quality.references import References

    if not any((iqa, face_iqa, similarity, reference)):
        raise UsageError("Nothing is to be measured; name one of --iqa, --face-iqa, --similarity, --reference.")
    if out.exists() and not out.is_dir():
        raise UsageError(f"{out} is no folder; name a folder for --out.")
    if (out / META).exists():
        raise UsageError(f"{out} is a submission; name another --out, then copy its annotations*.parquet here.")
    compared = References.opened(references) if reference and references else None
    models = open_quality(
        iqa=iqa,
        face_iqa=face_iqa,
        similarity=similarity,
        reference=reference,
        references=compared,
        detector=faces_setting(faces),
        device=device,
    )
    place = out.resolve()
    cache = place.with_name(f"{place.name}.run") / "quality.sqlite"  # where `fairspace run` keeps it too
    with reported(f"Measuring {images}") as report:
        rated = fill_quality(images, annotations, out, models, cache=cache, batch=batch, progress=report)
    counts = ", ".join(f"{number:,} {name.replace('_', ' ')}" for name, number in rated.counts.items() if number)
    typer.echo(f"{out}: {counts or 'no images of the steer prompts'}")
    for column, name in rated.about.items():
        typer.echo(f"  {column}: {name}")
