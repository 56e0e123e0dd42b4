"""Choose the processor that runs a model, and count cores; independent of onnxruntime."""

from __future__ import annotations

import ctypes
import os
import re
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from cappunc_cli.errors import CappuncError, WrongUsage

_DEVICE = re.compile(r"auto|cpu|(cuda|tensorrt)(?::(\d+))?")
_CUDA = "CUDAExecutionProvider"
_PROVIDERS = {"cuda": ("CUDA", _CUDA), "tensorrt": ("TensorRT", "TensorrtExecutionProvider")}


@dataclass(frozen=True, slots=True)
class Device:
    """A device: `kind` is cpu, cuda or tensorrt; unless it is `required`, the CPU may take its place."""

    kind: str
    index: int = 0
    required: bool = True


def parse_device(device: str) -> re.Match[str]:
    """Parse a device name into the groups (cuda or tensorrt, its number); raises WrongUsage for an unknown one."""
    match = _DEVICE.fullmatch(device)
    if not match:
        raise WrongUsage(f"unknown device {device!r}; use auto, cpu, cuda[:N] or tensorrt[:N]")
    return match


def choose_device(device: str, available: Sequence[str]) -> Device:
    """The device to try first for `auto`, `cpu`, `cuda`, `cuda:1`, `tensorrt` or `tensorrt:1`.

    `available` are the providers that onnxruntime was built with, whatever the machine has; so `auto` also checks
    for a driver. Raises CappuncError.
    """
    match = parse_device(device)
    if device == "cpu":
        return Device("cpu")
    if device == "auto":
        usable = _CUDA in available and _has_driver()
        return Device("cuda", required=False) if usable else Device("cpu")
    kind = match[1]
    name, provider = _PROVIDERS[kind]
    if provider not in available:
        raise CappuncError(f"this onnxruntime has no {name} support; use --device cpu or install onnxruntime-gpu")
    if not _has_driver():
        raise CappuncError("no NVIDIA driver found on this machine; use --device cpu")
    return Device(kind, int(match[2] or 0))


def _has_driver() -> bool:
    name = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"
    try:
        ctypes.CDLL(name)
    except OSError:
        return False
    return True


def physical_cores() -> int:
    """The number of physical cores that this process may use, within the CPU quota of its container."""
    try:
        allowed = sorted(os.sched_getaffinity(0))
    except AttributeError:  # macOS and Windows
        return max((os.cpu_count() or 2) // (1 if sys.platform == "darwin" else 2), 1)
    cores: set[str] = set()
    for cpu in allowed:
        try:
            cores.add(Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list").read_text())
        except OSError:
            cores.add(str(cpu))
    count = len(cores)
    with suppress(OSError, ValueError):  # without a quota there is no such file, or it says "max"
        limit, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        count = min(count, -(-int(limit) // int(period)))
    return max(count, 1)
