import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from fairspace.submissions.errors import RunError
from fairspace.submissions.probing.extraction import Taken, pooled, taking
from fairspace.submissions.probing.recipe import ProbeStage


@dataclass
class Output:
    last_hidden_state: Tensor
    extra: tuple[Tensor, Tensor]


class Inner(nn.Module):
    def forward(self, x: Tensor, *, scale: float = 1.0) -> Output:
        return Output(scale * x, (x + 1, x + 2))


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = Inner()
        self.head = nn.Linear(3, 2)

    def forward(self, x: Tensor) -> Tensor:
        for _ in range(4):
            x = self.inner(x, scale=2.0).last_hidden_state
        return self.head(x)


X = torch.arange(12, dtype=torch.float32).reshape(2, 2, 3)


@pytest.fixture
def model() -> Iterator[Model]:
    made = Model()
    yield made
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in made.modules())


def take(model: Model, steps: int = 1, **stage: Any) -> Taken:
    stages = {"intent": ProbeStage(**{"module": "inner", **stage})}
    with taking(dict(model.named_modules()), stages, 2, steps=steps) as found:
        model(X)
    return found["intent"]


@pytest.mark.parametrize(
    ("stage", "expected"),
    [
        ({"pool": "mean"}, 2 * X.mean(1)),
        ({"pool": "last"}, 2 * X[:, -1]),
        ({"pool": "first"}, 2 * X[:, 0]),
        ({"side": "input"}, X.mean(1)),
        ({"side": "input", "module": "head"}, 16 * X.mean(1)),
    ],
)
def test_each_side_and_pooling_gives_the_vector_that_it_names(
    model: Model, stage: dict[str, Any], expected: Tensor
) -> None:
    assert take(model, **stage).vectors[0].tolist() == expected.tolist()


def test_fields_places_maps_and_flat_outputs() -> None:
    output = Output(X, (X + 1, X + 2))
    assert pooled(output, ProbeStage(module="m", take="last_hidden_state"), 2, "")[0].tolist() == X.mean(1).tolist()
    assert pooled((X, X + 1), ProbeStage(module="m", take="1"), 2, "")[0].tolist() == (X + 1).mean(1).tolist()
    assert pooled({"a": X}, ProbeStage(module="m", take="a"), 2, "")[0].tolist() == X.mean(1).tolist()
    assert pooled(X[:, :, :, None], ProbeStage(module="m", pool="map"), 2, "")[0].tolist() == X.mean(2).tolist()
    assert pooled(X[0], ProbeStage(module="m", pool="flat"), 1, "")[0].tolist() == [X[0].mean(0).tolist()]
    assert (
        pooled(X[:, 0], ProbeStage(module="m", pool="vector", rows="first_half"), 1, "")[0].tolist()
        == X[:1, 0].tolist()
    )
    assert (
        pooled(X[:, 0], ProbeStage(module="m", pool="vector", rows="second_half"), 1, "")[0].tolist()
        == X[1:, 0].tolist()
    )


def test_half_precision_is_kept_in_the_model_and_pooled_in_double() -> None:
    vectors, ratios = pooled(X.to(torch.bfloat16), ProbeStage(module="m"), 2, "")
    assert vectors.dtype == np.float64
    assert ratios == pytest.approx([1, 1])  # two positions lie on a line
    assert math.isnan(pooled(X[:, :1], ProbeStage(module="m"), 2, "")[1][0])


def test_the_call_ends_when_every_stage_has_its_steps(model: Model) -> None:
    assert len(take(model, steps=3).vectors) == 3
    assert len(take(model, steps=9).vectors) == 4
    stages = {"intent": ProbeStage(module="inner")}
    reached = False
    with taking(dict(model.named_modules()), stages, 2):
        model(X)
        reached = True
    assert not reached


def test_hooks_go_when_the_model_fails(model: Model) -> None:
    with pytest.raises(RuntimeError), taking(dict(model.named_modules()), {"intent": ProbeStage(module="head")}, 2):
        model(X[..., :2])


@pytest.mark.parametrize(
    ("given", "stage", "said"),
    [
        (X, ProbeStage(module="m", pool="vector"), "shape \\(2, 2, 3\\) for 2 stimuli"),
        (X[:1], ProbeStage(module="m"), "shape \\(1, 2, 3\\) for 2 stimuli"),
        (X[0], ProbeStage(module="m", pool="flat"), "shape"),
        (X / 0, ProbeStage(module="m"), "not finite"),
        ("text", ProbeStage(module="m"), "a str without it"),
        (Output(X, (X, X)), ProbeStage(module="m", take="hidden"), "a tensor 'hidden'"),
        ((X,), ProbeStage(module="m", take="4"), "a tensor '4'"),
    ],
)
def test_what_cannot_be_pooled_is_an_error(given: Any, stage: ProbeStage, said: str) -> None:
    with pytest.raises(RunError, match=f"MODEL_OUTPUT.*{said}"):
        pooled(given, stage, 2, "stage intent")


def test_a_name_that_no_module_has_is_answered_with_those_that_are_close(model: Model) -> None:
    with pytest.raises(RunError, match=r"no module 'iner'\. Expected: a module of the model, such as inner"):
        take(model, module="iner")
