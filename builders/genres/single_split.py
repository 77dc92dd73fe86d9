"""The config `single` of the GENRES dataset: the prompts of one character, two for each pair."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fairspace.builders.engine.dataset import Manifest, Row, Split, expect
from fairspace.builders.errors import BuildError
from fairspace.builders.genres import plan, single
from fairspace.builders.genres.lint import gendered
from fairspace.builders.genres.prompts import PLOT_REQUIREMENTS


def single_split() -> Split:
    """The config. BuildError BUILD_CHECK if a prompt tells gender beyond the name."""
    lint()
    return Split(
        config="single",
        about="A prompt for a story of one character: the man or the woman of a pair, whose image goes with it.",
        columns={
            "pair": ("string", "id of the pair: its age, plot and name, and the image that is shown"),
            "gender": (single.GENDERS, "of the name"),
            "age": (list(plan.AGES), "age group of the character"),
            "plot": (list(PLOT_REQUIREMENTS), "that of the pair: conflict or cooperation"),
            "name": ("string", "of the one character"),
            "text_prompt": ("string", "what the model is asked: our wording, after Figure 3"),
        },
        units=[*single.items_of_pairs()],
        rows=_rows,
        groups=("gender", "plot"),
    )


def lint() -> None:
    """Check that no prompt tells more of gender than the name. BuildError BUILD_CHECK names the words."""
    prompts = {
        single.text_prompt(pair, gender).replace(single.names(pair, gender)[0], "")
        for pair, gender in single.items_of_pairs()
    }
    words_found = sorted(gendered(" ".join(prompts)))
    if words_found:
        what = f"a prompt with {', '.join(map(repr, words_found))}"
        raise BuildError("BUILD_CHECK", "genres/single", what, "no gendered word but the name", "mend the template")


def check_single(manifest: Manifest) -> None:
    """2 880 items, half of each gender and plot. BuildError BUILD_CHECK."""
    where, built = f"{manifest.dataset}/single", manifest.find("single", "test")
    rows, joint = (built.rows, dict(built.joint)) if built else (0, {})
    expect(rows == 2880, where, f"{rows} rows", "2880 rows")
    even = {f"{gender} / {plot}": 720 for gender in single.GENDERS for plot in PLOT_REQUIREMENTS}
    expect(joint == even, where, f"{joint}", f"{even}")


def _rows(units: Sequence[tuple[plan.Pair, plan.Gender]]) -> Iterator[Row]:
    for pair, gender in units:
        yield {
            "id": single.single_id(pair.id, gender),
            "pair": pair.id,
            "gender": gender,
            "age": pair.element.age,
            "plot": pair.element.plot,
            "name": single.names(pair, gender)[0],
            "text_prompt": single.text_prompt(pair, gender),
        }
