"""The service's settings: from the command line, the environment (COUNTERPOINT_…), a YAML file, the defaults, in that order."""

from __future__ import annotations

import hashlib
import os
import re
import secrets
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from limits import parse_many
from pydantic import Field, SecretStr, ValidationError, ValidationInfo, field_validator
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
    YamlConfigSettingsSource,
)

from counterpoint.indexes.fetch.fetching import EUROPE_PMC, NCBI, ZOTERO, ZOTERO_LOCAL
from counterpoint.indexes.plan import MOST_PAPERS
from counterpoint.retrieval.bm25 import lucene
from counterpoint.retrieval.cluster.client import Access, use_access
from counterpoint.retrieval.core import result_cache
from counterpoint.retrieval.core.addresses import hide_login
from counterpoint.retrieval.core.errors import BadConfig
from counterpoint.retrieval.core.progress import FOR_PROCESS
from counterpoint.retrieval.core.user_folders import find_user_folder
from counterpoint.service.configuration import defaults
from counterpoint.service.configuration.files import describe, expected
from counterpoint.service.operating.work import Limits

ANY = "*"
"""In the setting `hosts`: every host."""
_NAME = re.compile(r"[A-Za-z0-9_.-]+|\[?[0-9A-Fa-f:.]+\]?")


def read_host(text: str) -> str:
    """The host of `host` or `host:port` in one spelling: lower case, no brackets, no final dot; "" if it cannot be read."""
    place = f"[{text}]" if text.count(":") > 1 and not {*"[]"} & {*text} else text
    try:
        parts = urlsplit(f"//{place}")
        _port = parts.port  # raises if it is not a number
    except ValueError:
        return ""
    if parts.netloc != place or "@" in place:
        return ""  # a path or a user has no place here
    host = (parts.hostname or "").removesuffix(".")
    try:
        return str(ip_address(host))
    except ValueError:
        return host


def is_own_machine(host: str) -> bool:
    """Whether only this machine itself can reach what listens on this host."""
    host = read_host(host)
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def read_hosts(given: object) -> object:
    """The names in a list, or in a text with commas, each in one spelling; raises `ValueError` for what is not a host's name."""
    names = given.split(",") if isinstance(given, str) else given
    if not isinstance(names, list | tuple):
        return given
    names = [str(one).strip() for one in names if str(one).strip()]
    for name in names:
        if name != ANY and not (_NAME.fullmatch(name) and read_host(name)):
            raise ValueError(f"should be names of hosts without http:// and port, such as papers.example.org, not {name!r}")
    return tuple(name if name == ANY else read_host(name) for name in names)


PREFIX = "COUNTERPOINT_"
FILE_VARIABLE = "COUNTERPOINT_SETTINGS"
_BENCH = ("COUNTERPOINT_DATA", "COUNTERPOINT_CLUSTER_JARS", "COUNTERPOINT_CLUSTER_PORT")
_OTHER_VARIABLES = (FILE_VARIABLE, FOR_PROCESS, MOST_PAPERS, *_BENCH)
"""Those that begin alike and name no setting: this file, progress and limit of jobs, data of evaluations, `bench`."""
KeyScope = Literal["read", "write", "admin"]
"""What a sender may do, each all that comes before it: ask and remember, change libraries, see all libraries and say who may."""
SCOPES: tuple[KeyScope, ...] = ("read", "write", "admin")
Origin = Literal["command line", "environment", "file", "default"]

_SENDABLE = re.compile(r"[!-~]+")
_SHA256 = re.compile(r"sha256:[0-9a-f]{64}")
_SECONDS = Field(gt=0, le=86_400)


