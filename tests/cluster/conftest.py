"""Three real nodes for the tests of this folder: started once, stopped at the end. `make test-cluster` runs them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.cluster import LocalCluster
from counterpoint.retrieval.cluster.client import Access, use_access
from counterpoint.retrieval.core.errors import CounterpointError


@pytest.fixture(scope="session")
def nodes() -> Iterator[LocalCluster]:
    """The nodes; with COUNTERPOINT_CLUSTER_PORT those of `make cluster` at that port, which are left running."""
    port = os.environ.get("COUNTERPOINT_CLUSTER_PORT")
    cluster = LocalCluster(port=int(port), brief=True) if port else LocalCluster(Path("build/cluster-tests"), 9270, brief=True)
    # A machine that runs tests beside it is slow.
    use_access(Access(seconds=60.0))
    try:
        cluster.start()
    except CounterpointError as error:
        pytest.skip(f"There is no cluster to test against: {error}")
    yield cluster
    if not port:
        cluster.stop(forget=True)
    use_access(Access())


@pytest.fixture
def place(nodes: LocalCluster, request: pytest.FixtureRequest) -> Iterator[Path]:
    """The address of an index that does not exist yet; it is deleted in the end."""
    from counterpoint.retrieval.cluster.client import connect, read_address

    name = request.node.name.lower().replace("[", "-").replace("]", "")[:60].replace("_", "-")
    address = read_address(nodes.address(name))
    connect(address).indices.delete(index=f"{name}-v*", ignore=[404])
    yield Path(str(address))
    connect(address).indices.delete(index=f"{name}-v*", ignore=[404])
