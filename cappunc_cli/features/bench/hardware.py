"""Describe the hardware and the software versions of a measurement."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from cappunc_cli.restoration.models.session import physical_cores
from cappunc_cli.version import __version__


def hardware() -> dict[str, object]:
    """CPU, usable cores, memory in GB, GPU if there is one, and operating system."""
    return {
        "cpu": _cpu(),
        "cores": physical_cores(),
        "memory_gb": _memory(),
        "gpu": _gpu(),
        "system": platform.system(),
    }


def in_short(machine: Mapping[str, object]) -> str:
    """CPU and cores of a `hardware()` dictionary in one line."""
    return f"{machine['cpu']}, {machine['cores']} cores"


def versions() -> dict[str, str]:
    """Versions of cappunc, Python, and the packages that determine the speed."""
    found = {"cappunc": __version__, "python": platform.python_version()}
    for name in ("onnxruntime-gpu", "onnxruntime", "numpy", "tokenizers"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def peak_memory() -> float | None:
    """Peak memory of this process in MB; None if the system does not report it."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (1e6 if sys.platform == "darwin" else 1e3), 1)


def _cpu() -> str:
    path = Path("/proc/cpuinfo")
    lines = path.read_text("utf-8", "replace").splitlines() if path.exists() else []
    named = next(
        (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.processor()
    )
    flags = next((line for line in lines if line.startswith("flags")), "")
    units = [name for name in ("avx2", "avx512_vnni", "avx_vnni", "amx_int8") if f" {name}" in flags]
    return f"{named or platform.machine()} ({', '.join(units)})" if units else named or platform.machine()


def _memory() -> float | None:
    try:
        kilobytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 10
    except (AttributeError, ValueError, OSError):  # Windows
        return None
    return round(kilobytes / 1e6, 1)


def _gpu() -> str | None:
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return None
    query = [tool, "--query-gpu=name,memory.total,driver_version", "--format=csv,noheader"]
    done = subprocess.run(query, capture_output=True, text=True, check=False)
    return done.stdout.strip().splitlines()[0] if done.returncode == 0 and done.stdout.strip() else None
