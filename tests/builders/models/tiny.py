"""Tiny random models in the layouts of real ones, for the same code path without weights."""

from pathlib import Path
from typing import Any

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


def _vae(channels: int = 4, **more: Any) -> Any:
    from diffusers import AutoencoderKL

    return AutoencoderKL(
        block_out_channels=[8, 16],
        in_channels=3,
        out_channels=3,
        down_block_types=["DownEncoderBlock2D"] * 2,
        up_block_types=["UpDecoderBlock2D"] * 2,
        latent_channels=channels,
        norm_num_groups=4,
        sample_size=32,
        **more,
    )


def _sdxl_parts(width: int, conditions: int) -> dict[str, Any]:
    """Denoiser, scheduler and autoencoder of SDXL and its refiner, which read different texts."""
    from diffusers import EulerDiscreteScheduler, UNet2DConditionModel

    unet = UNet2DConditionModel(
        block_out_channels=(8, 16),
        layers_per_block=1,
        sample_size=16,
        in_channels=4,
        out_channels=4,
        down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"),
        up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
        attention_head_dim=(2, 4),
        use_linear_projection=True,
        addition_embed_type="text_time",
        addition_time_embed_dim=8,
        transformer_layers_per_block=(1, 1),
        projection_class_embeddings_input_dim=conditions,
        cross_attention_dim=width,
        norm_num_groups=4,
    )
    scheduler = EulerDiscreteScheduler(beta_start=0.00085, beta_end=0.012, beta_schedule="scaled_linear")
    return {"vae": _vae(), "unet": unet, "scheduler": scheduler, "add_watermarker": False}


def sdxl(folder: Path) -> Path:
    """SDXL base; a latent is half the image's side."""
    quiet()
    from diffusers import StableDiffusionXLPipeline
    from transformers import CLIPTextModel, CLIPTextModelWithProjection

    words = tokenizer()
    StableDiffusionXLPipeline(
        text_encoder=CLIPTextModel(text_config(words)),
        text_encoder_2=CLIPTextModelWithProjection(text_config(words)),
        tokenizer=words,
        tokenizer_2=words,
        **_sdxl_parts(64, 80),
    ).save_pretrained(folder)
    return folder


def sdxl_refiner(folder: Path) -> Path:
    """SDXL's refiner: one text tower, and a score of beauty among the conditions."""
    quiet()
    from diffusers import StableDiffusionXLImg2ImgPipeline
    from transformers import CLIPTextModelWithProjection

    words = tokenizer()
    StableDiffusionXLImg2ImgPipeline(
        text_encoder=None,
        text_encoder_2=CLIPTextModelWithProjection(text_config(words)),
        tokenizer=None,
        tokenizer_2=words,
        requires_aesthetics_score=True,
        **_sdxl_parts(32, 72),
    ).save_pretrained(folder)
    return folder


def sd3(folder: Path) -> Path:
    """SD 3.5: two towers of CLIP and one of T5."""
    quiet()
    from diffusers import FlowMatchEulerDiscreteScheduler, SD3Transformer2DModel, StableDiffusion3Pipeline
    from transformers import CLIPTextModelWithProjection, T5Config, T5EncoderModel, T5Tokenizer

    words = tokenizer()
    pieces = T5Tokenizer(vocab=[("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), ("▁", -1.0), *LETTERS], extra_ids=0)
    t5 = T5Config(vocab_size=64, d_model=32, d_kv=8, d_ff=37, num_layers=1, num_heads=4)
    transformer = SD3Transformer2DModel(
        sample_size=16,
        patch_size=1,
        in_channels=4,
        num_layers=1,
        attention_head_dim=8,
        num_attention_heads=4,
        joint_attention_dim=32,
        caption_projection_dim=32,
        pooled_projection_dim=64,
        out_channels=4,
        pos_embed_max_size=32,
    )
    StableDiffusion3Pipeline(
        transformer=transformer,
        scheduler=FlowMatchEulerDiscreteScheduler(),
        vae=_vae(use_quant_conv=False, use_post_quant_conv=False, shift_factor=0.06, scaling_factor=1.5),
        text_encoder=CLIPTextModelWithProjection(text_config(words, hidden_act="gelu")),
        tokenizer=words,
        text_encoder_2=CLIPTextModelWithProjection(text_config(words, hidden_act="gelu")),
        tokenizer_2=words,
        text_encoder_3=T5EncoderModel(t5),
        tokenizer_3=pieces,
    ).save_pretrained(folder)
    return folder


def instruct_pix2pix(folder: Path) -> Path:
    """InstructPix2Pix: a denoiser that sees the image's latent too."""
    quiet()
    from diffusers import DDIMScheduler, StableDiffusionInstructPix2PixPipeline, UNet2DConditionModel
    from transformers import CLIPTextModel

    words = tokenizer()
    unet = UNet2DConditionModel(
        block_out_channels=(8, 16),
        layers_per_block=1,
        sample_size=16,
        in_channels=8,
        out_channels=4,
        down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"),
        up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
        attention_head_dim=4,
        cross_attention_dim=32,
        norm_num_groups=4,
    )
    StableDiffusionInstructPix2PixPipeline(
        vae=_vae(),
        text_encoder=CLIPTextModel(text_config(words)),
        tokenizer=words,
        unet=unet,
        scheduler=DDIMScheduler(beta_start=0.00085, beta_end=0.012, beta_schedule="scaled_linear"),
        safety_checker=None,
        feature_extractor=None,
        requires_safety_checker=False,
    ).save_pretrained(folder)
    return folder
