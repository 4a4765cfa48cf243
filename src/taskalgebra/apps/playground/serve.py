"""Start the playground: a free port of this machine, warm kernels, a browser.

The kernels of the first page are loaded, or compiled, before the address is said, and those of
other worlds and panels while people read that page.
"""

from __future__ import annotations

import gc
import logging
import socket
import webbrowser
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from threading import Event, Thread
from typing import Any

import uvicorn
from fastapi import FastAPI

from taskalgebra.apps.playground.app import create_app
from taskalgebra.apps.playground.connection import MAX_CONNECTIONS, Connection
from taskalgebra.apps.playground.presets import presets
from taskalgebra.apps.playground.schema import SolveRequest
from taskalgebra.apps.playground.solving import SkillsCache, solve
from taskalgebra.progress import LOGGER

LOOPBACK = "127.0.0.1"
FIRST_PORT, N_PORTS = 8765, 20
PATIENCE = 2
"""Seconds for requests under way when the server is stopped."""


def serve(
    port: int | None, announce: Callable[[str], None], *, browser: bool, fragment: str = ""
) -> None:
    """Serve the playground until Ctrl-C.

    Args:
        port: the port; by default the first free one from 8765, and 0 takes any.
        announce: called with the address once the server can be reached.
        browser: whether to open the address in a browser.
        fragment: what follows the # of the address, if anything: the world to begin with.

    Raises:
        OSError: the port is taken, or not allowed.
    """
    with listen(port) as listener:
        address = f"http://{LOOPBACK}:{listener.getsockname()[1]}/"
        address += fragment and f"#{fragment}"

        @asynccontextmanager
        async def lifespan(_: FastAPI) -> AsyncIterator[None]:
            announce(address)  # from here on, Ctrl-C is the server's to handle
            if browser:
                Thread(target=webbrowser.open, args=(address,), daemon=True).start()
            with _warming():
                yield

        level = LOGGER.level
        try:
            _allow_connections()
            LOGGER.setLevel(logging.ERROR)  # what is known of values is on the page
            _warm_up()
            # Imported modules stay: if the collector skips them, the first request takes 40 ms
            # rather than 140.
            gc.freeze()
            config = uvicorn.Config(
                create_app(lifespan),
                http=Connection,
                log_level="error",  # mistakes of clients are told to them, not to the terminal
                access_log=False,
                server_header=False,
                ws="none",
                timeout_graceful_shutdown=PATIENCE,
            )
            QuietServer(config).run(sockets=[listener])
        except KeyboardInterrupt:
            pass  # Ctrl-C stops the server, also before it listens for it
        finally:
            LOGGER.setLevel(level)


class QuietServer(uvicorn.Server):
    """A server that gives up in silence what is under way when it is stopped."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop; uvicorn would log every request that it cancels as a failure."""
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
        await super().shutdown(sockets)


def _allow_connections() -> None:
    """Let this process hold as many files open as its connections need, if it may."""
    try:
        import resource
    except ImportError:  # on Windows, there is no such limit
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 2 * MAX_CONNECTIONS
    if soft != resource.RLIM_INFINITY and soft < wanted:
        allowed = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))


def _warm_up() -> None:
    """Load or compile the kernels of the first page, so that its first request does not wait."""
    world, cache = presets()[0]["world"], SkillsCache()
    for expression in ("~top ^ left", "top then left"):
        _warm({"world": world, "expression": expression, "slices": True}, cache)


@contextmanager
def _warming() -> Iterator[None]:
    """Meanwhile load or compile all other kernels.

    A kernel that is being compiled when the server stops is waited for: a process must not end
    inside the compiler.
    """
    stop = Event()
    thread = Thread(target=_warm_up_all, args=(stop,), name="kernels")
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def _warm_up_all(stop: Event) -> None:
    """Ask for what needs kernels of its own, until there is nothing left, or it is stopped."""
    cache = SkillsCache()
    for asked in _requests():
        if stop.is_set():
            return
        _warm(asked, cache)


def _requests() -> Iterator[dict[str, Any]]:
    """Requests that together need every kernel: of slippery worlds, tables, a maze, and panels."""
    rooms, *others = (preset for preset in presets() if "skills" not in preset)
    text = rooms["expression"]
    yield {"world": rooms["world"], "expression": "top | left", "others": True}
    slippery = {**rooms["world"], "slip": 0.25}
    for more in ({}, {"improve": True}, {"expression": "top | left", "others": True}):
        yield {"world": slippery, "expression": text, "slices": True, **more}
    for improve in (False, True):
        yield {"world": slippery, "expression": "top then left", "improve": improve}
    for preset in others:
        world = preset.get("world") or _table(preset["scene"])
        for text in (preset["expression"], *preset.get("examples", ())):
            yield {"world": world, "expression": text, "improve": text == preset["expression"]}


def _table(scene: dict[str, Any]) -> dict[str, Any]:
    return {"table": scene["id"], "tasks": scene["tasks"]}


def _warm(asked: dict[str, Any], cache: SkillsCache) -> None:
    solve(SolveRequest.model_validate(asked, strict=False), cache)


def listen(port: int | None) -> socket.socket:
    """A listening socket of this machine alone."""
    tried = range(FIRST_PORT, FIRST_PORT + N_PORTS) if port is None else [port]
    for number in tried:
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((LOOPBACK, number))
            listener.listen(2048)
        except OSError as error:
            listener.close()
            if port is not None:
                raise OSError(
                    f"port {port} cannot be used ({error.strerror}); choose another with --port, "
                    f"or leave it out"
                ) from None
            continue
        return listener
    raise OSError(
        f"ports {tried[0]} to {tried[-1]} are all taken; choose another with --port, or --port 0"
    )
