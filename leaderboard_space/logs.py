"""The process log: one JSON object per line on standard error, without query strings; fields are in `OPERATION.md`.

Only refusals name a user. A line within a request has its `request` id, which the answer carries as `X-Request-Id`.
"""

import logging
import sys
import time
from contextvars import ContextVar
from typing import IO, Any

from pythonjsonlogger.core import RESERVED_ATTRS
from pythonjsonlogger.orjson import OrjsonFormatter

REQUEST: ContextVar[str] = ContextVar("fairspace_request", default="")
"""The id of the current request, '' outside of one."""
_NAMES = {"asctime": "time", "levelname": "level", "name": "logger"}


class _Lines(OrjsonFormatter):
    """Lines with times in UTC like those of the event log, and with the id of their request."""

    converter = staticmethod(time.gmtime)
    default_time_format, default_msec_format = "%Y-%m-%dT%H:%M:%S", "%s.%03dZ"

    def process_log_record(self, log_data: dict[str, Any]) -> dict[str, Any]:
        return log_data | ({"request": REQUEST.get()} if REQUEST.get() else {})


def configure(level: str = "INFO", stream: IO[str] | None = None) -> None:
    """Send all log records as JSON to `stream` (standard error); uvicorn's access log gives way to `Watching`."""
    handler = logging.StreamHandler(stream or sys.stderr)
    hidden = (*RESERVED_ATTRS, "color_message")  # uvicorn's, for terminals
    lines = _Lines("{asctime}{levelname}{name}{message}", style="{", rename_fields=_NAMES, reserved_attrs=hidden)
    handler.setFormatter(lines)
    logging.root.handlers[:] = [handler]
    logging.root.setLevel(level)
    logging.captureWarnings(capture=True)
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access"):
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.propagate = name != "uvicorn.access"
    for name in ("httpx", "httpx2", "httpcore", "huggingface_hub", "asyncio", "multipart", "python_multipart"):
        logging.getLogger(name).setLevel("WARNING")
