"""The verdict of every-eval-ever's validator on all records below a folder; for a Python that has it (>= 3.12)."""

import json
import sys
from pathlib import Path

from every_eval_ever.validator.validation_core import validate_aggregate  # type: ignore[import-not-found]

root = Path(sys.argv[1])
said = {}
for file in sorted(root.rglob("*.json")):
    path = file.relative_to(root).as_posix()
    report = validate_aggregate(file, repo_path=path, run_semantic_checks=True)
    said[path] = {"valid": report.valid, "errors": report.errors, "warnings": report.warnings}
print(json.dumps(said, ensure_ascii=False, indent=1, default=str))
