"""The process log: one JSON object per line on standard error, without query strings; fields are in `OPERATION.md`.

Only refusals name a user. A line within a request has its `request` id, which the answer carries as `X-Request-Id`.
"""

import logging
import sys
import time
from contextvars import ContextVar
from typing import IO, Any

from pythonjsonlogger.orjson import OrjsonFormatter

REQUEST: ContextVar[str] = ContextVar("fairspace_request", default="")
"""The id of the current request, '' outside of one."""
_NAMES = {"levelname": "level", "name": "logger"}


class _Lines(OrjsonFormatter):
    """Formats times in UTC like the event log."""

    def formatTime(self, record: logging.LogRecord, datefmt: str | None = None) -> str:  # noqa: N802 of logging
        return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(record.created))}.{int(record.msecs):03}Z"

    def process_log_record(self, log_data: dict[str, Any]) -> dict[str, Any]:
        log_data.pop("color_message", None)
        record_data = {"time": log_data.pop("asctime")} | log_data
        if REQUEST.get():
            record_data.setdefault("request", REQUEST.get())
        return record_data


def configure(level: str = "INFO", stream: IO[str] | None = None) -> None:
    """Send all log records as JSON to `stream` (standard error); uvicorn's access log gives way to `Watching`."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(_Lines("{asctime}{levelname}{name}{message}", style="{", rename_fields=_NAMES))
    logging.root.handlers[:] = [handler]
    logging.root.setLevel(level)
    logging.captureWarnings(capture=True)
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access"):
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.propagate = name != "uvicorn.access"
    for name in ("httpx", "httpx2", "httpcore", "huggingface_hub", "asyncio", "multipart", "python_multipart"):
        logging.getLogger(name).setLevel("WARNING")
