"""A live stream on a WebSocket, of which many share one model.

A message holds complete words or lines, as standard input would. An empty message ends the stream: the remaining words
are sent and the connection is closed. Reading from a client pauses while it does not read the answers.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable

from starlette.websockets import WebSocket, WebSocketDisconnect

from cappunc_cli.errors import CappuncError
from cappunc_cli.serving.live_text import LiveInput, LiveOutput

#: Makes the output of a new stream from a function that writes its texts.
NewOutput = Callable[[Callable[[str], None]], LiveOutput]

#: WebSocket close codes: normal closure, going away, internal error.
_NORMAL, _GOING_AWAY, _INTERNAL_ERROR = 1000, 1001, 1011


class LiveSocket:
    """A connection and its stream. The model runs in the event loop: a word takes it a few milliseconds."""

    def __init__(self, connection: WebSocket, new_output: NewOutput, stopped: asyncio.Event) -> None:
        self._connection, self._stopped = connection, stopped
        self._written: list[str] = []
        self._output = new_output(self._written.append)
        self._input = LiveInput(self._write_error)

    def _write_error(self, error: object) -> None:
        self._written.append(json.dumps({"error": str(error)}, ensure_ascii=False) + "\n")

    async def run(self) -> None:
        """Process messages until the stream ends; errors close only this connection."""
        code, reason = _NORMAL, ""
        await self._connection.accept()
        try:
            while message := await self._message():
                for piece in self._input.message(message):
                    self._output.take(piece)
                    await self._send()
                await self._send()
            self._output.end()
            self._written.append(self._input.ending)
            await self._send()
            code = _GOING_AWAY if self._stopped.is_set() else _NORMAL
        except WebSocketDisconnect:
            return
        except CappuncError as error:
            code, reason = _INTERNAL_ERROR, error.message
        finally:
            self._output.end_terms()
        # A close reason has at most 123 bytes.
        await self._connection.close(code, reason.encode()[:120].decode("utf-8", "ignore"))

    async def _message(self) -> bytes:
        """The next message; b"" at the end of the stream. Sends words that become overdue in the meantime."""
        receiving = asyncio.ensure_future(self._connection.receive())
        stopping = asyncio.ensure_future(self._stopped.wait())
        try:
            while not stopping.done():
                waiting = (receiving, stopping)
                await asyncio.wait(waiting, timeout=self._output.timeout(), return_when=asyncio.FIRST_COMPLETED)
                if receiving.done():
                    message = receiving.result()
                    if message["type"] == "websocket.disconnect":
                        raise WebSocketDisconnect(message.get("code", _NORMAL))
                    return message.get("bytes") or (message.get("text") or "").encode("utf-8", "surrogateescape")
                self._output.write_overdue()
                await self._send()
            return b""
        finally:
            receiving.cancel()
            stopping.cancel()

    async def _send(self) -> None:
        """Send what has been written, if anything, and let the other streams go on."""
        text = "".join(self._written)
        self._written.clear()
        if text:
            await self._connection.send_text(text.encode("utf-8", "surrogateescape").decode("utf-8", "replace"))
        await asyncio.sleep(0)
