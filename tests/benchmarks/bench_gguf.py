"""A GGUF file behind `fairspace run`, beside llama.cpp's own server (package xllamacpp) with an equal context.

    python -m tests.benchmarks.bench_gguf [NAME ...]      models of `make models`; those that are not there are left out

The same 20 questions of FACT-OR-FAIR's core, one slot and one thread, greedy, in a process each, in turn. Time is
processor time of the whole process per token of prompts and answers, without the start and a first question; memory is
what is not shared with other processes (PSS) after the last answer, of which Python and Inspect before the file is
opened stand apart; the peak is the most that was resident, the start and what is shared included.
"""

import json
import resource
import sys
import time
from pathlib import Path
from typing import Any

from tests.benchmarks.record import keep
from tests.benchmarks.timing import child

QUESTIONS, TOKENS, CONTEXT = 20, 48, 1024
FIRST = "Who is it?"
"""Question before the measured ones: pages of the file, and what Inspect imports for its first answer."""
LEAST, MOST = 0.95, 1.2
"""Promised speed and memory in those of llama.cpp's own server."""


def megabytes() -> float:
    lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("Pss:")).split()[1]) / 1024


def state(began: float, tokens: int, before: float) -> dict[str, Any]:
    """Seconds and tokens since the file was opened, and megabytes before, now and at most."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    seconds = time.process_time() - began
    return {"seconds": seconds, "tokens": tokens, "before": before, "memory": megabytes(), "peak": peak}


def questions() -> list[str]:
    from fairspace.submissions.running.asking.inspect_task import ChosenPart, open_benchmark

    opened = open_benchmark(ChosenPart("fact_or_fair", limit=QUESTIONS, stratified=True, dataset_revision="v2-core"))
    part = opened.parts["llm_subjective"]
    return [part.read(place).asks[0].prompt for place in opened.positions["llm_subjective"]]


def ours(file: str, asked: list[str]) -> dict[str, Any]:
    import asyncio

    from inspect_ai.model import GenerateConfig

    from fairspace.submissions.running.asking.models import ModelSettings, open_model

    before = megabytes()
    model = open_model(ModelSettings(f"local/{file}", arguments={"threads": 1}))
    config = GenerateConfig(max_tokens=TOKENS, temperature=0)

    async def answers(questions: list[str]) -> list[Any]:
        return [await model.generate(question, config=config) for question in questions]

    asyncio.run(answers([FIRST]))
    began = time.process_time()
    said = asyncio.run(answers(asked))
    tokens = sum(answer.usage.total_tokens for answer in said if answer.usage)
    return state(began, tokens, before)


def alone(file: str, asked: list[str]) -> dict[str, Any]:
    import httpx
    import xllamacpp

    from fairspace.submissions.running.local.ending import STOPS, completion
    from fairspace.submissions.running.local.llama_cpp import about_file

    chats = bool(about_file(Path(file)).template)
    before = megabytes()
    about = xllamacpp.CommonParams()
    about.model.path, about.n_ctx, about.n_parallel, about.verbosity = file, CONTEXT, 1, -1
    about.cache_ram_mib = 0
    about.cpuparams.n_threads = about.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(about)
    client = httpx.Client(base_url=server.listening_address, timeout=3600, trust_env=False)
    began, tokens = 0.0, 0
    for question in [FIRST, *asked]:
        turns = [{"role": "user", "content": question}]
        prompt = {"messages": turns} if chats else {"prompt": completion(turns), "stop": STOPS}
        settings = {"max_tokens": TOKENS, "temperature": 0, "cache_prompt": False}
        path = "/v1/chat/completions" if chats else "/v1/completions"
        answer = client.post(path, json=prompt | settings).raise_for_status().json()
        if question == FIRST:
            began = time.process_time()
        else:
            tokens += answer["usage"]["total_tokens"]
    return state(began, tokens, before)


def main(names: list[str]) -> None:
    from fairspace.submissions.running.local.packaged import FOLDER, WEIGHTS

    asked, short = questions(), []
    memory = "MB, alone | ours | of it Python | memory | peak MB, alone | ours"
    print(f"| model | seconds a question, alone | ours | speed | {memory} |", flush=True)
    for name in names or WEIGHTS:
        file = (FOLDER / WEIGHTS[name].file).absolute()
        if not file.is_file():
            print(f"{name}: not there; make models MODELS={name}")
            continue
        stdin = json.dumps(asked)
        bare, run = (child("bench_gguf", "--way", way, str(file), stdin=stdin) for way in ("alone", "ours"))
        speed = (bare["seconds"] / bare["tokens"]) / (run["seconds"] / run["tokens"])
        engines = [each["memory"] - each["before"] for each in (bare, run)]
        each = [f"{way['seconds'] / len(asked):.2f}" for way in (bare, run)]
        whole = f"{run['memory'] / bare['memory']:.2f} (engine alone {engines[1] / engines[0]:.2f})"
        memory = f"{bare['memory']:.0f} | {run['memory']:.0f} | {run['before']:.0f}"
        peaks = " | ".join(f"{way['peak']:.0f}" for way in (bare, run))
        print(f"| {name} | {each[0]} | {each[1]} | {speed:.2f} | {memory} | {whole} | {peaks} |", flush=True)
        promised = f"(promised: {LEAST}, {MOST})"
        keep(f"{name}, beside llama.cpp's own server", f"{speed:.2f} of its speed, {whole} of its memory {promised}")
        if speed < LEAST or engines[1] / engines[0] > MOST:
            short.append(name)
    if short:
        sys.exit(f"less than what we promise: {', '.join(short)}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--way"]:
        print(json.dumps({"ours": ours, "alone": alone}[sys.argv[2]](sys.argv[3], json.load(sys.stdin))))
    else:
        main(sys.argv[1:])
