from pathlib import Path

CONFIG = """
name = "quick"
seed = {seed}
image_size = 32
tile = 4

{tasks}

[augmentation]
scale = [0.8, 1.0]
flip = 0.5
brightness = 0.1

[experts.clip]
{clip}
shared = 0
backbone_learning_rate = 1e-3
text_learning_rate = {text}
learning_rate = 1e-3
loss = "focal"
epochs = 2
patience = 2
batch = 32

[experts.dinov2]
shared = 1
backbone_learning_rate = 1e-3
learning_rate = 1e-3
epochs = 3
patience = 1
batch = 32
weight_decay = 0.01
[experts.dinov2.config]
hidden_size = 16
num_hidden_layers = 2
num_attention_heads = 2
image_size = 32
patch_size = 8
mlp_ratio = 1
hidden_dropout_prob = 0.1

[experts.convnext]
config = {{ hidden_sizes = [8, 8, 8, 8], depths = [1, 1, 1, 1] }}
shared = 2
backbone_learning_rate = 1e-3
learning_rate = 1e-3
epochs = 2
patience = 2
batch = 32
warmup = 0.2

[fusion]
hidden = [8]
learning_rate = 1e-3
epochs = 3
patience = 3
batch = 32

[fast]
learning_rate = 1e-3
epochs = 2
patience = 2
batch = 32
[fast.config]
width_coefficient = 0.5
hidden_dim = 640
image_size = 32
in_channels = [32, 16]
out_channels = [16, 24]
kernel_sizes = [3, 3]
strides = [2, 2]
num_block_repeats = [1, 1]
expand_ratios = [1, 2]

[escalation]
rounds = 4
depth = 2
learning_rate = 0.3

[routers]
images = 100
fast_confidence = 0.4
escalation = 0.5
"""
GATE = """
[gate]
kind = "convnext"
hidden = 4
faces = 20
images = 2
hard = 2
tested = 1
learning_rate = 1e-3
epochs = 2
patience = 2
batch = 32
"""
TASKS = """
[[tasks]]
name = "age_gender"
arbiter = "vote"

[[tasks]]
name = "skin_tone"
"""
ACCESSORIES = """
[[tasks]]
name = "accessories"
labels = ["with", "without"]
prompts = ["a drawing of a person with glasses or a tie", "a drawing of a person"]
attributes = { accessories = ["with", "without"] }
arbiter = "vote"
"""
CLIP = """config = { hidden_size = 16, intermediate_size = 16, num_hidden_layers = 1, num_attention_heads = 2, \
image_size = 32, patch_size = 8, projection_dim = 8 }"""


def quick_config(file: Path, *, seed: int = 0, tasks: str = TASKS, clip: str = CLIP, text: float = 0.0) -> Path:
    file.write_text(CONFIG.format(seed=seed, tasks=tasks, clip=clip, text=text), encoding="utf-8")
    return file
