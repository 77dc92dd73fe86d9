"""Whether new images look to ARES like those it was calibrated on, generator by generator.

`drift_checks` compares route shares and confidence. The p values of all checks are adjusted together
(Benjamini-Hochberg). A generator is warned about where the adjusted p is below `ALPHA` and the effect at least
`EFFECT`: with many images a difference that does not matter is significant as well. Where it warns, the error in
`measurement.json` need not hold for these images.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairspace.ares.evaluating.drift_checks import ALPHA, EFFECT, LEAST, Check, bad_input, compare
from fairspace.ares.evaluating.measurement import model_sha256

if TYPE_CHECKING:
    import pyarrow as pa

CALIBRATION, ANNOTATION = "calibration.json", "annotation.json"


@dataclass(frozen=True)
class Drift:
    """All checks, in the order of generators, tasks and attributes."""

    checks: tuple[Check, ...]

    @property
    def warnings(self) -> dict[str, list[str]]:
        """Generator -> what differs; {} where nothing does."""
        by_generator: dict[str, list[str]] = {}
        for check in self.checks:
            if check.warns:
                by_generator.setdefault(check.generator, []).append(f"{check.what}: {check.said}")
        return by_generator

    def to_json(self) -> dict[str, Any]:
        """As JSON data."""
        rule = {"alpha": ALPHA, "effect": EFFECT, "least": LEAST, "adjustment": "Benjamini-Hochberg"}
        return {"format": 1, "rule": rule, "checks": [asdict(check) for check in self.checks]}

    def text(self) -> str:
        """Lines for a terminal."""
        lines = []
        for check in self.checks:
            figures = "not tested"
            if check.effect is not None and check.adjusted is not None:
                figures = f"effect {check.effect:.3f}, adjusted p {check.adjusted:.2g}"
            mark = "WARNING" if check.warns else "ok" if check.p is not None else "-"
            lines.append(f"{mark:8}{check.generator}: {check.what}, {check.images} faces: {figures}. {check.said}")
        return "\n".join(lines)


def drift(model: Path, annotations: Sequence[Path]) -> Drift:
    """Compare new annotations with a model's calibration set.

    Args:
        model: its folder, with `calibration.json`.
        annotations: folders that `fairspace.ares.annotating.annotate.annotate` wrote, one per generator; or folders of
        such folders.

    Errors: BuildError DRIFT_INPUT if there is no calibration or no annotation, or another model made it.
    """
    known = _read(model / CALIBRATION)["tasks"]
    folders = [folder_of_annotations for folder in annotations for folder_of_annotations in _folders(folder)]
    names = [folder.resolve().name for folder in folders]
    if repeated := {name for name in names if names.count(name) > 1}:
        raise bad_input(
            sorted(repeated)[0], "two folders of this name", "one folder per generator", "rename one of them"
        )
    checks = []
    for name, folder in zip(names, folders, strict=True):
        data = _read(folder / ANNOTATION)
        by_model, expected = data.get("model", {}).get("sha256"), model_sha256(model)
        if by_model != expected:
            what = f"annotations of the model {str(by_model)[:16]}"
            raise bad_input(str(folder), what, f"of {expected[:16]}, whose calibration this is", "name that model")
        checks += compare(name, known, _routes(folder, data), asked=bool(data["settings"]["arbiter"]))
    return Drift(tuple(_adjusted(checks)))


def _adjusted(checks: Sequence[Check]) -> Iterator[Check]:
    from scipy.stats import false_discovery_control

    p_values = [check.p for check in checks if check.p is not None]
    adjusted = iter(false_discovery_control(p_values) if p_values else [])
    for check in checks:
        if check.p is None or check.effect is None:
            yield check
            continue
        p = float(next(adjusted))
        yield replace(check, adjusted=p, warns=p < ALPHA and check.effect >= EFFECT)


def _folders(folder: Path) -> list[Path]:
    if (folder / ANNOTATION).is_file():
        return [folder]
    folders = sorted(file.parent for file in folder.glob(f"*/{ANNOTATION}"))
    if not folders:
        mend = "name the folder that `fairspace ares annotate` wrote"
        raise bad_input(str(folder), f"no {ANNOTATION}", "finished annotations", mend)
    return folders


def _routes(folder: Path, data: Mapping[str, Any]) -> pa.Table:
    import pyarrow as pa
    import pyarrow.parquet as pq

    return pa.concat_tables([pq.read_table(folder / shard["routes"]["file"]) for shard in data["shards"]])


def _read(file: Path) -> dict[str, Any]:
    try:
        data: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        mend = "train the model with `fairspace ares train`, which writes its calibration"
        raise bad_input(str(file), str(error), "JSON that this software wrote", mend) from error
    return data
