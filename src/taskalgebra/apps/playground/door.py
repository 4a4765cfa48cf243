"""The door in front of the server: which requests pass, and which headers answers get.

Only this machine can reach the server.  A page of another site could still make a browser here send
requests.  The check of the Host header refuses those sent to a name of that site; the check of the
content type refuses those that a form can send.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import orjson
from fastapi import Request, Response
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from taskalgebra.apps.playground.refusals import RefusedError
from taskalgebra.apps.playground.schema import MAX_BODY, MAX_HEAD

LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]")
JSON = "application/json"
MAX_WAITING = 100
"""Requests that wait for the end of one that takes long."""

HEADERS = [
    (
        b"content-security-policy",
        b"default-src 'self'; img-src 'self' data: blob:; style-src 'self' 'unsafe-inline'; "
        b"object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    ),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
]
"""Of every answer.  Inline styles are allowed, inline scripts are not."""


FRAMES = "http://127.0.0.1:* http://localhost:* https://127.0.0.1:* https://localhost:*"
"""Pages that may show this one in a frame, if any may: those of this machine, such as notebooks."""


class Door:
    """ASGI middleware: checks the host, limits the body, adds headers."""

    def __init__(self, app: ASGIApp, *, framed: bool = False) -> None:
        """Wrap an application; `framed` lets notebooks of this machine show it in a frame."""
        self.app, self.headers = app, HEADERS
        if framed:
            nobody, some = b"frame-ancestors 'none'", f"frame-ancestors {FRAMES}".encode()
            self.headers = [
                (name, value.replace(nobody, some))
                for name, value in HEADERS
                if name != b"x-frame-options"
            ]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        answering = False

        async def marked(message: Message) -> None:
            nonlocal answering
            answering = True
            if message["type"] == "http.response.start":
                kept = b"no-store" if scope["path"].startswith("/api/") else b"no-cache"
                message["headers"] = [*message["headers"], *self.headers, (b"cache-control", kept)]
            await send(message)

        n_bytes = 0

        async def limited() -> Message:
            """Receive a body up to the limit, whatever length was announced."""
            nonlocal n_bytes
            message = await receive()
            n_bytes += len(message.get("body", b""))
            if n_bytes > MAX_BODY:
                raise _too_large()
            return message

        headers = Headers(scope=scope)
        try:
            _check_head(scope)
            _check_host(headers)
            length = headers.get("content-length", "")
            if length.isdecimal() and int(length[:20]) > MAX_BODY:
                raise _too_large()
        except RefusedError as error:
            await refusal(error)(scope, receive, marked)
            return
        try:
            await self.app(scope, limited, marked)
        except ClientDisconnect:
            pass  # nobody is left to answer, and nothing is wrong here
        except Exception as error:
            if not answering:
                sentence = f"the server failed with {type(error).__name__}; see its terminal"
                await refusal(RefusedError(sentence, status=500))(scope, receive, marked)
            raise  # the server logs it


def _too_large() -> RefusedError:
    return RefusedError(f"the request is larger than {MAX_BODY:,} bytes", status=413)


def _check_head(scope: Scope) -> None:
    if "\0" in scope["path"]:  # no file can be named so, and not every version of starlette says so
        raise RefusedError(f"there is nothing at {scope['path'][:60]!r}", status=404)
    parts = [scope["path"].encode(), scope["query_string"]]
    parts += [part for pair in scope["headers"] for part in pair]
    if sum(map(len, parts)) + 4 * len(scope["headers"]) > MAX_HEAD:  # each with ": " and an end
        raise RefusedError(f"the head of the request is larger than {MAX_HEAD:,} bytes", status=431)


def _check_host(headers: Headers) -> None:
    host = headers.get("host", "")
    name, colon, port = host.rpartition(":")
    if not (colon and port.isdecimal()):
        name = host
    if name.lower() not in LOOPBACK_NAMES:
        raise RefusedError(
            f"the playground answers at {', '.join(LOOPBACK_NAMES)}, not at {host[:60]!r}",
            status=400,
        )


async def json_body(request: Request) -> bytes:
    """The body of a request, which must be declared as JSON."""
    given = request.headers.get("content-type", "")
    if given.partition(";")[0].strip().lower() != JSON:
        raise RefusedError(f"the content type is {given[:60]!r}, expected {JSON!r}", status=415)
    return await request.body()


class Turns:
    """What takes long is done for one request at a time, and only so many wait for it."""

    def __init__(self) -> None:
        """Nobody waits."""
        self._lock, self._n = asyncio.Lock(), 0

    @asynccontextmanager
    async def turn(self, request: Request) -> AsyncIterator[None]:
        """Wait for the turn of a request; no work is done for a client that goes away meanwhile.

        Raises:
            RefusedError: too many wait already.
        """
        if self._n > MAX_WAITING:
            sentence = f"{MAX_WAITING} requests of this kind wait already; try again in a moment"
            raise RefusedError(sentence, status=429)
        self._n += 1
        mine = asyncio.ensure_future(self._lock.acquire())
        try:
            while not mine.done():
                await asyncio.wait({mine}, timeout=1)
                if await request.is_disconnected():
                    raise ClientDisconnect
            yield
        finally:
            self._n -= 1
            if not mine.cancel():  # it is done
                self._lock.release()


def refusal(error: RefusedError) -> Response:
    """The answer to a request that is refused."""
    # The rest of a body that is too large is not read.
    headers = {"Connection": "close"} if error.status == 413 else {}
    return Response(orjson.dumps(error.answer()), error.status, headers, JSON)
