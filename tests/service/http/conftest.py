"""A stand-in for the encoder that every service loads for evidence in papers: the real one takes most of the time of a test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from counterpoint.service.evidence import finder
from tests.helpers.fake_encoder import WordEncoder


@pytest.fixture(scope="session", autouse=True)
def fake_encoder() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(finder, "load_encoder", lambda name, profile: WordEncoder())
        yield
