"""A report's page as PDF, by WeasyPrint, which loads nothing from a network or a disk."""

from __future__ import annotations

from pathlib import Path

from fairspace.submissions.errors import UsageError, need_packages


def write_pdf(html: str, out: Path) -> None:
    """Write a page as PDF. UsageError if WeasyPrint or the Pango library that it draws text with is not installed."""
    need_packages("report", "weasyprint")
    try:
        from weasyprint import HTML
        from weasyprint.urls import URLFetcher
    except OSError as error:
        raise UsageError(
            f"--pdf draws text with Pango, which this machine lacks ({error}). Install it (Debian: `apt install "
            "libpango-1.0-0 libpangoft2-1.0-0`, macOS: `brew install pango`), or print the page of --html in a browser."
        ) from error
    HTML(string=html, url_fetcher=URLFetcher(allowed_protocols=())).write_pdf(out)
