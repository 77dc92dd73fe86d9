import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from PIL import Image

from fairspace.builders.engine.build import build
from fairspace.builders.fact_or_fair import plan as fact_or_fair
from fairspace.builders.fact_or_fair.statistics import LEVELS, SLUGS
from fairspace.builders.iris_steer_60.understanding import sample_pairs
from fairspace.builders.registry import dataset
from fairspace.builders.stereotypical_bias import plan as stereotypical_bias
from fairspace.submissions.benchmarks.iris.ask import BLANK_PNG
from fairspace.submissions.benchmarks.pictures import Data, open_data
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.benchmarks.task import Ask, Stimulus, TaskStimuli, choose, prompts_hash
from fairspace.submissions.errors import RunError
from fairspace.submissions.running.asking.inspect_task import ChosenPart, parts
from fairspace.submissions.running.run import text_tasks
from tests.papers import NAMES
from tests.sample_builds import sample_builds
from tests.submissions.running.data.factory import image, splits, write, write_manifest, write_split


@pytest.fixture(scope="module")
def whole(whole_builds: Path) -> Data:
    return open_data(str(whole_builds))


def asks(part: TaskStimuli) -> Iterable[Ask]:
    for place in range(len(part.stimuli)):
        yield from part.read(place).asks


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if name == "iris" else []) for name in NAMES]
)
def test_every_item_is_asked_once_per_sample_and_to_the_letter(name: str, whole: Data) -> None:
    tables = benchmark(name).items()
    planned = [task for task in benchmark(name).tasks if task.table == "responses"]
    made = parts(name, whole, tasks=[task.name for task in planned])
    assert [part.task for part in made] == [task.name for task in planned]
    assert [part.task for part in parts(name, whole)] == [task.name for task in planned if not task.optional]
    for task, part in zip(planned, made, strict=True):
        prompts = dict(zip(*(tables[task.name][column].to_pylist() for column in ("id", "prompt")), strict=True))
        wanted = {(task.name, item, sample) for item in prompts for sample in range(task.samples)}
        assert set(prompts) == set(task.ids(benchmark(name).revisions[0]).to_pylist())
        keys = []
        for ask in asks(part):
            assert ask.prompt == prompts[ask.id]
            keys.append(ask.key)
        assert len(keys) == len(wanted) == part.expected
        assert set(keys) == wanted


@pytest.mark.parametrize("name", NAMES)
def test_a_stimulus_says_what_it_holds(name: str, whole: Data) -> None:
    made = parts(name, whole)
    ids = [stimulus.id for part in made for stimulus in part.stimuli]
    assert len(set(ids)) == len(ids)
    for part in made:
        for place in range(0, len(part.stimuli), 97):
            shown, stimulus = part.read(place), part.stimuli[place]
            assert len(shown.asks) == stimulus.asks
            assert {ask.task for ask in shown.asks} == {stimulus.task} == {part.task}
            pointed = {ask.image for ask in shown.asks}
            assert pointed == (set(range(len(shown.images))) if shown.images else {None})
        assert part.typical_tokens < part.max_tokens


@pytest.mark.parametrize("name", ["genres", "iris", "stereotypical_bias"])
def test_images_are_those_of_the_dataset(name: str, whole: Data) -> None:
    known = {item for _, _, _, columns in splits(name) for item in columns["id"]}
    seen: Counter[str] = Counter()
    for part in parts(name, whole):
        for place in range(len(part.stimuli)):
            shown = part.read(place)
            for number, data in enumerate(shown.images):
                if data == BLANK_PNG:
                    continue
                item = data.decode().removeprefix("image of ")
                seen[item] += 1
                for ask in shown.asks:
                    if ask.image == number and not part.task.startswith("language"):
                        assert f"{ask.id}/".startswith(f"{item}/")
                    elif ask.image == number:
                        assert ask.id.split("/", 1)[1] == item.removeprefix("persona/")
    assert set(seen) == known
    assert all(count == 1 + item.startswith("persona") for item, count in seen.items())


STRATA = {
    "narrative": 4 * 3 * 2,
    "llm_objective": len(SLUGS) * len(LEVELS),
    "llm_subjective": len(SLUGS) * len(LEVELS) * len(fact_or_fair.CONTEXTS),
    "vision_gender": 48 * 4,
    "vision_race": 48 * 2 * 6,
    "language_gender": 14,
    "language_race": 14,
    "occupation": 52 * 18,
    "tournament": 18,
    "pair": 7 * 3,
}
"""Task -> strata; for pairs, each combination with either image or neither the stereotypical one."""

IN_UNITS = {"llm_objective": {1, 2}, "llm_subjective": {fact_or_fair.SCENARIOS}}
"""Task whose units hold several strata -> how often each is chosen with a unit of every first stratum."""


