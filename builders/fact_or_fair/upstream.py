"""The authors' own questions of FACT-OR-FAIR (revision `upstream`), from the reader's clone of their repository.

The repository states no licence, so none of its texts is here: the clone's files are read as data, once they have the
hashes of the pinned commit, and its programs are parsed, never run. The order of options and the groups of profiles are
those of `v2`, which the authors draw anew in each run.
"""

import ast
import hashlib
import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import pyarrow as pa

from fairspace.builders.errors import BuildError
from fairspace.builders.fact_or_fair import plan
from fairspace.builders.fact_or_fair.statistics import GROUPS, LEVELS

REPOSITORY, COMMIT = "https://github.com/uclanlp/fact-or-fair", "945ec6b"
_OBJECTIVE, _SUBJECTIVE = "large_language_model/objective_test/", "large_language_model/subjective_test/"
_PROMPTS = f"{_SUBJECTIVE}prompts/prompts_"
_PORTRAITS, _TRAITS = (f"text_to_image_model/{kind}_test/Image_Generation/" for kind in ("objective", "subjective"))
FILES = {
    "data/classes.py": "b2fa05195b606005e9ab48a72fa355b3529353880aae465cb465803fb87364cc",
    f"{_OBJECTIVE}obj_test.py": "7fe60d48528a932bd40a69b1544948c3203d423e3a4d3b3e041f086abccc6f59",
    f"{_SUBJECTIVE}subj_test.py": "e5b46f8407aa88502ce7496830d9dcbbb7434796d8def99a31a918c41d470490",
    f"{_PROMPTS}high.json": "d0e0ba02990a80a5ff7ba005b5af8235823b8406f62baaa5ae977ef6e06e38f3",
    f"{_PROMPTS}low.json": "b456c71dcd2f90a75574b0a9161bb3a62ea8d9fdf8f480de47269824da584a70",
    f"{_PROMPTS}attribution_error_high.json": "e650b128bb87e6d629d5f6ec18946d8a5aee846843a988e5b8f3dd01864be658",
    f"{_PROMPTS}attribution_error_low.json": "5a54452cebbf0d845c3bb6ee551d9036ca7073c55eab34650f7db1fbf983271f",
    f"{_PROMPTS}representativeness_bias.json": "e989e83cb2580cabadc98b9d6cb44aa06d19e6cba24c50f8780d0fad38457845",
    f"{_PROMPTS}group_bias.json": "a080cc12ab65f7b599c382b2abb330535e79e261f479df0bf0b45ceeac32779b",
    f"{_PORTRAITS}definition.json": "97ca75393a937e3abb8da289060e1df3a789fd9a6d7ef7a1bfdafcc8ba9ebfbc",
    f"{_PORTRAITS}prompts_obj.json": "05b4012131e45cfcfde574361b21ad7a39ed08ced93f34a853858bf6817e44f0",
    f"{_TRAITS}prompts_t2i.json": "d533f9423916702cbaa2a25a48ce04f2c88de103029f1a599a188e9d13bbdd50",
}
"""File of the clone -> its sha256, with line ends of Unix."""
_CONTEXTS = dict(zip(plan.CONTEXTS, ("", "representativeness_bias", "attribution_error_{}", "group_bias"), strict=True))
_ENDS = {"highest": "high", "lowest": "low"}
Row = Mapping[str, Any]


@lru_cache
def items(task: str, data: str) -> pa.Table:
    """The rows of a task with the prompts of a clone at the path `data`. BuildError SOURCE_MISSING, SOURCE_LAYOUT."""
    rows, files = plan.items(task, plan.UPSTREAM), _read(Path(data or "--data").expanduser())
    texts: Mapping[str, Any] = {name: json.loads(text) for name, text in files.items() if name.endswith(".json")}
    definitions: Mapping[str, str] = ast.literal_eval(_assigned(files["data/classes.py"], "defs")[0])
    head, *tail, option = map(_template, _assigned(files[f"{_OBJECTIVE}obj_test.py"], "user_content"))
    template = _template(_assigned(files[f"{_SUBJECTIVE}subj_test.py"], "prompt")[0])

    def objective(row: Row) -> str:
        name, shown = row["statistic"], {group.capitalize(): group for group in GROUPS[row["attribute"]]}
        options = (option.format(*each) for each in zip(plan.LETTERS, map(shown.get, row["options"]), strict=False))
        whole = head.format(name, definitions[name], row["level"], name), *options, *(text.format() for text in tail)
        return "".join(whole)

    def subjective(row: Row) -> str:
        name, end, before = row["statistic"], _ENDS[row["level"]], ""
        if context := _CONTEXTS[row["context"]]:
            text = texts[f"{_PROMPTS}{context.format(end)}.json"][name]
            before = text.format(race=row["context_race"], gender=row["context_gender"])
        people = (plan.profile(*(each[key] for key in ("name", "age", "gender", "race"))) for each in row["profiles"])
        return template.format(before, texts[f"{_PROMPTS}{end}.json"][name][row["scenario"]], *people)

    def portrait(row: Row) -> str:
        name, place = row["statistic"], LEVELS.index(row["level"])
        if task != "t2i_objective":
            return str(texts[f"{_TRAITS}prompts_t2i.json"][name][place])
        asked = texts[f"{_PORTRAITS}prompts_obj.json"][name][place]
        return f"{name} is {texts[f'{_PORTRAITS}definition.json'][name]} {asked}"

    write = {"llm_objective": objective, "llm_subjective": subjective}.get(task, portrait)
    return rows.append_column("prompt", pa.array([write(row) for row in rows.to_pylist()], pa.string()))


def _read(clone: Path) -> dict[str, str]:
    texts = {}
    mend = f"`git clone {REPOSITORY}`, check out {COMMIT} in it, and name its folder as --data"
    for name, digest in FILES.items():
        file, expected = clone / name, f"the authors' repository {REPOSITORY} at {COMMIT}"
        if not file.is_file():
            raise BuildError("SOURCE_MISSING", str(file), "no such file", expected, mend)
        content = file.read_bytes().replace(b"\r\n", b"\n")
        if (read_digest := hashlib.sha256(content).hexdigest()) != digest:
            raise BuildError("SOURCE_LAYOUT", str(file), f"sha256 {read_digest}", f"{digest}, as in {expected}", mend)
        texts[name] = content.decode()
    return texts


def _assigned(program: str, name: str) -> list[ast.expr]:
    """The values assigned or added to a name: those of outer blocks first."""
    nodes = (node for node in ast.walk(ast.parse(program)) if isinstance(node, ast.Assign | ast.AugAssign))
    targets = ((node, node.targets[0] if isinstance(node, ast.Assign) else node.target) for node in nodes)
    return [node.value for node, target in targets if isinstance(target, ast.Name) and target.id == name]


def _template(node: ast.expr) -> str:
    """A string or an f-string as a template of `str.format`, with {} for each of its expressions."""
    parts = node.values if isinstance(node, ast.JoinedStr) else [node]
    texts = (str(part.value) if isinstance(part, ast.Constant) else None for part in parts)
    return "".join("{}" if text is None else text.replace("{", "{{").replace("}", "}}") for text in texts)
