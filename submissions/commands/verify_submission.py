"""The command `fairspace verify-submission`: whether a submission's answers are the model's, for maintainers."""

from __future__ import annotations

import getpass
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from fairspace.submissions.commands.app import MAINTAIN, command, print_json, write
from fairspace.submissions.commands.run_options import model_settings, words
from fairspace.submissions.commands.space import opened_state
from fairspace.submissions.errors import UsageError, need_labeller, plain
from fairspace.submissions.plotting import share_text
from fairspace.submissions.show.table import Table

if TYPE_CHECKING:
    from fairspace.submissions.format.schema import Submission
    from fairspace.submissions.running.rerunning.agreement import PartAgreement
    from fairspace.submissions.running.rerunning.rerun import Verification

_VERDICTS = {
    "agrees": "The answers agree with the model's.",
    "differs": "The answers are not this model's.",
    "undecided": "Nothing can be said.",
}
_LEGEND = """\
kappa: agreement beyond chance. again: two reruns with each other, 100 % where one was enough. chance: answers
to different items. foreign: share of the answers that is of another origin,
95 % interval; a row is verified if it is at most {:.0%}."""


@command(
    MAINTAIN, "fairspace verify-submission mine.zip --model openai/gpt-4o --out verify-mine", name="verify-submission"
)
def verify_submission(
    submission: str,
    model: str = "",
    images: str = "",
    ares: str = "",
    faces: str = "",
    judge: str = "",
    judge_argument: list[str] | None = None,
    data: str = "",
    items: int = 385,
    without: str = "",
    out: Path | None = None,
    setting: list[str] | None = None,
    store: str = "",
    sign: str = "",
    entry: str = "",
    as_json: bool = False,
) -> None:
    """Ask a model a random part of a submission's items again, and say whether the answers that were handed in are its.

    Everything that decides the answers is taken from the submission. The part is drawn by a secret seed, so that
    nobody can prepare for it; the seed is published with the outcome. A score that rests on a judge is verified only if
    a random part of its judgements agrees with the judge, too. Exit code 1: the answers do not agree.

    Options:
        submission (SUBMISSION|ENTRY): A folder, a .zip, or the entry of a row of --store.
        judge: The judge that a submission declares, as Inspect names it; also asked again.
        judge_argument: How the judge is asked, as -M is of the model; can be given again.
        items (min=30): Requests that are asked again, at least.
        without: Tasks that need not be compared, with commas.
        out: Folder of the workings, to go on after a stop; a temporary one if left out.
        store (metavar=STORE): Store that has the ENTRY: a folder, or hf://datasets/OWNER/NAME.
        sign (metavar=STORE|SPACE): Append the event: to this store, or on this Space.
        entry (rich_help_panel=Sign): Of the row; needed on a Space.
    """
    from fairspace.submissions.running.asking.models import need_models

    need_models(model, judge)
    from fairspace.submissions.progress import watched
    from fairspace.submissions.running.rerunning.rerun import Means, judge_again, rerun
    from fairspace.submissions.running.zero_shot import face_detector

    if not (model or images):
        raise UsageError("Name what is asked again: --model, --images, or both.")
    if judge_argument and not judge:
        raise UsageError("--judge-argument is of a judge that is asked again; name it with --judge.")
    if bool(images) != bool(ares):
        raise UsageError("Images are compared by their labels: name --images and --labeller together.")
    if sign and "://" in sign and not sign.startswith("hf://") and not entry:
        raise UsageError("A Space does not say which row a submission led to; name it with --entry.")
    with tempfile.TemporaryDirectory(prefix="fairspace-verify-") as scratch:
        checked = _submission(submission, store, Path(scratch))
        folder = out if out is not None else Path(scratch) / "verify"
        with watched() as tell:
            asked = model_settings(model, setting) if model else None
            if ares:
                need_labeller(ares)
            means = Means(asked, images, ares, face_detector(faces), data)
            outcome = rerun(checked, means, folder, items=items, without=words(without), tell=tell)
            of_judge = model_settings(judge, judge_argument, "--judge-argument") if judge else None
            judged = judge_again(checked, of_judge, folder, items=items, tell=tell) if of_judge else None
            outcome = outcome.with_judgements(checked, judged)
    if as_json:
        print_json(outcome.to_json())
    else:
        show_verification(outcome)
    if outcome.verdict != "agrees":
        raise typer.Exit(1)
    if sign:
        _sign(sign, entry or (submission if store else ""), outcome)


