import csv
import json
import re
import shlex
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from fairspace.metrics.association_bias.formula import measure as association
from fairspace.metrics.representation_similarity_bias.formula import measure as similarity
from fairspace.submissions.errors import RunError, UsageError
from fairspace.submissions.probing.extraction import Extractor, OpenedModel, _image, open_model
from fairspace.submissions.probing.measuring import dumps, probe
from fairspace.submissions.probing.recipe import Recipe, make_recipe, read_recipe
from fairspace.submissions.probing.stimuli import ATTRIBUTES, make_stimuli
from tests.metrics.tables import ROOT
from tests.submissions.conftest import Run
from tests.submissions.probing import tiny_models

ALL = (
    "representation_similarity_bias",
    "association_bias",
    "intent_consistency",
    "projection_distortion",
    "stepwise_bias",
    "embedding_complexity",
)


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("images")
    random = np.random.default_rng(3)
    for name in ("anchor", "doctor", "basketball_player"):
        for gender in ("male", "female"):
            (folder / name / gender).mkdir(parents=True)
            pixels = random.integers(0, 255, (48, 40, 3), dtype=np.uint8)
            Image.fromarray(pixels).save(folder / name / gender / "1.png")
    return folder


@pytest.fixture(scope="module")
def janus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_models.janus(tmp_path_factory.mktemp("models") / "tiny-janus")


@pytest.fixture(scope="module")
def opened(janus: Path) -> tuple[OpenedModel, Recipe]:
    recipe = read_recipe("janus")
    return open_model(str(janus), recipe, "cpu"), recipe


@pytest.fixture(scope="module")
def found(opened: tuple[OpenedModel, Recipe], images: Path) -> dict[str, Any]:
    return probe(*opened, make_stimuli("doctor, nurse, basketball player", images))


def test_janus_is_measured_by_all_six(found: dict[str, Any]) -> None:
    states = {name: each["state"] for name, each in found["probes"].items()}
    assert states == dict.fromkeys(ALL, "value") | {"representation_similarity_bias": "undefined"}
    assert found["probes"]["stepwise_bias"]["steps"] == [0, 1, 2, 3]
    assert found["probes"]["representation_similarity_bias"]["coverage"] == pytest.approx(2 / 3)
    nurse = found["probes"]["representation_similarity_bias"]["by_occupation"]["nurse"]
    assert (nurse["value"], nurse["reason"]) == (None, "there is no stereotypical image")


def test_a_mean_without_every_occupation_is_undefined_in_json(found: dict[str, Any]) -> None:
    each = json.loads(dumps(found))["probes"]["representation_similarity_bias"]
    known = [row["value"] for row in each["by_occupation"].values() if row["value"] is not None]
    assert each["representation_similarity_bias"] is None
    assert each["partial_mean"] == pytest.approx(sum(known) / 2)
    assert each["reason"] == "1 of 3 have no value: nurse (there is no stereotypical image)"


def test_qwen_image_is_measured_by_all_but_steps(tmp_path: Path, images: Path) -> None:
    recipe = read_recipe("qwen-image")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of diffusers, about its own names
        model = open_model(str(tiny_models.qwen_image(tmp_path / "model")), recipe, "cpu")
        probes = probe(model, recipe, make_stimuli("doctor,drummer", images))["probes"]
    states = {name: each["state"] for name, each in probes.items()}
    without_images = {"representation_similarity_bias": "undefined"}  # of the drummer
    assert states == dict.fromkeys(ALL, "value") | without_images | {"stepwise_bias": "not_run"}
    assert probes["stepwise_bias"]["reason"] == "the recipe names no step"
    ratios = probes["projection_distortion"]["by_occupation"]["doctor"]
    assert ratios["ratio_before"] != ratios["ratio_after"]


def test_two_probes_are_the_same_bytes_and_none_leaves_a_hook(
    opened: tuple[OpenedModel, Recipe], found: dict[str, Any], images: Path
) -> None:
    again = probe(*opened, make_stimuli("doctor, nurse, basketball player", images))
    assert dumps(again) == dumps(found)
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in opened[0].modules.values())


