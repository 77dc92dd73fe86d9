"""Random exports of ultralytics and its own answer, for `test_yolo.py`. In a throwaway environment beside ours:

    pip install --no-deps ultralytics==8.4.190 opencv-python-headless onnx ml_dtypes
    python -m tests.builders.models.make_yolo

ultralytics asks for torchvision's version alone; a folder `torchvision-0.28.0.dist-info` with `METADATA` tells it.
Weights are rounded to a few levels, so that xz makes the files small.
"""

import json
import lzma
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

PLACE = Path(__file__).parents[2] / "data" / "yolo"
SIZE = 96
SIZES = [(200, 133), (120, 160), (96, 96), (48, 32), (31, 90), (400, 96)]


def photo(seed: int, width: int, height: int) -> NDArray[np.uint8]:
    """Coloured blocks as RGB."""
    blocks = np.random.RandomState(seed).randint(0, 256, (height // 9 + 1, width // 9 + 1, 3), np.uint8)
    return np.repeat(np.repeat(blocks, 9, 0), 9, 1)[:height, :width]


PHOTOS = [photo(seed, *size) for seed, size in enumerate(SIZES)]


def main() -> None:
    """Write tests/data/yolo: a narrow YOLOv8 and a YOLO11 of 80 classes, and the boxes of class 0 in the photos."""
    os.environ |= {"YOLO_OFFLINE": "true", "YOLO_AUTOINSTALL": "false"}
    import onnxruntime
    import torch
    import ultralytics
    from ultralytics.data.augment import LetterBox
    from ultralytics.utils.nms import non_max_suppression
    from ultralytics.utils.ops import scale_boxes

    expected = {"ultralytics": ultralytics.__version__, "onnxruntime": onnxruntime.__version__}
    squares = np.stack([LetterBox((SIZE, SIZE), auto=False)(image=image) for image in PHOTOS])
    pixels = torch.from_numpy(squares).permute(0, 3, 1, 2).float() / 255
    shipped, load = Path(ultralytics.__file__).parent / "cfg", ultralytics.utils.YAML.load
    with tempfile.TemporaryDirectory() as folder:
        for family, name in (("v8", "yolov8n"), ("11", "yolo11n")):
            torch.manual_seed(7)
            narrow = load(shipped / "models" / family / f"{name[:-1]}.yaml") | {"scales": {"n": [0.33, 0.0625, 256]}}
            ultralytics.utils.YAML.save(Path(folder, f"{name}.yaml"), narrow)
            yolo = ultralytics.YOLO(Path(folder, f"{name}.yaml"), task="detect")
            spread(yolo.model, pixels)
            yolo.model.names = load(shipped / "datasets" / "coco.yaml")["names"]
            yolo.model.pt_path = str(Path(folder, f"{name}.pt"))
            exported = Path(yolo.export(format="onnx", imgsz=SIZE, simplify=False)).read_bytes()
            session = onnxruntime.InferenceSession(exported, providers=["CPUExecutionProvider"])
            expected[name] = []
            for image, square in zip(PHOTOS, pixels, strict=True):
                (raw,) = session.run(None, {"images": square[None].numpy()})
                (found,) = non_max_suppression(torch.from_numpy(raw), conf_thres=0.25, iou_thres=0.7, classes=[0])
                scale_boxes((SIZE, SIZE), found[:, :4], image.shape[:2])
                expected[name].append([[round(number, 4) for number in row[:5]] for row in found.tolist()])
            PLACE.mkdir(exist_ok=True)
            (PLACE / f"{name}.onnx.xz").write_bytes(lzma.compress(exported, preset=9 | lzma.PRESET_EXTREME))
    (PLACE / "expected.json").write_text(json.dumps(expected) + "\n")


def spread(model: Any, pixels: Any) -> None:
    """Random weights whose boxes and classes differ from place to place, with batch norms fused, on few levels."""
    import torch

    for module in model.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            module.momentum = 1.0
    for box, kind in zip(model.model[-1].cv2, model.model[-1].cv3, strict=True):
        torch.nn.init.normal_(box[-1].weight, std=0.4)
        torch.nn.init.normal_(kind[-1].weight, std=0.12)
        box[-1].bias.data = -0.7 * torch.arange(16.0).repeat(4)  # boxes of a few cells
        kind[-1].bias.data.fill_(-3)[0] = 0.0
    model.train()(pixels)
    model.eval().fuse()
    for name, weight in model.named_parameters():
        if "dfl" not in name:
            step = 2.0 ** torch.ceil(torch.log2(weight.abs().max() / 8 + 1e-9))
            weight.data = (weight.data / step).round() * step


if __name__ == "__main__":
    main()
