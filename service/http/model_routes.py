"""A language model set up over HTTP by who has the scope admin: its server's models, a trial, switched on and off again."""

from __future__ import annotations

from anyio.to_thread import run_sync
from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel, Field

from counterpoint.retrieval.core.addresses import split_login
from counterpoint.service.configuration import language_model
from counterpoint.service.http.requests import problems
from counterpoint.service.http.requests.access import admit_request
from counterpoint.service.http.requests.bodies import route_for
from counterpoint.service.http.requests.working import parts_of
from counterpoint.service.operating.page_model import PageModel, SetUpOut, check_key_name
from counterpoint.service.operating.work import Job, while_there
from counterpoint.service.schemas import Sent

router = APIRouter(
    route_class=route_for("admin"),
    dependencies=[Depends(admit_request)],
    responses=problems.responses(400, 401, 403, 408, 409, 413, 422, 429, 500, 502, 503, 507),
)


class ModelServer(Sent):
    """A server of language models."""

    address: str = Field(max_length=500, description="That of an OpenAI-compatible server: Ollama, vLLM, LM Studio, OpenAI.")
    key_env: str = Field(
        "OPENAI_API_KEY",
        max_length=100,
        description="The environment variable of the service that holds the server's key, if it asks for one; it ends in "
        "_API_KEY. The key itself is neither sent, kept nor shown.",
    )


class ModelChoice(ModelServer):
    """A model to be tried."""

    model: str = Field(max_length=200, description="Its name, as the server lists it; empty: the server's only one.")


class ModelSwitch(Sent):
    """Whether a model is to be used; it is named as its trial named it."""

    on: bool = Field(strict=True)
    model: str = Field("", max_length=200)
    address: str = Field("", max_length=500)


class ModelNames(BaseModel):
    """The models of a server."""

    address: str = Field(description="The address of its API, without a login.")
    models: list[str] = Field(description="Empty where it lists none: then name the model.")
    warning: str = Field(description="What leaves this machine, if it is used; empty for a server on this machine.")


class ModelState(BaseModel):
    """Which language model reads and writes, and which could."""

    in_use: SetUpOut | None = Field(description="The model in use, if it was set up here.")
    tried: SetUpOut | None = Field(description="The model that was tried last, which can be switched on.")
    profile: str = Field(description="The profile that serves without it.")


class TrialOut(BaseModel):
    """How a model read papers that were invented for this."""

    model: str
    address: str
    right: int = Field(description="Claims that it read as they are.")
    of: int
    embedded: int = Field(description="How many of them the embedded reader reads so.")
    reads: bool = Field(description="Whether it would read the papers; if not, it only writes answers.")
    seconds: float = Field(description="For a paper; a claim has five.")
    tokens: int = Field(description="For a paper.")
    sentences: list[str] = Field(description="The same in sentences.")
    warning: str = Field(description="What leaves this machine, if it is used; empty for a server on this machine.")


def _model(request: Request) -> PageModel:
    model = parts_of(request).model
    if model is None:
        raise problems.Refused("The operator lets no language model be set up here (the setting page_model).", 409)
    return model


@router.get("/v1/model")
def read_model(request: Request) -> ModelState:
    """The language model in use, and the one that was tried last."""
    model = _model(request)
    return ModelState(in_use=model.read("in use"), tried=model.read("tried"), profile=model.profile)


@router.post("/v1/model/names")
def list_models(body: ModelServer, request: Request) -> ModelNames:
    """The models that a server lists."""
    _model(request)
    address = language_model.complete_address(body.address)
    names = language_model.list_models(address, check_key_name(body.key_env))
    return ModelNames(address=split_login(address)[0], models=names, warning=language_model.warn_of_sending(address))


@router.post("/v1/model/trial")
async def try_model(body: ModelChoice, request: Request) -> TrialOut:
    """Have a model read eight claims about invented papers, and keep what was found, so that it can be switched on."""
    kept, parts = _model(request), parts_of(request)

    def work(job: Job[TrialOut]) -> TrialOut:
        address, key = language_model.complete_address(body.address), check_key_name(body.key_env)
        model = language_model.choose_model(address, body.model.strip(), key)
        trial = language_model.try_model(address, model, key)
        job.check()
        kept.keep(address, model, key, trial)
        return TrialOut(
            model=model,
            address=split_login(address)[0],
            right=trial.right,
            of=len(language_model.CASES),
            embedded=trial.embedded,
            reads=trial.reads,
            seconds=round(trial.seconds, 2),
            tokens=trial.tokens,
            sentences=trial.describe(),
            warning=language_model.warn_of_sending(address),
        )

    return await while_there(request, parts.workers.run(work, pieces=len(language_model.CASES)))


@router.put("/v1/model")
async def switch_model(body: ModelSwitch, request: Request) -> ModelState:
    """Use the model that was tried last, from the next request on and in every process, or use none."""
    model = _model(request)
    if body.on:
        model.use(body.model, body.address)
    else:
        model.leave()
    await run_sync(parts_of(request).libraries.refresh)
    return read_model(request)
