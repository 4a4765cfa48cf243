"""The server: routes, and the door in front of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
from fastapi import FastAPI, Request, Response
from fastapi.responses import FileResponse
from starlette.exceptions import HTTPException
from starlette.staticfiles import StaticFiles

from taskalgebra import __version__
from taskalgebra.playground import schema
from taskalgebra.playground.presets import presets
from taskalgebra.playground.schema import RefusedError
from taskalgebra.playground.solving import solve
from taskalgebra.playground.worlds import WorldCache

STATIC = Path(__file__).parent / "static"


def create_app() -> FastAPI:
    """The whole application, ready for uvicorn or for a test."""
    app = FastAPI(
        title="taskalgebra playground", version=__version__, docs_url=None, redoc_url=None
    )
    worlds = WorldCache()

    @app.get("/", include_in_schema=False)
    async def page() -> Response:
        return FileResponse(STATIC / "index.html")

    @app.get("/api/health")
    async def health() -> Response:
        return _json({"status": "ok", "version": __version__})

    @app.get("/api/presets")
    async def list_presets() -> Response:
        return _json(presets())

    @app.post("/api/solve")
    async def solve_world(request: Request) -> Response:
        body = await request.body()
        return Response(
            solve(schema.read(body, schema.SolveRequest), worlds), media_type="application/json"
        )

    app.mount("/static", StaticFiles(directory=STATIC, check_dir=False))

    @app.exception_handler(RefusedError)
    async def refused(_: Request, error: RefusedError) -> Response:
        return _json(error.answer(), error.status)

    @app.exception_handler(HTTPException)
    async def http_error(_: Request, error: HTTPException) -> Response:
        return _json(RefusedError(str(error.detail)).answer(), error.status_code)

    return app


def _json(document: Any, status: int = 200) -> Response:
    return Response(orjson.dumps(document), status, media_type="application/json")
