"""An IRIS standard. Each one is a file, `standard_<name>.py`: the inaugural one, and what others change of it.

Sources (arXiv:2603.00590): Algorithm 1 (S, K, the norms), A.2.4 (their calibration), A.3.2 (tau), A.3.4 (succession).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from .granular import GRANULAR, Granular, table_sha256


@dataclass(frozen=True)
class Calibrated:
    """One model that S was calibrated on.

    Args:
        entry: its row on the board.
        model, organisation: Names on the board.
        values_sha256: Hash of its raw values, '' where they are printed magnitudes.
        magnitudes: sector (and `total`) -> its distance from the ideal; a sector that is not known is left out.
    """

    entry: str
    model: str
    organisation: str
    values_sha256: str
    magnitudes: Mapping[str, float]


@dataclass(frozen=True)
class IrisStandard:
    """Parameters of the scores of raw values: S * exp(-K * magnitude) per sector and in total.

    Args:
        name: key of the standard; its file is `standard_<name>.py`.
        draft: Reason why it is not released, or ''.
        scale, decay: S and K by sector, and under `total`.
        sector_divisor: metric -> what its value is divided by before the sector's norm (1 if absent).
        total_divisor: the same for the total's norm.
        quality_scale: penalty of a quality -> units in one unit as measured (1 if absent), 100 for points of 100.
        fidelity_by_goodness: RFS_Und as 1 - sqrt(G_JSD * G_SDS) over 13 drifts (Table 27) instead of an L2 norm.
        tau: threshold of the profile code.
        minimum_coverage: below this share of valid samples a ranked value is undefined.
        floors: competence value -> what it must reach (`_max` in the name: must not exceed), by sector.
        note: Remark on S and K for readers.
        metrics: the granular metrics that are scored, each in its sector; the 60 of Table 6, or more, or others.
        metrics_sha256: `table_sha256` of `metrics`; '' only while a standard is being written.
        date: Day of its release, or of its proposal.
        why: Difference from earlier standards.
        cohort: the models whose median S puts at 60.
        cohort_source: Source of their figures.
        references: file in `builders/reference/` that measuring reads -> its sha256.
        dataset_revisions: dataset -> the revisions that it was released for.
        together: title of a group of rows -> the protocols that are ranked together; others stand each by itself.
        ares: the classifier's revision that it was released with, or that there was none.
        calibration: Figures that S was calibrated on, row by row; empty where the figures are the paper's.

    Raises:
        ValueError: `metrics` is not the table that `metrics_sha256` names: a released table was changed.
    """

    name: str
    draft: str
    scale: Mapping[str, float]
    decay: Mapping[str, float]
    sector_divisor: Mapping[str, float]
    total_divisor: Mapping[str, float]
    fidelity_by_goodness: bool
    tau: float = 60.0
    minimum_coverage: float = 0.7
    floors: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    note: str = ""
    quality_scale: Mapping[str, float] = field(default_factory=dict)
    metrics: tuple[Granular, ...] = GRANULAR
    metrics_sha256: str = ""
    date: str = ""
    why: str = ""
    cohort: tuple[str, ...] = ()
    cohort_source: str = ""
    references: Mapping[str, str] = field(default_factory=dict)
    dataset_revisions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    together: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    ares: str = ""
    calibration: tuple[Calibrated, ...] = ()

    def __post_init__(self) -> None:
        """Refuse another table of metrics than the one that the standard was written with."""
        digest = table_sha256(self.metrics)
        if self.metrics_sha256 not in ("", digest):
            raise ValueError(
                f"standard {self.name}: its metrics have the hash {digest}, and it was written with "
                f"{self.metrics_sha256}. Leave released metrics as they are; a new standard lists its own."
            )

    def __hash__(self) -> int:
        """Hash of its name, so that results under a standard can be cached."""
        return hash(self.name)

    @cached_property
    def by_sector(self) -> Mapping[str, tuple[Granular, ...]]:
        """Sector -> its metrics; sectors and metrics in the order of `metrics`."""
        sectors = dict.fromkeys(metric.sector for metric in self.metrics)
        return {sector: tuple(m for m in self.metrics if m.sector == sector) for sector in sectors}

    @property
    def sectors(self) -> tuple[str, ...]:
        """The sectors that a model is scored in: the six of Table 6, and what `metrics` adds to them."""
        return tuple(self.by_sector)
