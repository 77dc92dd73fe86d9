"""Runs IRIS' own metric code on a folder: `python -I iris_child.py FOLDER`. Imports nothing of this project.

FOLDER holds a copy of the authors' files, `generation/`, `bis_gen/` and `vqa/` with a folder per data set, `given.json`
with further inputs, and gets `out.json`.
"""

import contextlib
import io
import json
import math
import sys
import types
from importlib import import_module
from pathlib import Path
from typing import Any

FOLDER = Path(sys.argv[1])
NOT_NEEDED = ("matplotlib", "matplotlib.pyplot", "seaborn", "sklearn", "sklearn.preprocessing", "sklearn.decomposition")


def parse_labels(frame: Any) -> Any:
    parts = frame["final_age_gender"].str.split(" ", n=1, expand=True)
    skin = frame["final_skin_tone"]
    return frame.assign(age=parts[0], gender=parts[1], skin_tone=skin, profession=frame["profession"].str.lower())


def records(frame: Any) -> dict[str, Any]:
    return {row.pop("model"): row for row in frame.to_dict("records")}


def main() -> None:
    for name in (*NOT_NEEDED, "sklearn.manifold"):
        sys.modules[name] = types.ModuleType(name)
        vars(sys.modules[name]).update(dict.fromkeys(("StandardScaler", "PCA", "TSNE", "pyplot")))
    sys.path.insert(0, str(FOLDER))
    pd = import_module("pandas")
    with contextlib.suppress(KeyError, AttributeError):
        pd.set_option("future.infer_string", False)
    evaluate, profiling = import_module("evaluate"), import_module("diagnostics.run_mbti_profiling")
    calculations, dimensions = import_module("metrics.calculations"), import_module("metrics.dimensions")
    vars(dimensions)["_parse_gen_labels"] = parse_labels
    config = evaluate.EvalConfig()
    config.ANNOTATIONS_DIR = str(FOLDER / "data")
    given = json.loads((FOLDER / "given.json").read_text(encoding="utf-8"))
    out: dict[str, Any] = {}
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        out["rd"] = records(dimensions.calculate_ifs_gen_metrics(str(FOLDER / "generation"), config))
        out["jsd"] = records(dimensions.calculate_rfs_gen_metrics(str(FOLDER / "generation"), config))
        out["penalties"] = records(dimensions.calculate_bis_gen_metrics(str(FOLDER / "bis_gen"), config))
        out["gaps"] = records(dimensions.calculate_ifs_und_metrics(str(FOLDER / "vqa"), config))
        normalised = evaluate.normalize_deviation_space(pd.DataFrame(given["values"]))
    out["normalised"] = normalised.to_dict("records")
    threshold = float(profiling.ProfilingConfig.INAUGURAL_THRESHOLD)
    out["codes"] = [
        profiling.assign_personality(pd.Series(scores, index=["IFS", "RFS", "BIS"]), threshold)
        for scores in given["scores"]
    ]
    out["ratings"] = [calculations.normalize_answer_to_score(text) for text in given["answers"]]
    (FOLDER / "out.json").write_text(json.dumps(clean(out)), encoding="utf-8")


def clean(data: Any) -> Any:
    if isinstance(data, dict):
        return {str(key): clean(value) for key, value in data.items()}
    if isinstance(data, list):
        return [clean(value) for value in data]
    if isinstance(data, str) or data is None:
        return data
    return None if math.isnan(data) else float(data)


main()
