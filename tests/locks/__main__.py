"""`python -m tests.locks` prints the numbers that moved; `--write` keeps the current ones."""

import argparse
import json
import sys

from tests.locks.numbers import KEPT, PARTS, moved

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--write", action="store_true", help="keep the numbers as they are now")
parser.add_argument("parts", nargs="*", default=list(PARTS), help=f"some of {', '.join(PARTS)}")
chosen = parser.parse_args()
kept = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
now = {part: dict(PARTS[part]()) for part in chosen.parts}
lines = {part: moved(kept.get(part, {}), now[part]) for part in chosen.parts}
for part, said in lines.items():
    print(f"{part}: {len(said)} moved")
    print("".join(f"  {line}\n" for line in said[:40]), end="")
if chosen.write:
    KEPT.write_text(json.dumps(kept | now, indent=0) + "\n", encoding="utf-8")
sys.exit(any(lines.values()) and not chosen.write)