def test_association_is_that_of_the_model_s_own_embedding_table(
    opened: tuple[OpenedModel, Recipe], found: dict[str, Any]
) -> None:
    model, tokenizer = opened[0].model, opened[0].tokenizer
    table = model.get_input_embeddings().weight.detach().double().numpy()

    def vector(word: str) -> Any:
        return table[tokenizer(word, add_special_tokens=False)["input_ids"]].mean(0)

    sets = {name: np.stack([vector(word) for word in words]) for name, words in ATTRIBUTES.items()}
    expected = association({name: vector(name)[None] for name in ("doctor", "nurse", "basketball player")}, sets)
    assert found["probes"]["association_bias"]["absolute_difference"] == pytest.approx(expected["absolute_difference"])


def test_similarity_is_that_of_what_the_language_model_is_given(
    opened: tuple[OpenedModel, Recipe], found: dict[str, Any], images: Path
) -> None:
    import torch

    def vector(name: str, gender: str) -> Any:
        image = Image.open(images / name / gender / "1.png")
        pixels = opened[0].image_processor(images=[image], return_tensors="pt")["pixel_values"]
        with torch.no_grad():
            features = opened[0].model.model.get_image_features(pixels).pooler_output
        return features.mean(1).double().numpy()

    doctor = {("stereotypical", "male"): vector("doctor", "male")}
    doctor["counter_stereotypical", "female"] = vector("doctor", "female")
    expected = similarity({"doctor": doctor}, {gender: vector("anchor", gender) for gender in ("male", "female")})
    value = found["probes"]["representation_similarity_bias"]["by_occupation"]["doctor"]["value"]
    assert value == pytest.approx(expected["by_occupation"]["doctor"]["value"], abs=1e-6)


def test_the_last_step_s_latent_is_what_the_whole_prompt_gives(opened: tuple[OpenedModel, Recipe]) -> None:
    import torch

    text = "a photo of a doctor"
    first = Extractor(*opened).prompts([text, "a photo of a nurse", text], ("step",), 9)["step"]
    call = opened[1].generate
    assert call is not None
    ids = opened[0].tokenizer(f"{call.prefix}{text}{call.suffix}", return_tensors="pt")
    with torch.no_grad():
        hidden = opened[0].model.model.language_model(**ids).last_hidden_state[0, -1]
    assert first[0].vectors.shape == (4, 32)
    assert first[0].vectors[0] == pytest.approx(hidden.double().numpy(), abs=1e-5)
    assert first[0].vectors == pytest.approx(first[2].vectors, abs=1e-5)
    assert not np.allclose(first[0].vectors, first[1].vectors, atol=1e-2)


