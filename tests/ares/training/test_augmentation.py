import torch

from fairspace.ares.training.config import Augmentation
from fairspace.ares.training.loop import augmented, drawn, image_seed

ALL = Augmentation(scale=(0.3, 0.9), flip=0.5, brightness=0.3, contrast=0.3, saturation=0.3, hue=0.1)
NONE = Augmentation(scale=(1.0, 1.0), ratio=(1.0, 1.0))
DRAWS = drawn([image_seed("test", i) for i in range(6)])


def images(n: int = 6) -> torch.Tensor:
    return torch.rand(n, 3, 16, 16, generator=torch.Generator().manual_seed(1))


def test_a_variant_does_not_depend_on_the_batch() -> None:
    whole = augmented(images(), DRAWS, ALL)
    apart = torch.cat([augmented(images()[i : i + 1], DRAWS[i : i + 1], ALL) for i in range(6)])
    assert torch.equal(whole, apart)
    assert not torch.equal(whole, augmented(images(), DRAWS.flip(0), ALL))


def test_without_amounts_an_image_stays_as_it_is() -> None:
    torch.testing.assert_close(augmented(images(), DRAWS, NONE), images(), atol=1e-5, rtol=0)


def test_a_crop_is_a_part_of_the_image() -> None:
    ramp = torch.linspace(0, 1, 16).expand(1, 3, 16, 16)
    seen = augmented(ramp, DRAWS[:1], Augmentation(scale=(0.25, 0.25), ratio=(1.0, 1.0)))
    span = float(seen.max() - seen.min())
    assert 0.4 < span < 0.55


def test_a_task_may_keep_its_colours() -> None:
    flat = torch.tensor([0.8, 0.5, 0.3]).view(1, 3, 1, 1).expand(1, 3, 16, 16)
    torch.testing.assert_close(augmented(flat, DRAWS[:1], ALL, 0.0), flat)
    assert not torch.allclose(augmented(flat, DRAWS[:1], ALL, 1.0), flat, atol=1e-3)
