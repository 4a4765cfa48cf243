"""The server inside of a running program, such as a notebook: one for all that it opens."""

from __future__ import annotations

import time
from threading import Lock, Thread

import uvicorn

from taskalgebra.apps.playground.app import create_app
from taskalgebra.apps.playground.connection import Connection
from taskalgebra.apps.playground.serve import LOOPBACK, QuietServer, listen

PATIENCE = 60.0
"""Seconds after which a server that does not start is given up."""

_lock = Lock()
_address: str | None = None


def address() -> str:
    """The address of the server of this process, which is started on first use.

    Its thread is a daemon: it ends with the process.

    Raises:
        OSError: it does not start.
    """
    global _address
    with _lock:
        if _address is None:
            listener = listen(0)
            server = QuietServer(
                uvicorn.Config(
                    create_app(framed=True),
                    http=Connection,
                    log_config=None,  # the program's own logging is left as it is
                    log_level="error",
                    access_log=False,
                    server_header=False,
                    ws="none",
                )
            )
            place = f"http://{LOOPBACK}:{listener.getsockname()[1]}/"
            Thread(
                target=server.run, args=([listener],), name="taskalgebra-playground", daemon=True
            ).start()
            until = time.monotonic() + PATIENCE
            while not server.started:
                if time.monotonic() > until:
                    server.should_exit = True
                    raise OSError("the server of the playground does not start; try again")
                time.sleep(0.02)
            _address = place
        return _address
