"""`python -m tests.coverage` writes `cards/coverage.md`."""

from tests.coverage import ROOT, document

(ROOT / "cards/coverage.md").write_text(document(), encoding="utf-8")
