"""One connection of the server: limits of time and size for clients that are slow, mute or hostile.

uvicorn's protocol waits without end for the rest of a request, and for a client to read its answer.
Here a request must arrive within `REQUEST_SECONDS`, an answer must be read within `ANSWER_SECONDS`,
and heads, bytes, pipelines, connections and unread answers are bounded.  Who breaks a limit is told
so, if nothing else has been sent, and cut off; nobody else notices.
"""

from __future__ import annotations

from asyncio import TimerHandle, Transport
from typing import Any

import orjson
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from taskalgebra.apps.playground.door import HEADERS
from taskalgebra.apps.playground.refusals import RefusedError
from taskalgebra.apps.playground.schema import MAX_BODY, MAX_HEAD

REQUEST_SECONDS = 10.0
"""From the first byte of a request to its last; for a new connection, from its opening."""
ANSWER_SECONDS = 20.0
"""Until the client has taken all bytes of an answer."""
MAX_CONNECTIONS = 1000
SETTLED = 1.0
"""Seconds after which a connection has had its chance to be read, though others keep us busy."""
MAX_UNREAD = 256 * 2**20
"""Bytes of all answers that clients have not taken."""
MAX_PIPELINED = 16
"""Requests of one connection that wait for an answer to the one before."""
MAX_BYTES = MAX_HEAD + 2 * MAX_BODY
"""Of one request on the wire: in chunks, a body is longer than itself."""


class Connection(HttpToolsProtocol):
    """uvicorn's protocol with limits."""

    def __init__(self, *args: Any, **named: Any) -> None:
        """Start like uvicorn's."""
        super().__init__(*args, **named)
        self._n_bytes = 0
        self._in_head = True
        self._arriving: TimerHandle | None = None
        self._unread: TimerHandle | None = None
        self._since = self.loop.time()
        self._settled = False

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        """Start the clock, and make room if there are too many."""
        super().connection_made(transport)
        transport.set_write_buffer_limits(high=0)  # every byte that the client has not taken counts
        self._arrives()
        # Between two clocks the loop reads what has arrived, however late it is.
        self.loop.call_later(SETTLED, lambda: self.loop.call_later(SETTLED / 10, self._settle))
        if len(self.connections) > MAX_CONNECTIONS:
            self._cut_off([one for one in self._all() if one._waits and one._settled])

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the clocks."""
        self._arrived()
        self._taken()
        super().connection_lost(exc)
        self._unset_keepalive_if_required()  # which uvicorn leaves out after an error
        self.pipeline.clear()

    def data_received(self, data: bytes) -> None:
        """Parse what has arrived, up to the limits."""
        if self.transport.is_closing():
            return
        self._arrives()
        self._n_bytes += len(data)
        super().data_received(data)
        if self._in_head and self._n_bytes > MAX_HEAD:
            self._refuse(431, f"the head of the request is larger than {MAX_HEAD:,} bytes")
        elif self._n_bytes > MAX_BYTES:
            self._refuse(413, f"the request is larger than {MAX_BODY:,} bytes")

    def on_message_begin(self) -> None:
        """Start the clock of a request that begins in the bytes of the one before."""
        super().on_message_begin()
        self._arrives()
        self._n_bytes = max(1, self._n_bytes)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Keep a header; those after a body in chunks are not needed."""
        if self._in_head:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Begin to answer, unless too many requests wait already."""
        if len(self.pipeline) >= MAX_PIPELINED:
            self.transport.abort()
            raise ConnectionAbortedError  # so that the parser stops
        super().on_headers_complete()
        self._in_head = False

    def on_message_complete(self) -> None:
        """The request has arrived: stop its clock."""
        super().on_message_complete()
        self._arrived()
        self._n_bytes, self._in_head = 0, True

    def on_response_complete(self) -> None:
        """The next request is the client's to send."""
        super().on_response_complete()
        self._since = self.loop.time()

    def pause_writing(self) -> None:
        """Bytes wait for the client: start the clock; if memory is short, cut off the slowest."""
        super().pause_writing()
        if self._unread is None:
            self._unread = self.loop.call_later(ANSWER_SECONDS, self.transport.abort)
            self._since = self.loop.time()
        waiting = [one for one in self._all() if one._unread is not None]
        if sum(one.transport.get_write_buffer_size() for one in waiting) > MAX_UNREAD:
            self._cut_off(waiting)

    def resume_writing(self) -> None:
        """The client has taken all."""
        super().resume_writing()
        self._taken()

    def send_400_response(self, msg: str) -> None:
        """What is not HTTP gets an answer of the same shape as other mistakes."""
        self._refuse(400, "the request is not HTTP/1.1")

    def _settle(self) -> None:
        self._settled = True

    def _arrives(self) -> None:
        if self._arriving is None:
            self._arriving = self.loop.call_later(REQUEST_SECONDS, self._too_slow)

    def _arrived(self) -> None:
        if self._arriving is not None:
            self._arriving.cancel()
            self._arriving = None

    def _taken(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def _too_slow(self) -> None:
        if self._n_bytes:
            self._refuse(408, f"the request took longer than {REQUEST_SECONDS:g} seconds")
        else:  # a browser opens connections ahead, and would show the refusal to its next request
            self.transport.close()

    def _refuse(self, status: int, sentence: str) -> None:
        """Close the connection, with a reason unless that would tear another answer."""
        if self.transport.is_closing():
            return
        free = self.cycle is None or self.cycle.response_complete
        unanswered = not free and not self.cycle.response_started and not self.pipeline
        if not (free if self._in_head else unanswered):
            self.transport.abort()
            return
        body = orjson.dumps(RefusedError(sentence).answer())
        lines = [b"%s: %s\r\n" % pair for pair in HEADERS]
        head = b"content-type: application/json\r\ncontent-length: %d\r\nconnection: close\r\n"
        self.transport.write(
            b"".join([STATUS_LINE[status], *lines, head % len(body), b"\r\n", body])
        )
        self.transport.close()

    @property
    def _waits(self) -> bool:
        """Whether the next move is the client's: to send a request, or to read an answer."""
        idle = self.cycle is None or self.cycle.response_complete or self.cycle.more_body
        return idle or self._arriving is not None or self._unread is not None

    def _cut_off(self, some: list[Connection]) -> None:
        """Close the connection that has waited longest for its client, if need be this one."""
        min(some, key=lambda one: one._since, default=self).transport.abort()

    def _all(self) -> list[Connection]:
        return [one for one in self.connections if isinstance(one, Connection)]
