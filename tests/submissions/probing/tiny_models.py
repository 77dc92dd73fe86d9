from pathlib import Path
from typing import Any

from tests.builders.models import tiny
from tests.submissions.running.local.tiny_models import tokenizer

SIDE = 32
_WIDTH = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4}


def janus(folder: Path, side: int = SIDE, **width: int) -> Path:
    """Janus, which makes an image of a token for each 16 by 16 pixels; `width`: its language model's, if not tiny."""
    tiny.quiet()
    from transformers import (
        GenerationConfig,
        JanusConfig,
        JanusForConditionalGeneration,
        JanusImageProcessorPil,
        JanusProcessor,
        JanusVisionConfig,
        JanusVQVAEConfig,
        LlamaConfig,
    )

    words = tokenizer(boi_token="<begin_of_image>", eoi_token="<end_of_image>")
    start = words.convert_tokens_to_ids("<|im_start|>")
    vocabulary = {"vocab_size": len(words), "eos_token_id": words.eos_token_id, "pad_token_id": words.pad_token_id}
    config = JanusConfig(
        text_config=LlamaConfig(**{**_WIDTH, **width}, **vocabulary, initializer_range=0.4),
        vision_config=JanusVisionConfig(
            hidden_size=32,
            num_hidden_layers=2,
            num_attention_heads=4,
            image_size=side,
            patch_size=16,
            projection_dim=width.get("hidden_size", 32),
            num_image_tokens=(side // 16) ** 2,
            mlp_ratio=2.0,
        ),
        vq_config=JanusVQVAEConfig(
            embed_dim=8,
            num_embeddings=24,
            latent_channels=32,
            base_channels=32,
            channel_multiplier=[1] * 5,
            num_res_blocks=1,
            projection_dim=width.get("hidden_size", 32),
            num_hidden_layers=2,
            image_token_embed_dim=width.get("hidden_size", 32),
        ),
        image_token_id=words.convert_tokens_to_ids("<image>"),
    )
    model = JanusForConditionalGeneration(config)
    _stir(model)
    model.generation_config = GenerationConfig(
        bos_token_id=start,
        eos_token_id=words.eos_token_id,
        pad_token_id=words.pad_token_id,
        generation_kwargs={"boi_token_id": words.convert_tokens_to_ids("<begin_of_image>")},
    )
    model.save_pretrained(folder)
    images = JanusImageProcessorPil(size={"height": side, "width": side}, min_size=8)
    JanusProcessor(images, words, words.chat_template, num_image_tokens=(side // 16) ** 2).save_pretrained(folder)
    return folder


def emu3(folder: Path) -> Path:
    """Emu3, with 16 visual tokens of 8 by 8 pixels."""
    tiny.quiet()
    from transformers import Emu3Config, Emu3ForConditionalGeneration, Emu3ImageProcessor, Emu3Processor

    visual = [f"<|visual token {number:06d}|>" for number in range(16)]
    special = {
        "boi_token": "<boi>",
        "eoi_token": "<eoi>",
        "eof_token": "<eof>",
        "image_wrapper_token": "<|image token|>",
    }
    words = tokenizer(says=[*visual, "<|extra_200|>"], bos_token="<bos>", **special)
    vocabulary = {"vocab_size": len(words), "eos_token_id": words.eos_token_id, "pad_token_id": words.pad_token_id}
    coder = {"codebook_size": 16, "base_channels": 32, "channel_multiplier": [1] * 4, "num_res_blocks": 1}
    config = Emu3Config(
        text_config={**_WIDTH, **vocabulary, "bos_token_id": words.bos_token_id, "num_key_value_heads": 4},
        vq_config={**coder, "hidden_size": 32, "attn_resolutions": [3]},
        vocabulary_map=words.get_vocab(),
    )
    model = Emu3ForConditionalGeneration(config)
    _stir(model)
    model.save_pretrained(folder)
    images = Emu3ImageProcessor(min_pixels=16 * 16, max_pixels=32 * 32)
    Emu3Processor(images, words, words.chat_template).save_pretrained(folder)
    return folder


def qwen_image(folder: Path) -> Path:
    """Qwen-Image: a vision-language model as text encoder, a projection, a diffusion transformer."""
    tiny.quiet()
    from diffusers import (
        AutoencoderKLQwenImage,
        FlowMatchEulerDiscreteScheduler,
        QwenImagePipeline,
        QwenImageTransformer2DModel,
    )
    from transformers import Qwen2_5_VLConfig, Qwen2_5_VLForConditionalGeneration

    words = tokenizer()
    vocabulary = {"vocab_size": len(words), "eos_token_id": words.eos_token_id, "pad_token_id": words.pad_token_id}
    config = Qwen2_5_VLConfig(
        text_config={
            **_WIDTH,
            **vocabulary,
            "num_key_value_heads": 4,
            "initializer_range": 0.4,
            "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [1, 1, 2]},
        },
        vision_config={
            "depth": 2,
            "hidden_size": 16,
            "intermediate_size": 16,
            "num_heads": 2,
            "out_hidden_size": 32,
            "fullatt_block_indexes": [1],
        },
        image_token_id=words.convert_tokens_to_ids("<image>"),
    )
    encoder = Qwen2_5_VLForConditionalGeneration(config)
    transformer = QwenImageTransformer2DModel(
        patch_size=2,
        in_channels=16,
        out_channels=4,
        num_layers=1,
        attention_head_dim=16,
        num_attention_heads=2,
        joint_attention_dim=32,
        axes_dims_rope=(8, 4, 4),
    )
    vae = AutoencoderKLQwenImage(
        base_dim=8,
        z_dim=4,
        dim_mult=[1, 2],
        num_res_blocks=1,
        temperal_downsample=[False],
        latents_mean=[0.0] * 4,
        latents_std=[1.0] * 4,
    )
    for module in (encoder, transformer):
        _stir(module)
    QwenImagePipeline(
        scheduler=FlowMatchEulerDiscreteScheduler(),
        vae=vae,
        text_encoder=encoder,
        tokenizer=words,
        transformer=transformer,
    ).save_pretrained(folder)
    return folder


def _stir(model: Any) -> None:
    import torch

    with torch.no_grad():
        for weights in model.parameters():
            if weights.ndim > 1:
                weights.normal_(std=0.3)
