"""Two thousand requests made from the API's own description, as it asks and against it: no 5xx, every response as described."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import content_type_conformance, response_schema_conformance, status_code_conformance

from counterpoint.service.operating.settings import Settings
from tests.helpers.fakes import make_index
from tests.helpers.served import over_fakes, serving

CALLS = int(os.environ.get("SCHEMATHESIS_CALLS", "2000"))
CHECKS = [not_a_server_error, content_type_conformance, response_schema_conformance, status_code_conformance]


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory) -> Iterator[schemathesis.BaseSchema]:
    documents = [
        {"pmid": "1", "title": "One", "abstract": "Zeta is not against pressure."},
        {"pmid": "101", "title": "Best", "abstract": "Omega lowers blood sugar in most adults with diabetes."},
    ]
    folder = make_index(tmp_path_factory.mktemp("schemathesis"), documents).folder
    # With a memory: without one, a third of the calls would only be told that there is none.
    with serving(over_fakes(folder, Settings(state=str(tmp_path_factory.mktemp("memory"))))) as (url, _server):
        yield schemathesis.openapi.from_url(f"{url}/openapi.json")


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("mode", list(schemathesis.GenerationMode))
def test_every_generated_request_is_answered_as_described(
    described: schemathesis.BaseSchema, mode: schemathesis.GenerationMode
) -> None:
    operations = [found.ok() for found in described.get_all_operations() if isinstance(found, Ok)]
    assert len(operations) >= 30
    for operation in operations:
        if mode == schemathesis.GenerationMode.NEGATIVE and operation.path == "/health":
            continue  # it takes nothing that could be wrong

        @settings(
            max_examples=max(1, CALLS // len(operations) // 2),
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy(generation_mode=mode))
        def ask(case: schemathesis.Case[Any]) -> None:
            case.call_and_validate(checks=CHECKS, timeout=120)

        ask()
