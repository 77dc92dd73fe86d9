"""`fs.run` where an event loop runs already, as in a notebook, a web server or a test of pytest-asyncio."""

import asyncio
import os
import signal
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import nbformat
import pytest

import fairspace as fs

BENCHMARK, CORE = "fact_or_fair", "v2-core"
FEW: dict[str, Any] = {"dataset_revision": CORE, "limit": 1, "tasks": ["llm_objective"]}
NOTEBOOK = Path(__file__).parents[2] / "notebooks" / "fact_or_fair.ipynb"


async def answer(prompt: str) -> str:
    await asyncio.sleep(0.01)
    return "A"


async def answers(prompts: list[str]) -> list[str]:
    await asyncio.sleep(0.01)
    return ["A"] * len(prompts)


def test_a_run_needs_no_loop_of_its_own_and_awaits_async_functions() -> None:
    async def main() -> tuple[list[fs.Answers], int]:
        turns = 0

        async def others() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0.01)

        inside = fs.run(lambda prompt: "A", BENCHMARK, **FEW)
        task = asyncio.create_task(others())
        both = await asyncio.gather(
            fs.run_async(answer, BENCHMARK, **FEW), fs.run_async(answers, BENCHMARK, batch=2, **FEW)
        )
        task.cancel()
        return [inside, *both], turns

    runs, turns = asyncio.run(main())
    assert turns > 3, "other tasks go on"
    for run in (*runs, fs.run(answer, BENCHMARK, **FEW)):
        assert run.to_frame()["response"].tolist() == ["A"] * 3


@pytest.mark.parametrize("cancelled", [True, False])
def test_a_stopped_run_asks_no_further_and_goes_on_later(cancelled: bool, tmp_path: Path) -> None:
    options: dict[str, Any] = {**FEW, "limit": 20, "folder": tmp_path / "mine"}
    asked: list[str] = []
    loop = asyncio.new_event_loop()

    def slow(prompt: str) -> str:
        asked.append(prompt)
        if len(asked) == 4 and cancelled:
            loop.call_soon_threadsafe(running[0].cancel)
        elif len(asked) == 4:
            os.kill(os.getpid(), signal.SIGINT)
        return "A"

    async def waiting() -> Any:
        running.append(asyncio.ensure_future(fs.run_async(slow, BENCHMARK, **options)))
        return await running[0]

    async def blocking() -> Any:
        return fs.run(slow, BENCHMARK, **options)

    running: list[asyncio.Future[Any]] = []
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell ignores it for programs behind it
    with pytest.raises(asyncio.CancelledError if cancelled else fs.RunError, match=None if cancelled else "stopped"):
        loop.run_until_complete(waiting() if cancelled else blocking())
    signal.signal(signal.SIGINT, before)
    loop.run_until_complete(loop.shutdown_default_executor())
    loop.close()
    stopped = len(asked)
    assert stopped < 30
    assert len(fs.run(slow, BENCHMARK, **options).to_frame()) == 54  # whole topics alone
    assert len(asked) < 54 + stopped, "what was answered is not asked again"


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of Jupyter's own
def test_a_notebook_runs_in_a_kernel_that_has_no_widgets() -> None:
    from nbclient import NotebookClient

    assert find_spec("ipywidgets") is None, "the kernel proves nothing where it is installed"
    notebook = nbformat.read(NOTEBOOK, as_version=4)  # type: ignore[no-untyped-call]
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    cells[1].source = cells[1].source.replace('revision="v2-core")', 'revision="v2-core", limit=2)')
    assert "limit=2" in cells[1].source
    cells[-1].source += f"\nawait fs.run_async(first, 'fact_or_fair', **{FEW})"
    NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    assert "first on fact_or_fair v2-core: 3 responses" in cells[-1].outputs[-1]["data"]["text/plain"]
