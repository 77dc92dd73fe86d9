import re

import pytest

from tests.benchmarks.gpu import measuring


@pytest.mark.slow
def test_the_program_runs_on_a_cpu_and_prints_every_figure(capsys: pytest.CaptureFixture[str]) -> None:
    measuring.main(["--device", "cpu", "--tiny"])
    said = capsys.readouterr().out
    assert said.startswith("cpu, torch ")
    assert len(re.findall(r"GFLOP per image, [\d.]+% of the bare product", said)) == 3
    assert (
        len(re.findall(r"single files.*p50 [\d.]+ ms, p95 [\d.]+ ms; the paper: 0.185 to 0.223 s per image", said)) == 3
    )
    assert re.search(r"images by a unified model, batches of 8 .*planned for an A100: [\d.]+ s", said)
    assert re.search(r"4 files of 1024 x 1024.* images/s  the paper: 0.185", said)


def test_without_a_gpu_it_says_so(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    with pytest.raises(SystemExit) as ended:
        measuring.main([])
    assert ended.value.code == measuring.NO_GPU == 3
    assert capsys.readouterr().out.startswith("no GPU: torch sees none here. Nothing was measured.")
