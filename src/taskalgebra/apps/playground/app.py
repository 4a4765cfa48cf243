"""The server: its routes, its answers to mistakes, and its description of itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
from fastapi import FastAPI, Request, Response
from fastapi.responses import FileResponse
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.staticfiles import StaticFiles
from starlette.types import Lifespan

from taskalgebra import __version__
from taskalgebra.apps.playground import answers, schema, tables
from taskalgebra.apps.playground.door import JSON, Door, Turns, json_body, refusal
from taskalgebra.apps.playground.presets import game, presets
from taskalgebra.apps.playground.reading import is_over_time
from taskalgebra.apps.playground.refusals import RefusedError, read
from taskalgebra.apps.playground.scene import Scene
from taskalgebra.apps.playground.solving import SkillsCache, solve

STATIC = Path(__file__).parent / "static"
LARGE = 2**16
"""Worlds with more cells times goals are solved on another thread, so that nobody waits.  So are
formulas over time, whose automata may take seconds, worlds whose moves slip, and tables."""
REQUESTS = (schema.SolveRequest, game.EpisodeRequest)


def create_app(lifespan: Lifespan[FastAPI] | None = None, *, framed: bool = False) -> FastAPI:
    """The whole application, ready for uvicorn or for a test.

    Args:
        lifespan: what is done when the server starts and stops.
        framed: whether notebooks of this machine may show it in a frame.
    """
    app = FastAPI(
        title="taskalgebra playground",
        version=__version__,
        docs_url=None,  # its page would load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
        responses={"4XX": {"model": answers.ErrorAnswer}},
        lifespan=lifespan,
    )
    app.add_middleware(Door, framed=framed)
    _add_routes(app)
    _add_error_answers(app)
    _describe_requests(app)
    return app


def _add_routes(app: FastAPI) -> None:
    cache = SkillsCache()
    large = Turns()  # one large world, or formula over time, at a time bounds the memory
    games = Turns()  # games wait here, not on threads that files and worlds need

    @app.post(
        "/api/solve",
        response_model=answers.SolveAnswer | answers.FormulaAnswer,
        openapi_extra=_takes(REQUESTS[0]),
    )
    async def solve_world(request: Request) -> Response:
        """Compose an expression over the tasks of a world, or a formula over time."""
        asked = read(await json_body(request), schema.SolveRequest)
        world = asked.world
        if _takes_long(world) or is_over_time(asked.expression):
            async with large.turn(request):
                return Response(await run_in_threadpool(solve, asked, cache), media_type=JSON)
        return Response(solve(asked, cache), media_type=JSON)

    @app.post(game.PATH, response_model=game.EpisodeAnswer, openapi_extra=_takes(REQUESTS[1]))
    async def play_game(request: Request) -> Response:
        """Play an episode of a game with shipped networks; the first takes some seconds."""
        asked = read(await json_body(request), game.EpisodeRequest)
        async with games.turn(request):
            return Response(await run_in_threadpool(game.play, asked), media_type=JSON)

    @app.get("/", include_in_schema=False)
    async def page() -> Response:
        return FileResponse(STATIC / "index.html")

    @app.get("/api/health", response_model=answers.Health)
    async def health() -> Response:
        """The status and the version of the server."""
        return _json({"status": "ok", "version": __version__})

    @app.get("/api/presets", response_model=list[answers.Preset])
    async def list_presets() -> Response:
        """Worlds to start from."""
        return _json(presets())

    @app.get("/api/worlds/{name}", response_model=Scene)
    async def show_world(name: str) -> Response:
        """A world that is no drawing, by its id."""
        table = await run_in_threadpool(tables.find, name)
        return _json(table.scene)

    app.mount("/static", StaticFiles(directory=STATIC, check_dir=False))


def _takes_long(world: schema.WorldDocument | schema.TableDocument) -> bool:
    if isinstance(world, schema.TableDocument):
        return True
    return len(world.map) * len(world.map[0]) * len(world.goals) > LARGE or world.slip > 0


def _add_error_answers(app: FastAPI) -> None:
    @app.exception_handler(RefusedError)
    async def refused(_: Request, error: RefusedError) -> Response:
        return refusal(error)

    @app.exception_handler(HTTPException)
    async def http_error(request: Request, error: HTTPException) -> Response:
        sentence = str(error.detail)
        if error.status_code == 404:
            sentence = f"there is nothing at {request.url.path[:60]!r}"
        elif error.status_code == 405:
            allowed = (error.headers or {}).get("Allow", "another method")
            sentence = f"{request.method} is not possible here; use {allowed}"
        answer = refusal(RefusedError(sentence, status=error.status_code))
        answer.headers.update(error.headers or {})
        return answer


def _takes(model: type[BaseModel]) -> dict[str, Any]:
    """The description of a request body that a route reads itself."""
    content = {JSON: {"schema": {"$ref": f"#/components/schemas/{model.__name__}"}}}
    return {"requestBody": {"required": True, "content": content}}


def _describe_requests(app: FastAPI) -> None:
    """Add the models of requests, which routes read themselves, to the description."""
    _, definitions = models_json_schema(
        [(model, "validation") for model in REQUESTS], ref_template="#/components/schemas/{model}"
    )
    describe = app.openapi

    def described() -> dict[str, Any]:
        description = describe()
        description["components"]["schemas"].update(definitions["$defs"])
        return description

    app.openapi = described  # type: ignore[method-assign]


def _json(document: Any) -> Response:
    return Response(orjson.dumps(document), media_type=JSON)
