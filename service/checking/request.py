"""What a request asks to have checked: its text or its file."""

from __future__ import annotations

import base64
import binascii

from retrieval.core.errors import BadInput
from service.checking.readers.passage import Passage
from service.checking.readers.reading import read_bytes, read_text
from service.checking.schemas import TextRequest


def read_request(body: TextRequest) -> Passage:
    """The text of a request; raises `BadInput` if there is none, if two are given, or if the file cannot be read."""
    if body.text and body.file:
        raise BadInput("The request has a text and a file; send one of them.")
    if not body.text and not body.file:
        raise BadInput("The text is empty; give a text or a file.")
    if not body.file:
        return read_text(body.text, body.format)
    try:
        raw = base64.b64decode(body.file, validate=True)
    except (binascii.Error, ValueError):
        raise BadInput("The file is not in base64; encode its bytes so, or send its text as `text`.") from None
    return read_bytes(raw, body.name or "The file", body.format)