class Settings(BaseSettings):
    """Everything an operator can set; `counterpoint config` shows each value and where it comes from."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_ignore_empty=True, extra="forbid", frozen=True, hide_input_in_errors=True
    )

    index: Path | None = Field(default=None, description="The folder of an index, or its opensearch:// address.")
    libraries: Path | None = Field(
        default=None,
        description="The folder of libraries; empty: the user's own data folder, unless index names an index to serve alone.",
    )
    open_libraries: int = Field(
        default=8, ge=1, le=1000, description="How many libraries are open at once; the least used is closed."
    )
    config: str = Field(default=defaults.CONFIG, description="The grounding variant: its name or a YAML file.")
    answers: str = Field(default=defaults.ANSWERS, description="The answer variant: its name or a YAML file.")
    profile: str = Field(default=defaults.PROFILE, description="The profile (the set of models): its name or a YAML file.")
    page_model: bool = Field(
        default=True, description="Whether who has the scope admin may set up a language model from the page."
    )
    host: str = Field(default="127.0.0.1", description="The address to listen on.")
    port: int = Field(default=8000, ge=1, le=65535, description="The port to listen on.")
    hosts: Annotated[tuple[str, ...], NoDecode] = Field(
        default=(),
        description="Further names by which the service is reached, such as a proxy's, separated by commas; *: any name.",
    )
    workers: int = Field(default=1, ge=1, le=64, description="Number of processes; each loads the models.")
    threads: int = Field(default=4, ge=1, le=256, description="Requests that one process handles at once.")
    waiting: int = Field(default=32, ge=0, le=10_000, description="Requests that may wait for a thread; any more get a 503.")
    wait_seconds: Annotated[float, _SECONDS] = Field(default=20.0, description="How long a request may wait for a thread.")
    work_seconds: Annotated[float, _SECONDS] = Field(
        default=300.0, description="How long the work on a claim or a question may take."
    )
    shutdown_seconds: int = Field(
        default=330, ge=1, le=86_400, description="How long accepted requests may still take after the service is told to stop."
    )
    body_bytes: int = Field(default=1_048_576, ge=1024, le=1 << 30, description="The largest request body accepted.")
    file_bytes: int = Field(
        default=8_388_608, ge=1024, le=1 << 30, description="The largest request body with a file to check, in base64."
    )
    upload_bytes: int = Field(
        default=5_000_000_000, ge=1024, le=1 << 40, description="The most bytes of a library's files that wait to be read."
    )
    library_papers: int = Field(
        default=1_000_000, ge=1, description="The most papers that a library may come to hold when it is changed over HTTP."
    )
    body_seconds: Annotated[float, _SECONDS] = Field(default=30.0, description="How long a request body may take to arrive.")
    keys: dict[str, SecretStr] = Field(
        default_factory=dict, description="API keys by their holder's name, plain or as sha256:HEX; none: no key is required."
    )
    scopes: dict[str, KeyScope] = Field(
        default_factory=dict,
        description="What a key may do, by its holder's name: read, write (change libraries) or admin (see all and say who may).",
    )
    first_scope: KeyScope = Field(default="read", description="What the first key may do if scopes does not name it.")
    token: SecretStr | None = Field(
        default=None,
        description="What the link holds with which the person at this machine may change libraries; empty: new at each start.",
    )
    rate: str = Field(
        default="",
        description="How many claims and questions a key (or an address) may send, such as 60/minute; empty: no limit.",
    )
    reload_seconds: float = Field(
        default=5.0, ge=0, le=86_400, description="How often to check whether the index changed; 0: never."
    )
    cache: str = Field(
        default="", description='The folder for cached results; empty: the user\'s own cache folder; "off": cache nothing.'
    )
    cache_mb: float = Field(
        default=result_cache.DEFAULT_MB, ge=1, le=1e9, description="The size limit of cached results, in megabytes."
    )
    state: str = Field(
        default="",
        description="The folder for history, saved claims and feedback; empty: the user's own state folder, unless others can "
        'reach the service without a key; "off": remember nothing.',
    )
    history: bool = Field(default=True, description="Whether claims and questions go into the history.")
    watch: bool = Field(default=True, description="Whether to ground saved claims again when the index changes.")
    jvm_heap: str = Field(default=lucene.DEFAULT_HEAP, description="The size of Java's heap, such as 512m or 4g.")
    log_format: Literal["text", "json"] = Field(
        default="text", description="The format of the log: one line of text or of JSON for each request."
    )
    log_requests: bool = Field(default=True, description="Whether to log every request.")
    log_claims: bool = Field(default=False, description="Whether to log the text of claims and questions.")

    opensearch_user: str = Field(default="", description="The user name for an OpenSearch cluster, for --index opensearch://….")
    opensearch_password: SecretStr | None = Field(default=None, description="The password of this user.")
    opensearch_tls: bool = Field(default=False, description="Whether to reach the cluster by https.")
    opensearch_ca: str = Field(default="", description="A file with the certificate authorities that are trusted there.")
    opensearch_seconds: Annotated[float, _SECONDS] = Field(default=10.0, description="How long a search of the cluster may take.")
    opensearch_sniff: bool = Field(default=False, description="Whether to ask the cluster for its nodes when one fails.")
    opensearch_shards: int = Field(default=3, ge=1, le=1024, description="The shards of an index that is built there.")
    opensearch_replicas: int = Field(default=1, ge=0, le=16, description="The copies of each shard in addition to the first.")
    ncbi_api_key: SecretStr | None = Field(default=None, description="Your NCBI API key, for `counterpoint index fetch`.")
    ncbi_email: str = Field(default="", description="Your e-mail address, which NCBI asks for with each search.")
    ncbi_url: str = Field(default=NCBI, description="The address of NCBI's E-utilities.")
    europepmc_url: str = Field(default=EUROPE_PMC, description="The address of Europe PMC's REST service.")
    zotero_url: str = Field(default=ZOTERO, description="The address of Zotero's web interface.")
    zotero_local_url: str = Field(default=ZOTERO_LOCAL, description="The address of the Zotero on this machine.")

    _host_names = field_validator("hosts", mode="before")(read_hosts)

    @field_validator("cache", "state", mode="before")
    @classmethod
    def _off(cls, folder: object) -> object:
        return "off" if folder is False else folder  # YAML reads a bare `off` as false

    @field_validator("keys")
    @classmethod
    def _long_enough(cls, keys: dict[str, SecretStr]) -> dict[str, SecretStr]:
        for name, key in keys.items():
            text = key.get_secret_value()
            if text.startswith("sha256:") and not _SHA256.fullmatch(text):
                raise ValueError(f"the key of {name!r} begins with sha256:, so 64 lower-case hexadecimal digits should follow")
            if len(text) < 16:
                raise ValueError(f"the key of {name!r} is shorter than 16 characters")
            if not _SENDABLE.fullmatch(text):
                raise ValueError(f"the key of {name!r} has a space or a letter beyond ASCII, which no header can carry")
        return keys

    @field_validator("scopes")
    @classmethod
    def _known_holders(cls, scopes: dict[str, KeyScope], info: ValidationInfo) -> dict[str, KeyScope]:
        keys = info.data.get("keys", scopes)
        for name in scopes:
            if name not in keys:
                raise ValueError(f"{name!r} is no holder of a key; the setting keys has {', '.join(keys) or 'none'}")
        return scopes

    @field_validator("rate")
    @classmethod
    def _readable(cls, rate: str) -> str:
        if rate:
            try:
                parse_many(rate)
            except ValueError:
                raise ValueError("should look like 60/minute or 10/second;1000/hour") from None
        return rate

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """The command line before the environment before the file."""
        return init_settings, env_settings, YamlConfigSettingsSource(settings_cls, _file())

    def state_folder(self, shared: bool = True) -> Path | None:
        """The folder in which to remember what is asked, None for nowhere. A service that others can reach without keys
        (`shared`) would show everyone what the others asked, so it remembers nothing unless a folder is named."""
        if self.state.lower() == result_cache.OFF:
            return None
        if self.state:
            return Path(self.state)
        if shared and not self.keys and not is_own_machine(self.host):
            return None
        return find_user_folder("state")

    def libraries_folder(self, alone: bool = True) -> Path | None:
        """The folder of libraries; to serve, the user's own is made if missing, and stays out if an index is served `alone`."""
        if self.libraries or (alone and self.index):
            return self.libraries
        return find_user_folder("data", make=alone)

    def model_folder(self) -> Path | None:
        """Where the profile of a language model that is set up from the page lies; None if none may be, or there is no home."""
        return (self.libraries or find_user_folder("data", make=False)) if self.page_model else None

    def limits(self) -> Limits:
        """The limits on running and waiting work."""
        return Limits(self.threads, self.waiting, self.wait_seconds, self.work_seconds)

    def scope_of(self, holder: str) -> KeyScope:
        """What the holder of a key may do."""
        return self.scopes.get(holder) or (self.first_scope if holder == next(iter(self.keys), "") else "read")

    def digests(self) -> dict[str, bytes]:
        """The SHA-256 of each key, by its name."""
        return {name: _digest(key.get_secret_value()) for name, key in self.keys.items()}


