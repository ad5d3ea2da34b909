"""The language model that is set up from the page: a profile in a folder, which every process looks at before each request.

A model that was tried and is not in use lies beside it, so that whichever process is asked can switch it on, and off again.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import BaseModel, Field

from counterpoint.retrieval.core.addresses import is_loopback, split_login
from counterpoint.retrieval.core.errors import BadInput, CounterpointError, translate_write_errors
from counterpoint.service.configuration.config import load_profile
from counterpoint.service.configuration.language_model import Trial, name_file, write_profile

_log = logging.getLogger("counterpoint")
Place = Literal["in use", "tried"]
_FILES: dict[Place, str] = {"in use": "language-model.yaml", "tried": "language-model.tried.yaml"}
_KEY_NAME = re.compile(r"(?!COUNTERPOINT_)[A-Z][A-Z0-9_]*_API_KEY")
_Made = TypeVar("_Made")


class SetUpOut(BaseModel):
    """A model that was tried."""

    model: str
    address: str
    key_env: str
    description: str = Field(description="What it does and what the trial found.")
    remote: bool = Field(description="Whether claims, questions and abstracts leave this machine for it.")


class PageModel:
    """The model set up in `folder`, None where none can be; `profile` is what serves while none is in use."""

    def __init__(self, folder: Path | None, profile: str) -> None:
        self.folder, self.profile = folder, profile

    def look(self) -> Hashable:
        """Another value whenever another model is in use, None for none."""
        try:
            status = self._find("in use").stat()
        except (OSError, BadInput):
            return None
        return status.st_ino, status.st_mtime_ns

    def assemble(self, make: Callable[[str], _Made]) -> _Made:
        """What `make` makes of the profile in use; of the service's own if that of the page cannot be used, which is logged."""
        if self.look():
            try:
                return make(str(self._find("in use")))
            except CounterpointError as error:
                _log.warning("the language model of the page is not used: %s", error)
        return make(self.profile)

    def read(self, place: Place) -> SetUpOut | None:
        """The model in use, or the one that was tried last; None if there is none, or its file cannot be read."""
        try:
            path = self._find(place)
            if not path.is_file():
                return None
            profile = load_profile(str(path))
            writer = profile.generators["writer"].list_options()
            address, own = split_login(writer["base_url"])[0], {"model": writer["model"], "key_env": writer["key_env"]}
            return SetUpOut(**own, address=address, description=profile.description, remote=not is_loopback(address))
        except (CounterpointError, OSError, KeyError) as error:
            _log.warning("the model %s cannot be read: %s", place, error)
            return None

    def keep(self, address: str, model: str, key_env: str, trial: Trial) -> None:
        """Keep a model that was tried, readable by this user alone."""
        path = self._find("tried")
        with translate_write_errors("the model's profile", path):
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_profile(path, address, model, key_env, trial, name_file(model).stem)

    def use(self, model: str, address: str) -> None:
        """Put the model that was tried last in use; raises `BadInput` if that is not this one."""
        tried = self.read("tried")
        if tried is None or (tried.model, tried.address) != (model, address):
            last = f"the model tried last is {tried.model} at {tried.address}" if tried else "no model was tried"
            raise BadInput(f"“{model[:60]}” cannot be switched on: {last}; try it first.")
        self._move("tried", "in use")

    def leave(self) -> None:
        """Put no model in use; the one that was can be put in use again."""
        if self._find("in use").exists():
            self._move("in use", "tried")

    def _move(self, old: Place, new: Place) -> None:
        with translate_write_errors("the model's profile", self._find(new)):
            self._find(old).replace(self._find(new))

    def _find(self, place: Place) -> Path:
        if self.folder is None:
            raise BadInput("This service has no folder of its own to keep a language model's profile in; use --profile.")
        return self.folder / _FILES[place]


def check_key_name(name: str) -> str:
    """The name of a variable that may hold a server's key; raises `BadInput` for any other, which may hold another secret."""
    if not _KEY_NAME.fullmatch(name):
        raise BadInput(f"Expected the name of a variable that ends in _API_KEY, such as OPENAI_API_KEY, not “{name[:60]}”.")
    return name
