from fairspace.builders.engine.dataset import BuildManifest, BuiltSplit, Shard
from fairspace.builders.registry import dataset
from fairspace.cards.dataset_card import dataset_card


def card(counts: dict[str, dict[str, int]], joint: dict[str, int] | None = None, *, name: str, config: str) -> str:
    from datasets import ClassLabel, Features, Image, Value

    columns = {"id": Value("string"), "image": Image(), "gender": ClassLabel(names=["female", "male"])}
    splits = tuple(
        BuiltSplit(config, split, "A row.", 9, (Shard("x", "0", 1, 9),), counts, joint or {}, {"id": "x/<y>, `<z>`"})
        for split in ("gender", "race")
    )
    manifest = BuildManifest(name, "v1", 0, True, {}, {}, {}, {}, splits, {}, ())
    return dataset_card(dataset(name), manifest, {config: Features(columns)}, f"fairspace/{name}")


def test_rows_without_a_label_are_counted_apart_from_the_labels() -> None:
    many = {f"label {number}": number % 2 for number in range(11)}
    text = card({"second": {**many, "": 4}, "gender": {"female": 3, "male": 1, "": 5}}, name="genres", config="pairs")
    assert "| `second` | 11 labels, 0 to 1 rows each, none 4 |" in text
    assert "| `gender` | female 3, male 1, none 5 |" in text


def test_a_joint_group_without_a_label_is_named() -> None:
    text = card({"gender": {"female": 9}}, {"female / ": 2, "female / yes": 7}, name="genres", config="pairs")
    assert "Joint groups: female / none 2, female / yes 7." in text


def test_joining_is_shown_for_each_split_whose_images_are_left_out() -> None:
    text = card({"origin": {"utkface": 9, "synthetic": 0}}, name="stereotypical_bias", config="vision")
    for split in ("gender", "race"):
        assert f"--config vision --split {split} --source utkface --out joined/vision-{split}\n" in text


def test_angle_brackets_are_no_html_and_every_column_is_explained() -> None:
    text = card({}, name="genres", config="pairs")
    assert "| `id` | string | x/&lt;y>, `<z>` |" in text
    assert "| `gender` | female, male | perceived gender presentation |" in text


def test_only_what_is_an_address_alone_becomes_a_link() -> None:
    text = card({"origin": {"models": 9}}, name="iris_gen_52", config="images")
    assert "(your own runs)" not in text
    assert "(one submission per folder): your own runs |" in text
    assert "[UTKFace](https://susanqq.github.io/UTKFace/)" in card(
        {"origin": {"utkface": 1}}, name="stereotypical_bias", config="vision"
    )
