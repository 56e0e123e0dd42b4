"""The options of `cappunc serve`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from cappunc_cli.cli.options import Device, Messages
from cappunc_cli.options import OUTPUT, SPEED, Option, not_empty
from cappunc_cli.serving.live_options import Hosts, Origins


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """Serve fix, check, live words and LanguageTool's protocol over HTTP.

    \b
    cappunc serve
    curl --data-binary @in.srt "http://127.0.0.1:8765/v1/fix?lang=en" -o out.srt
    cappunc serve --host 0.0.0.0 --token-file token.txt --allow-host cc.example
    """

    messages: Messages
    host: Annotated[str, Option("Address to listen on; a public one needs --token-file.", OUTPUT, check=not_empty)] = (
        "127.0.0.1"
    )
    port: Annotated[int, Option("Port to listen on; 0 takes any free one.", OUTPUT, least=0, most=65_535)] = 8765
    token_file: Annotated[
        str | None, Option("Accept only requests with the token in this file.", OUTPUT, metavar="FILE", check=not_empty)
    ] = None
    allow_origin: Origins = ()
    allow_host: Hosts = ()
    device: Device = "auto"
    max_mb: Annotated[int, Option("Largest body of a request, in MB.", SPEED, least=1, most=64)] = 32
    timeout: Annotated[int, Option("Longest time for a request.", SPEED, metavar="SECONDS", least=1, most=86_400)] = 300
    queue: Annotated[int, Option("Most requests that may wait for the model.", SPEED, least=1, most=1000)] = 32
