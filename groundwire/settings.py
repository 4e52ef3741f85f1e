"""The one module that reads the environment: variables over `groundwire.toml` over defaults.

It turns them into a frozen `Settings`, once per process, and can print one without its secrets.
Plain pydantic: pydantic-settings costs 0.6 s of every start and doesn't see unknown variables.
"""

import re
import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Literal, get_args
from urllib.parse import urlsplit

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    ValidationInfo,
    field_validator,
)
from pydantic_core import ErrorDetails

from contracts.address import read_address
from contracts.errors import Misconfigured

__all__ = ["SECRETS", "Settings", "load_settings", "redact_url", "secret_files"]

PREFIX = "GROUNDWIRE_"
FILE_NAME = "groundwire.toml"
PATHS = ("data", "corpus", "intents", "redis_tls_ca", "redis_tls_cert", "redis_tls_key")

Count = Annotated[int, Field(ge=1)]
Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]
WholeSeconds = Annotated[int, Field(ge=1)]


class Settings(BaseModel):
    """What a process was told to be. Paths are absolute; nothing is read after this."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    home: Path = Field(description="Where the embedded server, its data, logs and corpus live.")
    redis_url: SecretStr | None = Field(
        None, description="A server of your own instead of the embedded one."
    )
    redis_tls_ca: Path | None = Field(
        None,
        description="PEM file of the authority that signs the server's certificate; unset: those of the system.",
    )
    redis_tls_cert: Path | None = Field(
        None, description="PEM file of our own certificate, where the server wants one."
    )
    redis_tls_key: Path | None = Field(
        None,
        description="PEM file of its key, unencrypted; unset: it is in the certificate's file.",
    )
    data: Path | None = Field(None, description="Folder with test and benchmark data.")
    corpus: Path = Field(description="Root of the corpus snapshots.")
    corpus_url: str | None = Field(
        None,
        pattern=r"^(s3://[^@]+|file://.+)$",
        description="Storage that snapshots are published to and fetched from, like `s3://bucket/corpus`.",
    )
    intents: Path | None = Field(None, description="The intents file, instead of the corpus's own.")
    profile: str = Field("default", min_length=1, description="Name of the profile of the agents.")
    embeddings_url: str | None = Field(
        None, description="Endpoint of the embedder `http`, like `https://host/v1`."
    )
    embeddings_model: str | None = Field(
        None, min_length=1, description="Name of the model at that endpoint."
    )
    embeddings_key: SecretStr | None = Field(None, description="Key of that endpoint.")
    lanes: int = Field(1, ge=1, le=1024, description="Lanes of the bus; fixed at its first start.")
    attempts: Count = Field(5, description="Failed attempts before a dead letter.")
    deliveries: Count = Field(5, description="Deliveries, crashes included, before a dead letter.")
    deadline_s: Seconds = Field(600.0, description="Seconds a query may stay open.")
    lease_s: Seconds = Field(60.0, description="Seconds a delivery is leased for, renewed.")
    alive_ttl_s: Seconds = Field(3.0, description="Seconds without a beat until a worker is dead.")
    grace_s: Seconds = Field(10.0, description="Seconds a stopping worker may finish its work in.")
    wedge_limit_s: Seconds = Field(
        300.0, description="Seconds a worker's loop may be stuck before its process ends."
    )
    result_ttl_s: WholeSeconds = Field(3600, description="Seconds a result key is kept.")
    idempotency_ttl_s: WholeSeconds = Field(
        86400, description="Seconds an idempotency key is remembered."
    )
    durable_replicas: int = Field(
        1,
        ge=0,
        description="Replicas that confirm a durable submit on a cluster or a Sentinel set: as many as a primary has; "
        "0: the disk.",
    )
    open_mark: Count = Field(10000, description="Open queries above which submit refuses.")
    backlog_mark: Count = Field(1000, description="Backlog of a stage above which readers pause.")
    blob_bytes: Count = Field(
        262144, description="Bytes of a message above which it travels beside its stream."
    )
    max_payload_bytes: Count = Field(
        16777216, description="Bytes above which a query is refused and a message is a dead letter."
    )
    concurrency: Count = Field(8, description="Deliveries that one worker handles at a time.")
    health_port: int = Field(
        0,
        ge=0,
        le=65535,
        description="Port of a worker's `/livez`, `/readyz` and `/metrics`, or the next free one above it; 0: none.",
    )
    health_host: str = Field(
        "127.0.0.1",
        min_length=1,
        description="Address that it listens on; `0.0.0.0` in a container.",
    )
    ready_oldest_s: Seconds = Field(
        60.0, description="Age of a stage's oldest unfinished entry above which it isn't ready."
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="The least severe level that is logged."
    )
    log_json: bool | None = Field(
        None, description="Logs as JSON; unset: JSON when the output is not a terminal."
    )

    @field_validator("redis_url")
    @classmethod
    def _is_a_server_url(cls, url: SecretStr | None) -> SecretStr | None:
        if url is not None:
            read_address(url.get_secret_value())
        return url

    @field_validator("redis_tls_key")
    @classmethod
    def _belongs_to_a_certificate(cls, key: Path | None, info: ValidationInfo) -> Path | None:
        if key is not None and info.data.get("redis_tls_cert") is None:
            raise ValueError("needs the certificate that it belongs to: set redis_tls_cert too")
        return key

    @field_validator("embeddings_url")
    @classmethod
    def _is_an_endpoint(cls, url: str | None) -> str | None:
        if url is not None:
            _check_endpoint(url)
        return url

    @field_validator("embeddings_key")
    @classmethod
    def _fits_a_header(cls, key: SecretStr | None) -> SecretStr | None:
        if key is not None and not _KEY.fullmatch(key.get_secret_value()):
            raise ValueError("must be printable ASCII without blanks")
        return key

    def redacted(self) -> dict[str, str]:
        """Every setting as it may be printed: passwords are `***`, unset ones empty."""
        shown: dict[str, str] = {}
        for name in type(self).model_fields:
            value: object = getattr(self, name)
            if isinstance(value, SecretStr):
                is_url = name == "redis_url"
                shown[name] = redact_url(value.get_secret_value()) if is_url else "***"
            else:
                shown[name] = "" if value is None else redact_url(str(value))
        return shown


SECRETS = tuple(
    name
    for name, field in Settings.model_fields.items()
    if SecretStr in (field.annotation, *get_args(field.annotation))
)
"""Whatever is of type SecretStr: each may come from a file, `<NAME>_FILE`, and is never printed whole."""


def load_settings(env: Mapping[str, str], folder: Path) -> Settings:
    """The settings of a process in `folder`; Misconfigured names every variable or key to mend.

    Relative paths are relative to `folder`. An empty variable counts as unset.
    """
    folder = folder.absolute()
    given: dict[str, object] = {}
    sources: dict[str, str] = {}
    for layer in _layers(env, folder):
        values = _with_secrets_from_files(layer, folder)
        given |= {name: value for name, (_, value) in values.items()}
        sources |= {name: source for name, (source, _) in values.items()}
    home = _path_in(folder, given.get("home", ".groundwire"))
    given["home"] = home
    given.setdefault("corpus", home / "corpus" if isinstance(home, Path) else None)
    for name in PATHS:
        if name in given:
            given[name] = _path_in(folder, given[name])
    try:
        return Settings.model_validate(given)
    except ValidationError as error:
        lines = [_complaint(one, sources) for one in error.errors(include_url=False)]
        # `from None`: the cause repeats the input, and that may be a secret.
        raise Misconfigured("; ".join(lines)) from None


def secret_files(env: Mapping[str, str], folder: Path) -> dict[str, Path]:
    """The files that hold secrets, by the setting: those that are named, and `groundwire.toml` itself."""
    folder = folder.absolute()
    files: dict[str, Path] = {}
    for layer, own in zip(_layers(env, folder), (folder / FILE_NAME, None), strict=True):
        for secret in SECRETS:
            if f"{secret}_file" in layer:
                files[secret] = folder / Path(str(layer[f"{secret}_file"][1])).expanduser()
            elif secret in layer:
                files.pop(secret, None)
                if own is not None:
                    files[secret] = own
    return files


def _layers(env: Mapping[str, str], folder: Path) -> "tuple[Layer, Layer]":
    """Later ones win."""
    return _read_file(folder / FILE_NAME), _read_environment(env)


def _names() -> tuple[str, ...]:
    return (*Settings.model_fields, *(f"{secret}_file" for secret in SECRETS))


Layer = dict[str, tuple[str, object]]  # name → (where it was set, its value)


def _read_environment(env: Mapping[str, str]) -> Layer:
    known = {PREFIX + name.upper(): name for name in _names()}
    layer: Layer = {}
    for variable, value in env.items():
        if not variable.upper().startswith(PREFIX):
            continue
        if variable not in known:
            raise Misconfigured(f"unknown variable {variable}{_near(variable.upper(), known)}")
        if value:
            layer[known[variable]] = (variable, value)
    return layer


def _read_file(path: Path) -> Layer:
    try:
        table: dict[str, object] = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise Misconfigured(f"{path} cannot be read: {_reason(error)}") from error
    known = _names()
    for key in table:
        if key not in known:
            raise Misconfigured(f"unknown key {key} in {path}{_near(key.lower(), known)}")
    return {key: (f"{key} in {path}", value) for key, value in table.items()}


def _with_secrets_from_files(layer: Layer, folder: Path) -> Layer:
    """The layer with each secret's file replaced by what the file holds."""
    rest = dict(layer)
    for secret in SECRETS:
        if f"{secret}_file" in rest:
            source, named = rest.pop(f"{secret}_file")
            if secret in rest:
                raise Misconfigured(
                    f"{rest[secret][0]} and {source} are both set: keep one of them"
                )
            rest[secret] = (source, _read_secret(source, named, folder))
    return rest


