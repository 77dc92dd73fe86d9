"""Eight-bit products: close to float32, the same for an image wherever it stands, and said in the manifest."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from fairspace.ares.annotating.annotate import annotate
from fairspace.ares.annotating.eight_bits import EightBitLinear, in_precision
from fairspace.ares.evaluating.evaluate import open_model
from fairspace.ares.evaluating.precision import Difference, compare_precision, difference
from fairspace.builders.errors import BuildError
from fairspace.submissions.running.labelling import label_source
from tests.ares.image_sources import content, folder, images

pytestmark = pytest.mark.skipif(
    "fbgemm" not in torch.backends.quantized.supported_engines, reason="8-bit kernels are for x86 processors"
)


def test_a_layer_in_eight_bits_is_near_the_layer() -> None:
    torch.manual_seed(0)
    layer, rows = nn.Linear(64, 48), torch.randn(2, 17, 64)
    with torch.inference_mode():
        exact, rounded = layer(rows), EightBitLinear(layer)(rows)
        without_bias = EightBitLinear(nn.Linear(64, 8, bias=False))(rows)
    weight, value = float(layer.weight.detach().abs().max()), float(rows.abs().max())
    step = float(rows.max() - rows.min()) / 127
    bound = 64**0.5 * (step * weight + value * weight / 127)
    assert rounded.shape == exact.shape
    assert 0 < float((rounded - exact).abs().max()) < bound
    assert without_bias.shape == (2, 17, 8)


def test_a_channel_without_weights_gives_its_bias() -> None:
    layer = nn.Linear(4, 2)
    with torch.inference_mode():
        layer.weight[0] = 0
        assert torch.allclose(EightBitLinear(layer)(torch.randn(3, 4))[:, 0], layer.bias[0].expand(3))


def test_what_stands_beside_an_image_changes_nothing(tiny_ares: Path, tmp_path: Path) -> None:
    source = folder(tmp_path / "images", images(9, []))
    made = annotate(tiny_ares, source, tmp_path / "one", shard=4, batch=64, precision="int8", device="cpu")
    annotate(tiny_ares, source, tmp_path / "other", shard=4, batch=1, workers=0, precision="int8", device="cpu")
    assert content(tmp_path / "one") == content(tmp_path / "other")
    assert made.data["settings"]["precision"] == "int8"
    assert "label_error" not in made.data
    labels = label_source(made.data["model"] | {"measurement": "f" * 64}, made.data["settings"])
    assert (labels["settings"]["precision"], labels["settings"]["measurement"]) == ("int8", "not measured")


def test_an_image_has_the_same_numbers_alone_and_among_others(tiny_ares: Path) -> None:
    model = in_precision(open_model(tiny_ares), "int8", "cpu")
    pixels = torch.rand(5, 3, model.config.image_size, model.config.image_size)
    together = model.observe(pixels, everything=True)
    for row in range(5):
        alone = model.observe(pixels[row : row + 1], everything=True)
        for name, part in together.items():
            assert np.array_equal(part.numbers[row], alone[name].numbers[0], equal_nan=True)


def test_the_labels_that_change_are_counted(tiny_ares: Path) -> None:
    for row in compare_precision(tiny_ares, "drawn:60", "int8"):
        assert row.images == 60
        assert row.gained + row.lost <= row.changed <= 60


def test_what_changes_is_right_wrong_or_neither() -> None:
    true, exact, other = (np.array(codes) for codes in ([0, 0, 1, 1, 2, -1], [0, 1, 1, 0, 0, 0], [0, 0, 2, 0, 1, 1]))
    assert difference("age", true, exact, other) == Difference("age", images=5, changed=3, gained=1, lost=1)


@pytest.mark.parametrize(("precision", "device"), [("int4", "cpu"), ("int8", "cuda"), ("float64", "cpu")])
def test_a_precision_that_is_not_known_there_is_refused(tiny_ares: Path, precision: str, device: str) -> None:
    with pytest.raises(BuildError, match="CONFIG_INVALID at precision"):
        in_precision(open_model(tiny_ares), precision, device)


def test_processors_without_the_kernels_are_told(tiny_ares: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(torch.backends.quantized), "supported_engines", ["qnnpack"])
    with pytest.raises(BuildError, match="TOOL_MISSING at --precision int8"):
        in_precision(open_model(tiny_ares), "int8", "cpu")
