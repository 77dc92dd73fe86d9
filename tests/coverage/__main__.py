"""`python -m tests.coverage` writes `cards/coverage.md`, and a page for each paper into `cards/papers`."""

from tests.coverage import ROOT, document
from tests.coverage.papers import FOLDER, PAPERS, page

(ROOT / "cards/coverage.md").write_text(document(), encoding="utf-8")
(ROOT / FOLDER).mkdir(exist_ok=True)
for name in PAPERS:
    (ROOT / FOLDER / f"{name}.md").write_text(page(name), encoding="utf-8")