def _submission(source: str, store: str, scratch: Path) -> Submission:
    """The submission at a path, or the file that led to a row of a store. UsageError if there is none."""
    from fairspace.answers import submission_of

    if not store:
        return submission_of(Path(source), allow_images=False)
    with opened_state(store) as state:
        handed_in = next((item for item in state.submissions() if item.entry == source), None)
        if handed_in is None:
            raise UsageError(
                f"No file in {store} led to a row {source!r}; name the submission's folder or .zip instead."
            )
        with state.submitted_file(handed_in) as path:
            return submission_of(path, allow_images=False)


def _sign(where: str, entry: str, outcome: Verification) -> None:
    """Append the `verified` event. UsageError if no row has the submission."""
    reason = _usual_reason(outcome)
    if where.startswith(("http://", "https://")) or (where.count("/") == 1 and not Path(where).exists()):
        from fairspace.submissions.commands.space_client import TOKEN, SpaceClient, space_address

        client = SpaceClient(space_address(where), os.environ.get(TOKEN, ""))
        event = client.act(entry, "verify", {"reason": reason, "evidence": outcome.to_json()})
        typer.echo(f"Verified: event {event['number']} of {where}.")
        return
    from fairspace.leaderboard_space import maintaining
    from fairspace.leaderboard_space.intake import User
    from fairspace.leaderboard_space.settings import Settings

    secret = Settings.from_environment().secret
    if not secret:
        raise UsageError("FAIRSPACE_SECRET is not set; the event is signed by a key that follows from the Space's.")
    with opened_state(where, secret) as state:
        having = [row.entry for row in state.entries() if row.result.signature.get("submission") == outcome.submission]
        if not (entry or having):
            raise UsageError(f"No row of {where} was scored from this submission; hand it in first.")
        signed = maintaining.verify(state, entry or having[0], User(getpass.getuser()), reason, outcome.to_json())
        typer.echo(f"Verified: event {signed.number} of {where}, row {signed.body['entry']}.")


def _usual_reason(outcome: Verification) -> str:
    whole = outcome.comparison.whole
    agree = share_text(whole.agreement, whole.low, whole.high)
    return f"{whole.requests:,} random requests were asked again of {outcome.model}, and agree: {agree}"


def show_verification(outcome: Verification) -> None:
    """Print the agreement task by task, the verdict and its reasons, and the seed."""
    from fairspace.submissions.running.rerunning.agreement import MOST_FOREIGN

    _agreements(outcome.comparison)
    if (judged := outcome.judgements) is not None:
        write(plain(f"Judgements of {judged.declared}, asked again of {judged.asked}:"))
        _agreements(judged.comparison)
    typer.echo(_LEGEND.format(MOST_FOREIGN))
    typer.echo(_VERDICTS[outcome.verdict])
    for reason in outcome.reasons:
        write(plain(f"- {reason}"))
    typer.echo(f"The part was drawn by the seed {outcome.seed}.")


def _agreements(comparison: PartAgreement) -> None:
    rows = []
    for name, agreement in {**comparison.tasks, "all": comparison.whole}.items():
        share = share_text(agreement.agreement, agreement.low, agreement.high)
        kappa = f"{agreement.kappa[0]:.2f}" if agreement.kappa is not None else "–"
        foreign = f"{agreement.foreign_low:.0%}–{agreement.foreign_high:.0%}"
        shares = (share, kappa, f"{agreement.repeated:.0%}", f"{agreement.chance:.0%}", foreign)
        rows.append((name.rpartition("/")[2][:16], f"{agreement.requests:,}", *shares))
    write(Table(("task", "asked", "agreement, 95 %", "kappa", "again", "chance", "foreign"), rows))
