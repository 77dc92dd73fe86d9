"""Tiny random models in the layouts of real ones, for the same code path without weights."""

import json
from pathlib import Path
from typing import Any

PIPELINES: dict[str, dict[str, Any]] = json.loads((Path(__file__).parent / "tiny_models.json").read_text())
"""Name -> its class and its parts as [class, configuration], in the order in which their weights are drawn."""
LETTERS = [(letter, -2.0) for letter in "abcdefghijklmnopqrstuvwxyz ,."]


def quiet() -> None:
    """Torch on one thread, with weights that do not change from run to run."""
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(0)


def tokenizer() -> Any:
    from transformers import CLIPTokenizer
    from transformers.convert_slow_tokenizer import bytes_to_unicode

    letters = list(bytes_to_unicode().values())
    tokens = [*letters, *(f"{letter}</w>" for letter in letters), "<|startoftext|>", "<|endoftext|>"]
    return CLIPTokenizer(vocab={token: n for n, token in enumerate(tokens)}, merges=[], model_max_length=77)


_SPECIAL = {
    "Qwen2Tokenizer": ("<|endoftext|>", "<|im_start|>", "<|im_end|>"),
    "GemmaTokenizer": ("<pad>", "<eos>", "<bos>", "<unk>"),
    "LlamaTokenizer": ("<unk>", "<s>", "</s>"),
    "BertTokenizer": ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"),
}


def words_of(kind: str) -> Any:
    """A tokenizer of this class that knows letters alone."""
    import transformers
    from transformers.convert_slow_tokenizer import bytes_to_unicode

    if kind == "CLIPTokenizer":
        return tokenizer()
    if kind == "T5Tokenizer":
        pieces = [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), ("▁", -1.0), *LETTERS]
        return transformers.T5Tokenizer(vocab=pieces, extra_ids=0)
    known = {token: n for n, token in enumerate((*_SPECIAL[kind], *bytes_to_unicode().values()))}
    words = getattr(transformers, kind)(vocab=known, **({} if kind == "BertTokenizer" else {"merges": []}))
    words.pad_token = words.pad_token or words.eos_token
    text = "m['content'] if m['content'] is string else m['content'][0]['text']"
    words.chat_template = f"{{% for m in messages %}}<|im_start|>{{{{ {text} }}}}<|im_end|>{{% endfor %}}"
    return words


def text_config(words: Any, width: int = 32, **more: Any) -> Any:
    from transformers import CLIPTextConfig

    return CLIPTextConfig(
        vocab_size=len(words),
        hidden_size=width,
        intermediate_size=37,
        num_attention_heads=4,
        num_hidden_layers=2,
        projection_dim=width,
        bos_token_id=words.bos_token_id,
        eos_token_id=words.eos_token_id,
        pad_token_id=words.pad_token_id,
        **more,
    )


def clip(folder: Path) -> Path:
    quiet()
    from transformers import CLIPConfig, CLIPImageProcessorPil, CLIPModel, CLIPVisionConfig

    words = tokenizer()
    vision = CLIPVisionConfig(
        hidden_size=32,
        intermediate_size=37,
        num_attention_heads=4,
        num_hidden_layers=2,
        image_size=32,
        patch_size=8,
        projection_dim=16,
    )
    text = text_config(words).to_dict()
    config = CLIPConfig(text_config=text, vision_config=vision.to_dict(), projection_dim=16)
    CLIPModel(config).save_pretrained(folder)
    words.save_pretrained(folder)
    size = {"height": 32, "width": 32}
    CLIPImageProcessorPil(size={"shortest_edge": 32}, crop_size=size).save_pretrained(folder)
    return folder


def yolos(folder: Path, labels: tuple[str, ...] = ("car", "person", "dog")) -> Path:
    """YOLOS with ten detection tokens that see different things."""
    quiet()
    import torch
    from transformers import YolosConfig, YolosForObjectDetection, YolosImageProcessorPil

    config = YolosConfig(
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=37,
        image_size=[64, 64],
        patch_size=16,
        num_detection_tokens=10,
        use_mid_position_embeddings=False,
        id2label=dict(enumerate(labels)),
        label2id={label: n for n, label in enumerate(labels)},
    )
    model = YolosForObjectDetection(config)
    with torch.no_grad():
        model.vit.embeddings.detection_tokens.normal_()
        model.class_labels_classifier.layers[-1].weight.normal_(std=3)
        model.bbox_predictor.layers[-1].weight.normal_(std=3)
    model.save_pretrained(folder)
    YolosImageProcessorPil(size={"shortest_edge": 64, "longest_edge": 96}).save_pretrained(folder)
    return folder


def part(kind: str, configuration: dict[str, Any]) -> Any:
    """A part of a pipeline, with random weights if it has any."""
    import diffusers
    import transformers

    if "Tokenizer" in kind:
        return words_of(kind)
    made = getattr(diffusers, kind, None) or getattr(transformers, kind)
    return made(made.config_class(**configuration)) if hasattr(made, "config_class") else made(**configuration)


def _pipeline(name: str, folder: Path) -> Path:
    quiet()
    import diffusers

    roles = {role: part(*each) if isinstance(each, list) else each for role, each in PIPELINES[name].items()}
    getattr(diffusers, roles.pop("pipeline"))(**roles).save_pretrained(folder)
    return folder


def sdxl(folder: Path) -> Path:
    """SDXL base; a latent is half the image's side."""
    return _pipeline("sdxl", folder)


def sdxl_refiner(folder: Path) -> Path:
    """SDXL's refiner: one text tower, and a score of beauty among the conditions."""
    return _pipeline("sdxl_refiner", folder)


def sd3(folder: Path) -> Path:
    """SD 3.5: two towers of CLIP and one of T5."""
    return _pipeline("sd3", folder)


def instruct_pix2pix(folder: Path) -> Path:
    """InstructPix2Pix: a denoiser that sees the image's latent too."""
    return _pipeline("instruct_pix2pix", folder)
