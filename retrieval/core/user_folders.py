"""Where what is kept for a user lies on this system; a user without a home folder has none."""

from __future__ import annotations

import logging
import os
from functools import cache
from pathlib import Path
from typing import Literal

import platformdirs

_log = logging.getLogger("counterpoint")


def find_user_folder(kind: Literal["cache", "state", "data"], make: bool = True) -> Path | None:
    """The user's folder of this kind, made if missing, or only named if it is not to `make`.

    None for a user without a home that can be written, which is told once.
    """
    find = {"cache": platformdirs.user_cache_dir, "state": platformdirs.user_state_dir, "data": platformdirs.user_data_dir}[kind]
    try:
        folder = Path(find("counterpoint"))
        if not make:
            return folder
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if os.access(folder, os.W_OK):
            return folder
    except (RuntimeError, OSError):  # neither HOME nor an entry in the list of users, or one that names what cannot be written
        pass
    _warn_without_home()
    return None


@cache
def _warn_without_home() -> None:
    _log.warning(
        "This user has no home folder to write to: nothing is cached or remembered, except in folders that COUNTERPOINT_CACHE, "
        "COUNTERPOINT_STATE and COUNTERPOINT_LIBRARIES name."
    )