def load_settings(**options: Any) -> Settings:
    """Load the settings, with the values from the command line (None: not given).

    Raises `BadConfig` for anything wrong, in one sentence that contains no secret.
    """
    variables = [*(PREFIX + name.upper() for name in Settings.model_fields), *_OTHER_VARIABLES]
    for variable, value in os.environ.items():
        if variable.upper().startswith(PREFIX) and variable.upper() not in variables and value:
            raise BadConfig(f"The setting {variable}, from the environment, {_unknown(variable.upper(), variables)}.")
    file = _file()
    if file and not file.is_file():
        raise BadConfig(f"There is no settings file at {file} (named by {FILE_VARIABLE}).")
    try:
        return Settings(**{name: value for name, value in options.items() if value is not None})
    except ValidationError as error:
        fault = error.errors()[0]
        name = str(fault["loc"][0])
        raise BadConfig(
            f"The setting {name}, from the {find_origins(options).get(name, 'file')}, {_explain(name, fault)}."
        ) from None
    except SettingsError as error:
        # The only settings whose variables hold JSON.
        name, value = ("scopes", "write") if '"scopes"' in str(error) else ("keys", "KEY")
        example = f'{PREFIX}{name.upper()}={{"clinic": "{value}"}}'
        raise BadConfig(f"The setting {name}, from the environment, should be a JSON object, as in {example}.") from None
    except Exception as error:  # YAML's own errors, and those for a file that is not a mapping
        raise BadConfig(
            f"The settings file {file} cannot be read ({type(error).__name__}); it should be a YAML mapping."
        ) from None