def _read_secret(source: str, named: object, folder: Path) -> str:
    path = _path_in(folder, named)
    if not isinstance(path, Path):
        raise Misconfigured(f"{source}: must be the name of a file")
    try:
        return path.read_text(encoding="utf-8").strip()
    except (OSError, ValueError) as error:
        raise Misconfigured(f"{source}: {path} cannot be read: {_reason(error)}") from error


def _path_in(folder: Path, value: object) -> object:
    """An absolute path; what isn't a path is left for the model to refuse."""
    if not isinstance(value, str | Path) or not str(value):
        return value
    try:
        return folder / Path(value).expanduser()
    except RuntimeError:  # ~stranger: no such user
        return folder / value


def _complaint(error: ErrorDetails, sources: Mapping[str, str]) -> str:
    name = str(error["loc"][0])
    rule = error["msg"].removeprefix("Value error, ")
    where = sources.get(name, name)
    if name in SECRETS or name.endswith("_url"):  # a URL may hold a password
        return f"{where}: {rule}"
    return f"{where}: {rule[:1].lower()}{rule[1:]} (it is {error['input']!r})"


def _near(name: str, known: Mapping[str, str] | tuple[str, ...]) -> str:
    close = get_close_matches(name, known, n=1, cutoff=0.6)
    return f": did you mean {close[0]}?" if close else "; docs/settings.md lists them all"


def _reason(error: OSError | ValueError) -> str:
    if isinstance(error, OSError):
        return error.strerror or "input/output error"
    return "it is not UTF-8" if isinstance(error, UnicodeDecodeError) else str(error)


def _check_endpoint(url: str) -> None:
    """ValueError with the rule that `url` breaks, and never with `url` itself."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise ValueError("must be a URL with a valid host and port") from None
    if parts.scheme not in ("http", "https") or not host:
        raise ValueError("must be an http:// or https:// URL")
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise ValueError("must hold no user, password or query: the key has a setting of its own")


_KEY = re.compile(r"[\x21-\x7e]+")
_URL_PASSWORD = re.compile(r"([a-z][a-z0-9+.-]*://[^\s:/@]*:)\S*@", re.IGNORECASE)
_QUERY_PASSWORD = re.compile(r"([?&]\w*passw(?:or)?d=)[^&\s]*", re.IGNORECASE)


def redact_url(text: str) -> str:
    """The URL, or a text with URLs in it, with every password as `***`.

    Greedy on purpose: up to the last @ of a word, because a password may hold one unescaped.
    """
    return _QUERY_PASSWORD.sub(r"\1***", _URL_PASSWORD.sub(r"\1***@", text))
