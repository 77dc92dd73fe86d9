"""`fairspace judge` and `fairspace import inspect`: judges that read narratives, and logs of Inspect as submissions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fairspace.submissions.commands.app import RUN, app, importing
from fairspace.submissions.commands.shared.run_options import (
    AgainOption,
    ArchitectureOption,
    ArgumentOption,
    ConnectionsOption,
    ContactOption,
    CostLimitOption,
    LicenceOption,
    MaxTokensOption,
    OrganisationOption,
    ParametersOption,
    PricesOption,
    RetriesOption,
    StratifiedOption,
    TimeoutOption,
    TokenLimitOption,
    WeightsOption,
    check_together,
    need_run,
    provider_arguments,
    spending_bounds,
    tell_outcome,
    tell_stages,
)
from fairspace.submissions.errors import UsageError


@app.command(
    epilog="Example: fairspace judge mine --model openai/gpt-4o --model openai-api/local/mistral", rich_help_panel=RUN
)
def judge(
    submission: Annotated[Path, typer.Argument(help="Folder of a submission to genres.", metavar="SUBMISSION")],
    model: Annotated[
        list[str], typer.Option(help="A judge, as Inspect names it; can be given again. The first one is scored.")
    ],
    revision: Annotated[
        list[str] | None, typer.Option(help="Commit, date or version of a judge, in the order of --model.")
    ] = None,
    limit: Annotated[int | None, typer.Option(help="Narratives at most.", min=1)] = None,
    stratified: StratifiedOption = False,
    seed: Annotated[int | None, typer.Option(help="Of the run; each request has its own from it.")] = None,
    json_schema: Annotated[
        bool, typer.Option("--json-schema", help="Hold the provider to the answer's JSON schema.")
    ] = False,
    base_url: Annotated[
        list[str] | None, typer.Option("--model-base-url", help="Address of a judge's server, in the order of --model.")
    ] = None,
    argument: ArgumentOption = None,
    connections: ConnectionsOption = 16,
    retries: RetriesOption = 6,
    timeout: TimeoutOption = 300,
    temperature: Annotated[float | None, typer.Option(help="Of the judges; 0 if left out.", min=0)] = None,
    max_tokens: MaxTokensOption = None,
    token_limit: TokenLimitOption = None,
    cost_limit: CostLimitOption = None,
    provider_prices: PricesOption = None,
    again: AgainOption = False,
) -> None:
    """Let models read the narratives of a submission and write judgements.jsonl; a stopped run continues."""
    need_run()
    from fairspace.submissions.running.asking.models import ModelSettings
    from fairspace.submissions.running.judging.judging import judge as judged
    from fairspace.submissions.running.watching import watched

    check_together(limit, stratified)
    urls = base_url or []
    if len(urls) > 1 and len(urls) != len(model):
        raise UsageError(f"There are {len(model)} judges and {len(urls)} --model-base-url; give one, or one for each.")
    arguments = provider_arguments(argument or [])
    models = [
        ModelSettings(
            name,
            urls[number if len(urls) > 1 else 0] if urls else "",
            connections,
            retries,
            timeout,
            temperature,
            None,
            max_tokens,
            arguments,
            spending_bounds(name, token_limit, cost_limit, provider_prices),
        )
        for number, name in enumerate(model)
    ]
    with watched() as tell:
        outcome = judged(
            submission,
            models,
            revisions=revision or [],
            limit=limit,
            stratified=stratified,
            seed=seed,
            json_schema=json_schema,
            again=again,
            tell=tell,
        )
    tell_stages(outcome.stages)
    for log in outcome.logs:
        typer.echo(f"Note: Inspect's log: {log}")
    typer.echo(f"Wrote {submission}. Next: fairspace check {submission}")


@importing.command("inspect", epilog="Example: fairspace import inspect logs/*.eval --out mine")
def import_inspect(
    logs: Annotated[
        list[Path], typer.Argument(help="Inspect's logs of one benchmark's tasks, .eval or .json.", metavar="LOG")
    ],
    out: Annotated[Path | None, typer.Option(help="Folder or .zip to write; it must not exist.")] = None,
    submission: Annotated[
        Path | None, typer.Option(help="Logs of judges: folder of the submission that they judged, instead of --out.")
    ] = None,
    model: Annotated[str, typer.Option(help="Name of the model on the board; the log's if left out.")] = "",
    revision: Annotated[
        list[str] | None,
        typer.Option(help="Commit, date or version of the model, or of each judge in the order of the logs."),
    ] = None,
    organisation: OrganisationOption = "not stated",
    licence: LicenceOption = "not stated",
    contact: ContactOption = "not stated",
    parameters: ParametersOption = None,
    open_weights: WeightsOption = None,
    architecture: ArchitectureOption = None,
) -> None:
    """Turn Inspect's logs of a benchmark's tasks into a submission, or those of judges into its judgements."""
    need_run()
    from fairspace.submissions.running.judging.importing import import_judges
    from fairspace.submissions.running.logs.importing import import_inspect as imported
    from fairspace.submissions.running.settings import About
    from fairspace.submissions.running.watching import watched

    revisions = revision or []
    if out is not None and submission is None:
        if len(revisions) > 1:
            raise UsageError(f"There are {len(revisions)} revisions of one model; give one.")
        first = revisions[0] if revisions else "not stated"
        about = About(model, first, organisation, licence, contact, parameters, open_weights, architecture)
        with watched() as tell:
            outcome = imported(logs, out, about=about, tell=tell)
    elif submission is not None and out is None:
        with watched() as tell:
            outcome = import_judges(logs, submission, revisions=revisions, tell=tell)
    else:
        raise UsageError("Name --out for answers, or --submission for judgements of one that is there already.")
    tell_outcome(outcome)
    typer.echo(f"Wrote {outcome.out}. Next: fairspace score {outcome.out}")
