"""`python -m tests.foreign` prints the table of doors; `--write` puts it into RUNNING.md."""

import sys

from tests.foreign import BEGIN, END, PAGE, table

if "--write" in sys.argv[1:]:
    text = PAGE.read_text(encoding="utf-8")
    before, after = text.split(f"{BEGIN}\n")[0], text.split(END)[1]
    PAGE.write_text(f"{before}{BEGIN}\n{table()}{END}{after}", encoding="utf-8")
else:
    print(table(), end="")
