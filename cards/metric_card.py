"""The published card of a metric: its README.md, with what `metrics/CARDS.md` says once for all metrics."""

from __future__ import annotations

import re
from pathlib import Path

SHARED = Path(__file__).parents[1] / "metrics" / "CARDS.md"
_CITED = re.compile(r"`(\w+)`: \[CARDS\.md\]\(\.\./CARDS\.md#papers\).*")
_ENTRY = re.compile(r"```bibtex\n@\w+\{(\w+),.*?```", re.DOTALL)


def metric_card(folder: Path) -> str:
    """The card of the metric in `folder`, complete by itself. KeyError if it cites a paper that CARDS.md lacks."""
    card, shared = (folder / "README.md").read_text(encoding="utf-8"), SHARED.read_text(encoding="utf-8")
    entries = {entry[1]: entry[0] for entry in _ENTRY.finditer(shared)}
    card = _CITED.sub(lambda cited: entries[cited[1]], card)
    about = shared[shared.index("## In every card") : shared.index("## Papers")].rstrip()
    return f"{card.replace('../CARDS.md', '')}\n{about}\n"
