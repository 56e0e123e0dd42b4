"""Requests take turns at the models, in a thread of its own; what nobody waits for any more is stopped."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from starlette.requests import ClientDisconnect, Request

from cappunc_cli.files.output import Reporter
from cappunc_cli.serving.gate import Refused, until_gone

_Result = TypeVar("_Result")


class _Stopped(Exception):
    """Nobody waits for the result."""


class Watch(Reporter):
    """Hears how far a model has read, and stops it when nobody waits for the result."""

    stopped = False

    def advance(self, *_: int, **__: int) -> None:
        if self.stopped:
            raise _Stopped


class Work:
    """One piece of work at a time, with all cores; at most `most` wait."""

    def __init__(self, most: int) -> None:
        self._most, self._thread = most, ThreadPoolExecutor(1)
        #: How many are worked on or wait.
        self.waiting = 0

    async def run(self, request: Request, function: Callable[[Watch], _Result]) -> _Result:
        """What the function returns. Raises Refused if too many wait, and ClientDisconnect."""
        if self.waiting > self._most:
            raise Refused(429, f"{self.waiting} requests are waiting", 1 + self.waiting // 4)
        self.waiting += 1
        watch = Watch(quiet=True)
        future = asyncio.get_running_loop().run_in_executor(self._thread, function, watch)
        gone = asyncio.ensure_future(until_gone(request.receive))
        try:
            await asyncio.wait((future, gone), return_when=asyncio.FIRST_COMPLETED)
            if not future.done():
                raise ClientDisconnect
            return future.result()
        finally:
            watch.stopped = True
            future.cancel()
            gone.cancel()
            self.waiting -= 1