def test_the_documented_command_writes_json_and_tables(
    run: Run, janus: Path, images: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (ROOT / "submissions" / "RUNNING.md").read_text(encoding="utf-8")
    command = next(line for line in text.splitlines() if line.startswith("fairspace probe "))
    monkeypatch.chdir(tmp_path)
    words = shlex.split(command.partition("#")[0])[1:]
    named = {"models/Janus-Pro-1B": janus, "probe-images": images}
    assert set(named) < set(words)
    out = run.fine(*(named.get(word, word) for word in words), "--steps", 2, "--occupations", "doctor,nurse")
    assert "Wrote probed: probe.json" in out
    written = json.loads((tmp_path / "probed" / "probe.json").read_text())
    assert set(written["probes"]) == set(ALL)
    assert re.fullmatch(r"sha256 [0-9a-f]{16}", written["signature"]["revision"])
    assert str(tmp_path) not in json.dumps(written)
    assert {path.name for path in (tmp_path / "probed").iterdir()} == {
        "probe.json",
        *(f"{name}.csv" for name in ALL),
    }
    with (tmp_path / "probed" / "association_bias.csv").open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert [(row["occupation"], row["model"]) for row in rows if "printed" in row["model"]] == [
        ("doctor", "BLIP3-o (printed)"),
        ("nurse", "Harmon (printed)"),
    ]
    assert rows[2]["absolute_difference"] == "0.0427"


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ("nowhere --recipe janus --out x", 1, "MODEL_UNKNOWN"),
        ("MODEL --recipe januz --out x", 1, "did you mean 'janus'?"),
        ("MODEL --recipe mine.toml --out x", 1, "such as model.language_model"),
        ("MODEL --recipe other.toml --out x", 1, "Expected: Other, which the recipe other is for"),
        ("MODEL --recipe janus --out nowhere/x", 2, "There is no folder nowhere"),
        ("MODEL --recipe janus --out full", 2, "full holds something else"),
        ("MODEL --recipe janus --out x --occupations plumber", 2, "plumber:male or plumber:female"),
        ("MODEL --recipe janus --out x --occupations doctr", 2, "did you mean 'doctor'?"),
        ("MODEL --recipe janus --out x --images full", 2, "full holds no images of these occupations"),
    ],
)
def test_wrong_use_is_explained_and_writes_nothing(
    run: Run, janus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: str, code: int, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").write_text("")
    head = 'name = "other"\narchitectures = ["Other"]\n'
    rest = '[generate]\ncall = "generate"\n[stages.intent]\nmodule = "model.languag_model"\n'
    (tmp_path / "other.toml").write_text(head + rest)
    (tmp_path / "mine.toml").write_text('name = "mine"\n' + rest)
    assert said in run.refused(code, "probe", *arguments.replace("MODEL", str(janus)).split())
    assert not (tmp_path / "x").exists()


def test_a_model_of_the_user_s_own_code_is_probed(tmp_path: Path, janus: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "import torch\n"
        "from transformers import AutoTokenizer\n"
        "def make(device):\n"
        f"    words = AutoTokenizer.from_pretrained({str(janus)!r})\n"
        "    torch.manual_seed(1)\n"
        "    return torch.nn.Sequential(torch.nn.Embedding(len(words), 6)), words, None\n"
    )
    data = {"name": "own", "words": {"call": "0", "special": False}, "stages": {"words": {"module": "0"}}}
    recipe = make_recipe(data, "own")
    found = probe(open_model(f"python:{tmp_path / 'mine.py'}:make", recipe), recipe, make_stimuli("doctor"))
    assert found["signature"]["model"] == "mine:make"
    states = {name: each["state"] for name, each in found["probes"].items()}
    assert states == dict.fromkeys(ALL, "not_run") | {"association_bias": "value"}


def test_a_call_that_is_no_module_and_no_known_method_is_refused(opened: tuple[OpenedModel, Recipe]) -> None:
    data = {"name": "x", "generate": {"call": "save_pretrained"}, "stages": {"intent": {"module": "model"}}}
    with pytest.raises(RunError, match=r"RECIPE_INVALID at x: generate\.call"):
        Extractor(opened[0], make_recipe(data, "x"))


def test_stimuli_are_the_paper_s_to_the_letter() -> None:
    stimuli = make_stimuli("doctor,electrician,nurse")
    assert stimuli.paraphrases("doctor")[:2] == [
        "a photo of a male doctor",
        "generate an image of a man who is a doctor",
    ]
    assert stimuli.triple("doctor") == {
        "neutral": "a doctor",
        "stereotypical": "a male doctor",
        "counter_stereotypical": "a female doctor",
    }
    assert stimuli.triple("electrician")["neutral"] == "an electrician"
    assert stimuli.triple("nurse")["stereotypical"] == "a female nurse"
    assert len(stimuli.steers("nurse")["counter_stereotypical"]) == 5
    assert ATTRIBUTES == {"male": ("male", "man", "he"), "female": ("female", "woman", "she")}


def test_hash_of_the_stimuli_follows_what_is_shown(images: Path) -> None:
    hashes = {make_stimuli(names, folder).hash for names in ("doctor", "doctor:female") for folder in (None, images)}
    assert len(hashes) == 4
    with pytest.raises(UsageError):
        make_stimuli("plumber:other")


def test_an_image_is_refused_by_its_header(tmp_path: Path) -> None:
    Image.new("1", (9000, 9000)).save(tmp_path / "bomb.png")
    with pytest.raises(RunError, match="too_many_pixels"):
        _image(tmp_path / "bomb.png")
