"""`python -m tests.golden [TOPIC …]` writes the frozen outputs anew; look at the diff before you commit it."""

from __future__ import annotations

import os
import sys

import pytest

from tests.golden.holding import HERE, UPDATE

os.environ[UPDATE] = "write"
chosen = ("-k", " or ".join(sys.argv[1:])) if sys.argv[1:] else ()
sys.exit(pytest.main([str(HERE), "-m", "", "-n", "0", "-q", *chosen]))
