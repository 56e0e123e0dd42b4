"""The options of `cappunc archive`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from cappunc_cli.cli.options import Changes, Force, Inputs, Log, Messages, ModelOptions
from cappunc_cli.options import EXPERT, FILES, SPEED, Option


@dataclass(frozen=True, slots=True)
class RayOptions:
    """Whether the files go to Ray tasks, and where and how the tasks run.

    Without `ray_address`, RAY_ADDRESS names the cluster; if it is not set, Ray starts on this machine. Without `jobs`,
    each core or GPU has an engine, also on nodes that join later. `metrics_port` is for a Ray on this machine; None
    takes any free port.
    """

    ray: Annotated[bool, Option("Run on Ray: here, or on the cluster of RAY_ADDRESS.", SPEED)] = False
    ray_address: Annotated[
        str | None, Option("Run on this Ray cluster: auto, HOST:PORT or ray://…", SPEED, metavar="ADDRESS")
    ] = None
    jobs: Annotated[
        int | None, Option("With --ray, number of workers, each with its own model.", SPEED, short="j", least=1)
    ] = None
    file_timeout: Annotated[float, Option("With --ray, time limit for a file.", EXPERT, metavar="SECONDS", least=1)] = (
        600.0
    )
    file_memory: Annotated[int, Option("With --ray, memory limit for a worker.", EXPERT, metavar="MB", least=1)] = 4096
    metrics_port: Annotated[
        int | None, Option("With --ray, serve Prometheus metrics.", EXPERT, metavar="PORT", least=1, most=65535)
    ] = None

    @property
    def asked(self) -> bool:
        """Whether the files go to Ray."""
        return self.ray or self.ray_address is not None


@dataclass(frozen=True, slots=True)
class Places(Inputs):
    """The sources and the target."""

    files: Annotated[
        tuple[str, ...],
        Option("Directories, patterns or URLs; the last is TARGET.", FILES, metavar="SOURCE TARGET", argument=True),
    ] = ()


@dataclass(frozen=True, slots=True)
class ArchiveOptions:
    """Restore an archive of many files, here or on a Ray cluster.

    SOURCE is one or more directories, patterns or URLs, TARGET the directory
    or URL of the results. Run the same command again to resume.

    \b
    cappunc archive s3://old/ s3://new/             in this process
    cappunc archive --ray s3://old/ s3://new/       on Ray, here or on a cluster
    """

    inputs: Places
    changes: Changes
    model: ModelOptions
    messages: Messages
    force: Force = False
    report: Annotated[
        str | None, Option("Write a list of the refused files, as JSON Lines.", FILES, metavar="FILE")
    ] = None
    log: Log = None
    fail_over: Annotated[
        float | None, Option("Stop when more than N% of the files are refused.", FILES, metavar="N%", least=0, most=100)
    ] = None
    cluster: RayOptions = RayOptions()