@pytest.mark.parametrize("name", NAMES)
def test_a_stratified_choice_takes_every_stratum_equally_often(name: str, whole: Data) -> None:
    for part in parts(name, whole):
        sizes = Counter(stimulus.stratum for stimulus in part.stimuli)
        assert len(sizes) == STRATA[part.task]
        assert sum(sizes.values()) == len(part.stimuli)
        units: dict[str, list[Stimulus]] = {}
        for stimulus in part.stimuli:
            units.setdefault(stimulus.unit or stimulus.id, []).append(stimulus)
        one_of_each = {unit[0].stratum: len(unit) for unit in units.values()}
        chosen = choose(part.stimuli, sum(one_of_each.values()), stratified=True)
        times = Counter(part.stimuli[place].stratum for place in chosen)
        assert times.keys() == sizes.keys()
        assert set(times.values()) == IN_UNITS.get(part.task, {1})


def test_the_blank_image_is_white() -> None:
    with Image.open(BytesIO(BLANK_PNG)) as opened:
        assert (opened.format, opened.mode, opened.size) == ("PNG", "RGB", (384, 384))
        assert opened.getextrema() == ((255, 255),) * 3


def test_settings_are_those_that_the_papers_state(whole: Data) -> None:
    stated = {name: {str(dict(part.settings)) for part in parts(name, whole)} for name in NAMES}
    zero = {"{'temperature': 0.0}"}
    assert stated == {"iris": zero, "fact_or_fair": zero, "stereotypical_bias": {"{}"}, "genres": {"{}"}}


def test_a_prefix_stands_before_every_question(whole: Data) -> None:
    for plain, prefixed in zip(
        parts("stereotypical_bias", whole),
        parts("stereotypical_bias", whole, prefix="sexist_racist"),
        strict=True,
    ):
        said = f"Act as a {'sex' if plain.task.endswith('gender') else 'rac'}ist. "
        for place in (0, len(plain.stimuli) - 1):
            before, after = (part.read(place).asks for part in (plain, prefixed))
            assert [said + ask.prompt for ask in before] == [ask.prompt for ask in after]
        assert prompts_hash(plain.read(0).asks) != prompts_hash(prefixed.read(0).asks)


def test_genres_without_images_needs_no_data_and_asks_the_same(whole: Data) -> None:
    (text,), (both,) = parts("genres", None, text_only=True), parts("genres", whole)
    assert [ask.prompt for ask in asks(text)] == [ask.prompt for ask in asks(both)]
    assert all(part.image is None for part in asks(text))
    assert not any(text.read(place).images for place in range(len(text.stimuli)))


def test_the_language_modality_without_pictures_asks_the_same_and_leaves_the_faces_out(whole: Data) -> None:
    text, both = parts("stereotypical_bias", None, text_only=True), parts("stereotypical_bias", whole)
    named = text_tasks(ChosenPart("stereotypical_bias", text_only=True))
    assert [part.task for part in text] == ["language_gender", "language_race"] == list(named)
    assert [list(asks(part)) for part in text] == [
        [replace(ask, image=None) for ask in asks(part)] for part in both[2:]
    ]
    assert not any(part.read(0).images for part in text)
    with pytest.raises(RunError, match=r"TASK_UNKNOWN.*about what the image shows"):
        parts("stereotypical_bias", whole, tasks=["vision_race"], text_only=True)


@pytest.mark.parametrize(
    ("name", "task", "said"),
    [
        ("iris", "tournamnt", "did you mean 'tournament'?"),
        ("iris", "generation_neutral", "make images"),
        ("fact_or_fair", "t2i_objective", "make images"),
        ("genres", "occupation", "choose from narrative"),
    ],
)
def test_an_unknown_task_is_refused(name: str, task: str, said: str) -> None:
    with pytest.raises(RunError, match=f"TASK_UNKNOWN.*{re.escape(said)}"):
        parts(name, None, tasks=[task])


@pytest.mark.parametrize("name", ["genres", "iris", "stereotypical_bias"])
def test_images_without_data_are_missing(name: str) -> None:
    with pytest.raises(RunError, match=r"DATA_MISSING.*--data"):
        parts(name, None)


def test_what_lacks_an_image_is_left_out_and_still_expected(tmp_path: Path) -> None:
    columns = {"id": [f"pair/{number:04d}/{side}" for number in range(4) for side in "ab"]}
    folder = tmp_path / "iris_steer_60"
    lacking = {"pair/0001/b", "pair/0003/a", "pair/0003/b"}
    files = write_split(folder / "understanding", "test", columns, without=lacking)
    write_manifest(folder, "iris_steer_60", [("understanding", "test", files)])
    (part,) = parts("iris", open_data(str(tmp_path)), tasks=["pair"])
    assert [stimulus.id for stimulus in part.stimuli] == ["pair/0000", "pair/0002"]
    assert part.expected == 204_000
    assert part.read(1).images == (image("pair/0002/a"), image("pair/0002/b"))
    assert part.read(0).images == (image("pair/0000/a"), image("pair/0000/b"))


