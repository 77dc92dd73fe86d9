from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from huggingface_hub import HfApi, parse_eval_result_entries

from fairspace.builders.errors import BuildError
from fairspace.builders.publishing.artifacts import eval_yaml
from fairspace.builders.publishing.repository import propose
from fairspace.builders.registry import NAMES as DATASETS
from fairspace.builders.registry import dataset, headlined
from fairspace.submissions.benchmarks.registry import NAMES, benchmark
from fairspace.submissions.benchmarks.scoring_table import AS_RELEASED
from fairspace.submissions.exchange import eval_result_entries, percent_of, publishable
from fairspace.submissions.results.result import Result
from tests.hub.faults import DROP, Fault
from tests.hub.running import COMMIT, OWNER, STRANGER, Hub, online
from tests.hub.seeding import BUILT, seed
from tests.scored_baselines import scored_baseline

MODEL = "owner/a-model"


@pytest.fixture(scope="module")
def result() -> Result:
    scored = scored_baseline("stereotyped", "fact_or_fair")
    meta = {name: value for name, value in scored.meta.items() if name != "baseline"} | {"model": "A model"}
    return replace(scored, meta=meta)


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    root = tmp_path_factory.mktemp("hub")
    with (
        Hub.start(root / "hub") as running,
        online(
            ENDPOINT=running.address,
            HUGGINGFACE_CO_URL_TEMPLATE=f"{running.address}/{{repo_id}}/resolve/{{revision}}/{{filename}}",
            HF_HUB_CACHE=str(root / "cache"),
        ),
    ):
        seed(running.address, MODEL)
        yield running


@pytest.mark.parametrize("name", DATASETS)
def test_every_task_of_a_dataset_is_a_score_of_its_benchmark_and_a_config_of_its_card(name: str) -> None:
    declared = dataset(name)
    text = eval_yaml(declared, BUILT)  # type: ignore[arg-type]
    if not declared.headlines:
        assert text == b""
        return
    said = yaml.safe_load(text)
    assert set(said) == {"name", "description", "evaluation_framework", "tasks"}
    assert len({task["id"] for task in said["tasks"]}) == len(said["tasks"])
    assert all(set(task) == {"id", "config", "split"} for task in said["tasks"])
    bench = benchmark(declared.benchmark)
    scores = bench.scoring.table(bench.standards[bench.default], AS_RELEASED).rules
    assert {headline.score for headline in declared.headlines} <= set(scores)
    card = (Path(__file__).parents[3] / "builders" / "README.md").read_text(encoding="utf-8")
    [line] = [line for line in card.splitlines() if line.startswith(f"| `{name}` | `")]
    assert all(f"`{headline.config}`" in line for headline in declared.headlines)


def test_every_ranked_score_is_a_task() -> None:
    for name in NAMES:
        bench = benchmark(name)
        ranking = bench.scoring.table(bench.standards[bench.default], AS_RELEASED).ranking
        assert set(ranking) <= {headline.score for each in headlined(name) for headline in each.headlines}


@pytest.mark.parametrize(
    ("name", "score", "best", "worst"),
    [
        ("iris", "iris_score", 100.0, 0.0),
        ("fact_or_fair", "average_llm", 1.0, 0.0),
        ("stereotypical_bias", "total", 0.0, 0.4375),
        ("genres", "TBS", 0.0, 100.0),
    ],
)
def test_the_best_score_is_100_percent_and_a_worse_one_is_less(
    name: str, score: str, best: float, worst: float
) -> None:
    bench = benchmark(name)
    labels = {"cohort": "mistral"} if name == "genres" else {}
    scored = SimpleNamespace(labels=labels)
    percent = percent_of(SimpleNamespace(benchmark=name, standard=bench.default, scored=scored), score)  # type: ignore[arg-type]
    assert percent(best) == 100
    assert percent(best) > percent((best * 3 + worst) / 4) > percent((best + worst) / 2) >= percent(worst) == 0


def test_what_has_no_rank_is_no_number_on_the_hub(result: Result) -> None:
    with pytest.raises(BuildError, match="RESULT_UNRANKED") as refused:
        publishable(scored_baseline("stereotyped", "fact_or_fair"))
    assert "trivial model" in refused.value.what
    weak = scored_baseline("constant", "fact_or_fair")
    with pytest.raises(BuildError, match="RESULT_UNRANKED"):
        publishable(replace(weak, meta=result.meta))


def test_a_value_is_the_worst_that_missing_samples_allow(result: Result) -> None:
    scores = dict(result.scored.scores)
    scores["llm_fairness"] = replace(scores["llm_fairness"], low=0.25, high=0.9, value=0.8)
    scored = replace(result, scored=replace(result.scored, scores=scores))
    values = {entry.task_id: entry.value for entry in eval_result_entries(scored, "fairspace", lambda dataset: None)}
    assert values["llm_fairness"] == 25.0


def test_a_result_is_proposed_listed_and_read_again(
    hub: Hub, result: Result, run: Callable[..., tuple[int, str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", STRANGER)
    file = tmp_path / "result.json"
    file.write_text(result.dumps(), encoding="utf-8")
    words = ("publish", file, "--model", MODEL, "--date", "2026-11-23")
    api = HfApi(endpoint=hub.address, token=OWNER)

    code, out, _ = run(*words, "--dry-run")
    assert (code, "task_id: average_llm" in out) == (0, True)
    monkeypatch.setattr("sys.stdin", SimpleNamespace(readline=lambda: "", isatty=lambda: False, fileno=lambda: 0))
    assert run(*words)[0] == 1, "without an answer nothing is sent"
    assert list(api.get_repo_discussions(MODEL)) == []

    code, out, _ = run(*words, "--yes")
    assert (code, "Opened a pull request" in out) == (0, True)
    code, out, _ = run(*words, "--yes")
    assert (code, "An open pull request has this file already" in out) == (0, True)
    [proposal] = api.get_repo_discussions(MODEL)
    assert (proposal.author, proposal.is_pull_request) == ("stranger", True)

    path = api.hf_hub_download(MODEL, ".eval_results/fact_or_fair.yaml", revision=proposal.git_reference)
    entries = parse_eval_result_entries(yaml.safe_load(Path(path).read_text(encoding="utf-8")))
    head = api.dataset_info("fairspace/fact_or_fair").sha
    assert {(entry.dataset_id, entry.dataset_revision, entry.date) for entry in entries} == {
        ("fairspace/fact_or_fair", head, "2026-11-23")
    }
    stated = {entry.task_id: entry.value for entry in entries}
    assert stated["average_llm"] == pytest.approx(100 * (result.scored.scores["average_llm"].low or 0), abs=0.005)
    assert all("standard shuffled" in (entry.notes or "") for entry in entries)


def test_a_proposal_whose_answer_is_lost_is_made_once(hub: Hub) -> None:
    hub.inject(Fault("POST", COMMIT, DROP, after=True))
    about = {"title": "Results", "description": "", "endpoint": hub.address, "token": STRANGER}
    path, first = ".eval_results/x.yaml", b"- dataset: {id: a/b, task_id: c}\n  value: 1\n"
    opened = propose(MODEL, path, first, sleep=lambda seconds: None, **about)
    changed = propose(MODEL, path, first.replace(b"1", b"2"), **about)  # type: ignore[arg-type]
    assert (opened.state, changed.state) == ("open", "changed")
    assert opened.address == changed.address
    titles = [each.title for each in HfApi(endpoint=hub.address, token=OWNER).get_repo_discussions(MODEL)]
    assert titles.count("Results") == 1
