"""Mutants of a file by Cosmic Ray's operators, and a seeded sample of them.

A place is drawn first and one of its mutants second, so that operators with many replacements (`+` has eleven) weigh no
more. Type annotations, which nothing evaluates, are left alone.
"""

import ast
import hashlib
import random
from collections import Counter, defaultdict
from dataclasses import dataclass
from difflib import unified_diff
from functools import cache

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.operators.provider import OperatorProvider

from tests.mutants.chosen import ROOT, SAMPLE, files

LEFT_OUT = ("RemoveDecorator", "VariableReplacer", "VariableInserter")
"""Unused operators: most decorators are caches, which change no value; the other two ask for a variable."""
Position = tuple[int, int]


@dataclass(frozen=True)
class Mutant:
    """One small slip; `occurrence` counts the operator in the file from 0, `code` is the whole changed file."""

    area: str
    file: str
    line: int
    operator: str
    occurrence: int
    change: str
    code: str


def sample(seed: int, areas: tuple[str, ...] = tuple(SAMPLE)) -> list[Mutant]:
    """The sample of each area in its own order, independent of other areas."""
    return [mutant for area in areas for mutant in _of_area(area, seed)]


def _of_area(area: str, seed: int) -> list[Mutant]:
    lots = [(lot, file, place) for file in files(area) for lot, place in _lots(seed, file)]
    drawn: list[Mutant] = []
    for lot, file, place in sorted(lots):
        source = (ROOT / file).read_text()
        operator, occurrence = random.Random(lot).choice(_places(source)[place])
        code = mutate_code(source, _operators()[operator], occurrence)
        if code is None or not _differs(source, code):
            continue
        drawn.append(Mutant(area, file, place[0], operator, occurrence, _change(source, code), code))
        if len(drawn) == SAMPLE[area]:
            break
    return drawn


def _lots(seed: int, file: str) -> list[tuple[str, Position]]:
    """Each place of a file with its lot; the lowest lots are drawn.

    A lot depends on the seed, the file, the line's text and the column alone, so changes elsewhere keep the sample.
    """
    source = (ROOT / file).read_text()
    lines, seen, lots = source.splitlines(), Counter[str](), []
    for line, column in sorted(_places(source)):
        about = f"{seed} {file} {lines[line - 1].strip()} {column}"
        seen[about] += 1
        lots.append((hashlib.sha256(f"{about} {seen[about]}".encode()).hexdigest(), (line, column)))
    return lots


@cache
def _operators() -> dict[str, object]:
    provider = OperatorProvider()
    return {name: provider[name]() for name in provider if name not in LEFT_OUT}


@cache
def _places(source: str) -> dict[Position, list[tuple[str, int]]]:
    """Line and column -> operators and their occurrences there."""
    nodes = list(ast_nodes(get_ast(source)))
    annotated = _annotations(source)
    found: dict[Position, list[tuple[str, int]]] = defaultdict(list)
    for name, operator in _operators().items():
        starts = [start for node in nodes for start, _ in operator.mutation_positions(node)]  # type: ignore[attr-defined]
        for occurrence, start in enumerate(starts):
            if not any(first <= start < last for first, last in annotated):
                found[start].append((name, occurrence))
    return dict(found)


def _annotations(source: str) -> list[tuple[Position, Position]]:
    """Ranges of annotations; `ast` counts columns in bytes."""
    found = []
    for node in ast.walk(ast.parse(source)):
        for part in (getattr(node, "annotation", None), getattr(node, "returns", None)):
            if isinstance(part, ast.expr):
                assert part.end_lineno is not None
                assert part.end_col_offset is not None
                found.append(((part.lineno, part.col_offset), (part.end_lineno, part.end_col_offset)))
    return found


def _differs(source: str, code: str) -> bool:
    """Whether the code is valid Python with another meaning."""
    try:
        return ast.dump(ast.parse(source)) != ast.dump(ast.parse(code))
    except SyntaxError:
        return False


def _change(source: str, code: str) -> str:
    lines = unified_diff(source.splitlines(), code.splitlines(), lineterm="", n=0)
    return "\n".join(line[0] + line[1:].strip() for line in lines if line[0] in "+-" and line[:3] not in ("+++", "---"))
