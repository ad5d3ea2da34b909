"""The service's log on standard error: one line per record, as text or as JSON; nothing that a client sends can begin a line."""

from __future__ import annotations

import json
import logging
import sys
import traceback
from datetime import UTC, datetime
from typing import Any

from counterpoint.service.http.requests import problems
from counterpoint.service.operating.settings import Settings

_FRAMES = 30
"""The innermost frames that are logged; endless recursion has a thousand."""


class JsonLines(logging.Formatter):
    """One JSON object per record, ASCII only. Exceptions are logged by type and frames only: their text may quote a claim."""

    def __init__(self, with_texts: bool) -> None:
        super().__init__()
        self._with_texts = with_texts

    def format(self, record: logging.LogRecord) -> str:
        """The record as a line."""
        return json.dumps(self.describe(record), default=str)

    def describe(self, record: logging.LogRecord) -> dict[str, Any]:
        """The record's parts."""
        fields: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **({"id": problems.request_id.get()} if problems.request_id.get() else {}),
            **getattr(record, "told", {}),
        }
        if record.exc_info and record.exc_info[1] is not None:
            error = record.exc_info[1]
            fields["exception"] = type(error).__name__
            frames = traceback.extract_tb(error.__traceback__, -_FRAMES)
            fields["frames"] = [f"{one.filename}:{one.lineno} {one.name}" for one in frames]
            if self._with_texts:
                fields["text"] = str(error)
        return fields


class TextLines(JsonLines):
    """The same for people: time, level, message, and the rest as name=value with every value quoted as JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as a line."""
        fields = self.describe(record)
        first = f"{fields.pop('time')} {fields.pop('level')} {json.dumps(fields.pop('message'))[1:-1]}"
        fields.pop("logger")
        return " ".join([first, *(f"{name}={json.dumps(value, default=str)}" for name, value in fields.items())])


def configure(settings: Settings) -> None:
    """Send every library's warnings and the service's own lines to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter((JsonLines if settings.log_format == "json" else TextLines)(settings.log_claims))
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    logging.getLogger("counterpoint").setLevel(logging.INFO)
    logging.getLogger("counterpoint.access").setLevel(logging.INFO if settings.log_requests else logging.CRITICAL)
    # A log that cannot be written (a full disk) must not stop an answer.
    logging.raiseExceptions = False