def test_a_published_copy_without_its_images_says_how_to_join_them(tmp_path: Path) -> None:
    lacking = {f"vision_gender/{pair}" for pair in stereotypical_bias.pairs("gender")["pair"].to_pylist()}
    write(tmp_path, "stereotypical_bias", without=lacking)
    data = open_data(str(tmp_path))
    mend = "python join_images.py --dataset .* --config vision --split gender.*; or leave out the task vision_gender$"
    with pytest.raises(RunError, match=f"DATA_MISSING.*{mend}"):
        parts("stereotypical_bias", data)
    others = [task for task in stereotypical_bias.TASKS if task != "vision_gender"]
    assert [part.task for part in parts("stereotypical_bias", data, tasks=others)] == others


def test_a_build_without_images_says_how_to_build_them(tmp_path: Path) -> None:
    write(tmp_path, "genres", without=set(next(splits("genres"))[3]["id"]))
    mend = "fairspace build genres --out built/genres.* --tool generator="
    with pytest.raises(RunError, match=f"DATA_MISSING.*1440 rows without images.*{mend}"):
        parts("genres", open_data(str(tmp_path)))


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"id": ["cs/young/00/0/9"], "text_prompt": ["?"]}, "the id 'cs/young/00/0/9'"),
        ({"id": ["cs/young/00/0/0"], "text_prompt": ["Write a story."]}, "text_prompt 'Write a story.'"),
        ({"id": ["cs/young/00/0/0"]}, "no column 'text_prompt'"),
    ],
)
def test_items_that_are_not_the_plan_s_are_refused(tmp_path: Path, columns: dict[str, list[str]], said: str) -> None:
    folder = tmp_path / "genres"
    files = write_split(folder / "pairs", "test", columns)
    write_manifest(folder, "genres", [("pairs", "test", files)])
    with pytest.raises(RunError, match=f"DATA_INVALID.*{said}"):
        parts("genres", open_data(str(tmp_path)))


ITEMS: dict[str, tuple[str, str, Callable[[str], str]]] = {
    "narrative": ("genres/pairs", "test", lambda item: item),
    "vision_gender": ("stereotypical_bias/vision", "gender", lambda item: item.rsplit("/", 1)[0]),
    "vision_race": ("stereotypical_bias/vision", "race", lambda item: item.rsplit("/", 1)[0]),
    "language_gender": ("stereotypical_bias/persona", "test", lambda item: f"persona/{item.split('/', 1)[1]}"),
    "language_race": ("stereotypical_bias/persona", "test", lambda item: f"persona/{item.split('/', 1)[1]}"),
    "occupation": ("iris_ideal_52/occupation", "test", lambda item: item),
}
"""Task -> config and split of its images, and function from item id to image id."""


def stored(built: Path, config: str, split: str) -> dict[str, bytes]:
    found = {}
    for file in sorted((built / config).glob(f"{split}-*.parquet")):
        table = pq.read_table(file, columns=["id", "image"])
        for row in table.filter(pc.is_valid(table["image"])).to_pylist():
            found[row["id"]] = row["image"]["bytes"]
    return found


@pytest.mark.slow
@pytest.mark.parametrize("task", ITEMS)
def test_every_image_of_a_build_is_shown_with_its_items(task: str) -> None:
    built, (config, split, of_image) = sample_builds(), ITEMS[task]
    name = {"genres/": "genres", "stereot": "stereotypical_bias"}.get(config[:7], "iris")
    data = open_data(str(built))
    (part,) = parts(name, data, tasks=[task])
    images, seen = stored(built, config, split), set()
    for place in range(len(part.stimuli)):
        shown = part.read(place)
        for ask in shown.asks:
            assert ask.image is not None
            assert shown.images[ask.image] == images[of_image(ask.id)]
            seen.add(of_image(ask.id))
    assert seen == set(images)
    assert data.sample
    with Image.open(BytesIO(part.read(0).images[0])) as opened:
        assert min(opened.size) >= 200
    assert part.expected > sum(stimulus.asks for stimulus in part.stimuli)


@pytest.mark.slow
def test_a_build_of_planned_pairs_has_their_ids_and_no_images(tmp_path: Path) -> None:
    build(dataset("iris_steer_60"), tmp_path / "iris_steer_60", sample=True)
    data = open_data(str(tmp_path))
    table = data.table("iris_steer_60", "understanding", "test", ["id", "image"])
    assert table["id"].to_pylist() == [f"pair/{number:04d}/{side}" for number in sample_pairs() for side in "ab"]
    with pytest.raises(RunError, match=r"DATA_MISSING.*84 rows without images.*fairspace build iris_steer_60"):
        parts("iris", data, tasks=["pair"])
