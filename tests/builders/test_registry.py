import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fairspace.builders.engine.build import read_manifest
from fairspace.builders.registry import NAMES
from tests.sample_builds import sample_builds

WITHOUT_SENTENCE = {("iris_ideal_52", "gap"): {"occupation", "gender", "age", "skin_tone"}}


@pytest.mark.parametrize("name", NAMES)
def test_every_row_has_an_id_of_its_own_and_every_column_its_sentence_on_the_card(name: str) -> None:
    folder = sample_builds() / name
    for split in read_manifest(folder).splits:
        table = pa.concat_tables(pq.read_table(folder / shard.file) for shard in split.shards)
        assert len(set(table["id"].to_pylist())) == len(table) == split.rows > 0, split
        explained = {"id", *split.fields} | WITHOUT_SENTENCE.get((name, split.config), set())
        assert explained >= set(table.column_names), split
