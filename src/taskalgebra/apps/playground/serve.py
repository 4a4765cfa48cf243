"""Start the playground: a free port of this machine, warm kernels, a browser."""

from __future__ import annotations

import gc
import logging
import socket
import webbrowser
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from threading import Thread

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
    """Load or compile the kernels, so that the first request does not wait for them."""
    world, cache = presets()[0]["world"], SkillsCache()
    for expression in ("~top ^ left", "top then left"):
        request = SolveRequest.model_validate(
            {"world": world, "expression": expression, "slices": True}, strict=False
        )
        solve(request, cache)


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
