"""The board as a Gradio app: a page per benchmark, one for a model, one to upload a submission, one about it all."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import gradio as gr

from leaderboard_space import fact_or_fair, genres, iris, model_page, stereotypical_bias, upload_page
from leaderboard_space.benchmark_page import Page, build_page, render, selected_entry
from leaderboard_space.view import View
from submissions.board import Row
from submissions.store import Store

VIEWS = (iris.VIEW, fact_or_fair.VIEW, stereotypical_bias.VIEW, genres.VIEW)
HERE = Path(__file__).parent
ERRATA = HERE.parent / "cards" / "errata.md"
SYSTEM_FONT = ("system-ui", "sans-serif")
MONO_FONT = ("ui-monospace", "monospace")
THEME = gr.themes.Base(primary_hue="blue", neutral_hue="slate", font=SYSTEM_FONT, font_mono=MONO_FONT).set(
    body_text_color_subdued="*neutral_600",
    body_text_color_subdued_dark="*neutral_300",
)

HEADER = """
# fairspace
How fairly do generative models treat groups of people? Four benchmarks, every score with its worst case.
"""
ABOUT = """
**Rows.** *published*: printed in the paper, with no records behind it. *scored here*: computed from a submission, so
that every number can be traced and recomputed. *baseline*: a trivial model (constant, random, refusing), for scale.

**States.** *undefined*: the definition gives no number for these samples. *not run*: that part was not handed in, or
the paper does not print it. *partial*: some samples are missing; the value is of the others, and the rank goes by the
worst that the missing ones could have been. Nothing that is missing ever counts as 0.

**Labels are perceived, not true.** Gender, age, skin tone and race are what a picture or a name suggests to a
classifier or a reader, measured with error. They are no statement about a person, and no page here labels a photo.

**Scores are relative.** Standards fix thresholds at one time against one cohort; doing nothing is never fair, so a
standard asks for some competence before it ranks. A good score here is no proof of harmlessness.
"""


def build(store: Store) -> gr.Blocks:
    """The whole app over one store."""
    with gr.Blocks(title="fairspace leaderboard", analytics_enabled=False, delete_cache=(3600, 3600)) as app:
        gr.Markdown(HEADER, elem_classes="header")
        with gr.Tabs(selected=VIEWS[0].benchmark) as tabs:
            pages = []
            for view in VIEWS:
                with gr.Tab(view.title, id=view.benchmark):
                    pages.append(build_page(view, store))
            with gr.Tab("Model", id="model"):
                model = model_page.build_model_page()
            with gr.Tab("Upload", id="upload"):
                upload = upload_page.build_upload_page()
            with gr.Tab("About and errata", id="about"):
                gr.Markdown(ABOUT)
                gr.Markdown(ERRATA.read_text(encoding="utf-8"), header_links=True, elem_classes="errata")
        _connect(app, store, tabs, pages, model, upload)
    return app


def _connect(
    app: gr.Blocks,
    store: Store,
    tabs: gr.Tabs,
    pages: list[Page],
    model: model_page.ModelPage,
    upload: upload_page.UploadPage,
) -> None:
    """Every event of the app."""
    standards = [page.standard for page in pages]
    boards = [output for page in pages for output in page.outputs]

    def chosen(names: tuple[str, ...]) -> dict[str, str]:
        return {view.benchmark: name for view, name in zip(VIEWS, names, strict=True)}

    def find(choice: str | None, names: tuple[str, ...]) -> tuple[View, Row] | None:
        views = [view for view in VIEWS if (choice or "").startswith(f"{view.benchmark}/")]
        return model_page.rows_by_choice(views, store, chosen(names)).get(choice or "")

    def refresh(*names: str) -> list[Any]:
        found = model_page.rows_by_choice(VIEWS, store, chosen(names))
        contents = [part for page, name in zip(pages, names, strict=True) for part in render(page.view, store, name)]
        return [*contents, gr.Dropdown(choices=model_page.choices(found))]

    def show_model(choice: str | None, *names: str) -> list[Any]:
        view_row = find(choice, names)
        if view_row is None:
            return [gr.skip() for _ in model.outputs]
        view, row = view_row
        return model_page.render(view, row, chosen(names)[view.benchmark])

    def show_evidence(choice: str | None, value: str | None, *names: str) -> Any:
        view_row = find(choice, names)
        if view_row is None:
            return {}
        values = {**view_row[1].scores, **view_row[1].values}
        return dict(values[value].evidence) if value in values else {}

    def first(*names: str) -> list[Any]:
        """A standard can be chosen once this is done; an answer that comes late would undo the choice."""
        return [*refresh(*names), *(gr.Radio(interactive=True) for _ in standards)]

    app.load(first, standards, [*boards, model.choice, *standards], api_visibility="private", show_progress="hidden")
    for page in pages:
        _connect_page(page, store, tabs, model)
    for standard in standards:
        standard.change(
            show_model, [model.choice, *standards], model.outputs, api_visibility="private", show_progress="hidden"
        )
    model.choice.change(show_model, [model.choice, *standards], model.outputs, api_visibility="private")
    model.value.change(show_evidence, [model.choice, model.value, *standards], model.evidence, api_visibility="private")
    for frame in (model.scores, model.values):
        frame.select(_selected_value, None, model.value, api_visibility="private")
    upload.button.click(
        lambda path: upload_page.handle(path, store),
        upload.file,
        upload.outputs,
        concurrency_limit=1,
        api_visibility="private",
    ).then(refresh, standards, [*boards, model.choice], api_visibility="private", show_progress="hidden")


def _connect_page(page: Page, store: Store, tabs: gr.Tabs, model: model_page.ModelPage) -> None:
    """The events of one benchmark's page."""
    view = page.view
    page.standard.change(lambda name: render(view, store, name), page.standard, page.outputs, api_visibility="private")

    def open_model(event: gr.SelectData) -> tuple[Any, str]:
        return gr.Tabs(selected="model"), f"{view.benchmark}/{selected_entry(event)}"

    for table in page.tables:
        table.select(open_model, None, [tabs, model.choice], api_visibility="private", show_progress="hidden")


def _selected_value(event: gr.SelectData) -> str:
    return str(event.row_value[0])


def serve(store: Store, host: str = "127.0.0.1", port: int | None = None, block: bool = True) -> gr.Blocks:
    """Serve the app on this machine until interrupted; with `block` false, return while it runs.

    Args:
        store: where results are read from and added to.
        host: address to listen on.
        port: port to listen on; None takes a free one from 7860 on.
        block: wait until interrupted.
    """
    app = build(store)
    app.queue(default_concurrency_limit=2, max_size=64)
    app.launch(
        server_name=host,
        server_port=port,
        prevent_thread_lock=not block,
        show_error=True,
        quiet=True,
        footer_links=[],
        max_file_size=upload_page.MAX_BYTES,
        theme=THEME,
        css_paths=[HERE / "style.css"],
        enable_monitoring=False,
        ssr_mode=False,
    )
    return app


def main() -> None:
    """What the Space runs: results lie in FAIRSPACE_STORE, or in `store` beside the app."""
    serve(Store(Path(os.environ.get("FAIRSPACE_STORE", "store"))), host="0.0.0.0", port=7860)  # noqa: S104 a container
