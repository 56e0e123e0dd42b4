"""Describe the hardware and the software versions of a measurement."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
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
        with suppress(PackageNotFoundError):
            found[name] = version(name)
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
    text = path.read_text("utf-8", "replace") if path.exists() else ""
    told = dict(re.findall(r"^(model name|flags)\s*:\s*(.*?)\s*$", text, re.MULTILINE))
    name = told.get("model name") or platform.processor() or platform.machine()
    units = [one for one in ("avx2", "avx512_vnni", "avx_vnni", "amx_int8") if one in told.get("flags", "").split()]
    return f"{name} ({', '.join(units)})" if units else name


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