def with_token(settings: Settings) -> Settings:
    """The settings with a token for the person at this machine; without one if others reach the service, who need keys."""
    own = is_own_machine(settings.host)
    return settings.model_copy(update={"token": (settings.token or SecretStr(secrets.token_urlsafe(24))) if own else None})


def _unknown(name: str, known: Sequence[str]) -> str:
    return f"is unknown; the known setting nearest to it is {get_close_matches(name, known, 1, 0)[0]}"


def _explain(name: str, fault: Mapping[str, Any]) -> str:
    """What is wrong with a setting: what was expected and, unless it may be a secret, what came."""
    if fault["type"] == "extra_forbidden":
        return _unknown(name, [*Settings.model_fields])
    if fault["type"] == "value_error":
        wrong = str(fault["ctx"]["error"])
        return wrong if wrong.startswith("should") else f"cannot be used: {wrong}"
    wrong = f"should be {expected(fault)}" if expected(fault) else "cannot be used"
    secret = "SecretStr" in str(Settings.model_fields[name].annotation)
    return wrong if secret else f"{wrong}, not {describe(fault['input'])}"


def find_origins(options: dict[str, Any]) -> dict[str, Origin]:
    """Find where the value of each setting comes from."""
    command = {name for name, value in options.items() if value is not None}
    environment = set(EnvSettingsSource(Settings)())
    file = set(YamlConfigSettingsSource(Settings, _file())())
    origins: dict[str, Origin] = {}
    for name in (*Settings.model_fields, *sorted(file - set(Settings.model_fields))):
        origins[name] = (
            "command line" if name in command else "environment" if name in environment else "file" if name in file else "default"
        )
    return origins


def show_settings(settings: Settings) -> dict[str, str]:
    """Write every value as text; of a key, only its name."""
    values = {name: getattr(settings, name) for name in Settings.model_fields}
    values["keys"] = ", ".join(f"{name}: hidden" for name in settings.keys)
    values["scopes"] = ", ".join(f"{name}: {scope}" for name, scope in settings.scopes.items())
    values["hosts"] = ", ".join(settings.hosts)
    return {name: "" if value is None else hide_login(str(value)) for name, value in values.items()}


def hand_down(settings: Settings) -> None:
    """Apply the process-wide settings to the layers below; raises `BadConfig` for what they refuse."""
    result_cache.set_cache_folder(settings.cache, settings.cache_mb)
    lucene.use_heap(settings.jvm_heap)
    hand_down_access(settings)


def hand_down_access(settings: Settings) -> None:
    """Apply the settings for reaching a cluster."""
    values = {name.removeprefix("opensearch_"): value for name, value in settings if name.startswith("opensearch_")}
    password = settings.opensearch_password
    use_access(Access(**values | {"password": password.get_secret_value() if password else ""}))


def _file() -> Path | None:
    path = os.environ.get(FILE_VARIABLE)
    return Path(path) if path else None


def _digest(key: str) -> bytes:
    return bytes.fromhex(key.removeprefix("sha256:")) if _SHA256.fullmatch(key) else hashlib.sha256(key.encode()).digest()
