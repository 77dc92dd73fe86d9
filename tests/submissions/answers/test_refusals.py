import re
from pathlib import Path

from fairspace.submissions.answers import refusals

SUBMISSIONS = Path(__file__).parents[3] / "submissions"
MODULES = {
    path.relative_to(SUBMISSIONS).with_suffix("").as_posix().replace("/", ".").removeprefix("benchmarks."): path
    for path in (*SUBMISSIONS.glob("answers/*.py"), *SUBMISSIONS.glob("benchmarks/*/parse/*.py"))
}
MAKES = re.compile(r"(?<![.\w])refused\(|\b[A-Z_]+\.read\(")


def test_a_refused_reading_is_made_in_one_module() -> None:
    makers = [name for name, path in MODULES.items() if 'Reading("refused"' in path.read_text(encoding="utf-8")]
    assert makers == ["answers.refusals"]


def test_the_table_lists_the_readers_that_return_a_refusal() -> None:
    table = set(re.findall(r"^\| ([a-z_]+\.[a-z_.]+)", refusals.__doc__ or "", re.MULTILINE))
    makers = {
        name
        for name, path in MODULES.items()
        if MAKES.search(text := path.read_text(encoding="utf-8")) and "answers.refusals import" in text
    }
    assert {name.removesuffix(".read_around") for name in table} == makers


def test_the_table_lists_every_kind() -> None:
    kinds = {name for name, kind in vars(refusals).items() if isinstance(kind, refusals.Refusals)}
    assert kinds <= set(re.findall(r"[A-Z_]{4,}", refusals.__doc__ or ""))
