"""Choose a device, and open a model file on it. The only module that imports onnxruntime."""

from __future__ import annotations

import ctypes
import os
import re
import sys
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from cappunc_cli.errors import BadModel, CappuncError, WrongUsage, install_extra, nearest
from cappunc_cli.restoration.models.registry import INPUTS, LINES, MASK, OUTPUTS

#: A serialised model of one node, y = MatMulInteger(x: uint8, w: int8).
_MULTIPLY_MODEL = (
    b'\x08\x08:>\n\x18\n\x01x\n\x01w\x12\x01y"\rMatMulInteger\x12\x01gZ\t\n\x01x\x12\x04\n\x02\x08\x02'
    b"Z\t\n\x01w\x12\x04\n\x02\x08\x03b\t\n\x01y\x12\x04\n\x02\x08\x06B\x04\n\x00\x10\x11"
)

_DEVICE = re.compile(r"auto|cpu|cuda(?::(\d+))?")
_CUDA = "CUDAExecutionProvider"

#: A session, the device that it runs on, a warning or None, and the number of concurrent runs that keep that busy.
Opened = tuple[Any, str, str | None, int]


def parse_device(device: str) -> re.Match[str]:
    """Parse a device name, whose only group is the number of a GPU; raises WrongUsage for an unknown one."""
    match = _DEVICE.fullmatch(device)
    if not match:
        raise WrongUsage(
            f"unknown device {device!r}{nearest(device, ('auto', 'cpu', 'cuda'))}; use auto, cpu or cuda[:N]"
        )
    return match


def choose_device(device: str, available: Sequence[str]) -> int | None:
    """The number of the CUDA device to use or try for `auto`, `cpu`, `cuda` or `cuda:1`; None for the CPU.

    `available` are the providers that onnxruntime was built with, whatever the machine has; so `auto` also checks
    for a driver. Raises CappuncError for a named device that cannot be used.
    """
    match, problem = parse_device(device), ""
    if device == "cpu":
        return None
    if _CUDA not in available:
        problem = "this onnxruntime has no CUDA support; use --device cpu or install onnxruntime-gpu"
    else:
        try:
            ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
        except OSError:
            problem = "no NVIDIA driver found on this machine; use --device cpu"
    if problem and device != "auto":
        raise CappuncError(problem)
    return None if problem else int(match[1] or 0)


def physical_cores() -> int:
    """The number of physical cores that this process may use, within the CPU quota of its container."""
    try:
        allowed = sorted(os.sched_getaffinity(0))
    except AttributeError:  # macOS and Windows
        return max((os.cpu_count() or 2) // (1 if sys.platform == "darwin" else 2), 1)
    cores: set[str] = set()
    for cpu in allowed:
        siblings = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
        cores.add(siblings.read_text() if siblings.is_file() else str(cpu))
    count = len(cores)
    with suppress(OSError, ValueError):  # without a quota there is no such file, or it says "max"
        limit, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        count = min(count, -(-int(limit) // int(period)))
    return max(count, 1)


def open_session(path: Path, device: str) -> Opened:
    """Open a model file for `device`; raises BadModel, or CappuncError for a named device that cannot be used."""
    import onnxruntime

    # Failures raise exceptions; the library's log output adds nothing.
    onnxruntime.set_default_logger_severity(4)
    if not path.is_file():
        raise BadModel("the model file is missing", str(path))
    index, warning = choose_device(device, onnxruntime.get_available_providers()), None
    if index is not None:
        try:
            return _on_gpu(path, index), f"cuda:{index}", None, 1
        except CappuncError as error:
            if device != "auto":
                raise
            warning = f"{error}. Running on the CPU."
    lanes = physical_cores()
    if (limit := os.environ.get("OMP_NUM_THREADS", "")).isdigit():
        lanes = min(lanes, max(int(limit), 1))  # Ray limits its actors by this
    return load_graph(path), "cpu", warning, lanes


def load_graph(model: Path | bytes, inputs: Sequence[str] = INPUTS, providers: Sequence[object] = ()) -> Any:
    """A session whose runs use one core each, on the CPU unless `providers` name a GPU.

    Raises BadModel, also if the graph lacks an output or one of `inputs`, except for the padding mask and the lines.
    """
    source, where = (str(model), str(model)) if isinstance(model, Path) else (model, "")
    try:
        session = _session(source, providers, exact=_saturates())
    except Exception as error:  # onnxruntime has no base class of its own
        raise BadModel(f"the model cannot be loaded: {first_line(error)}", where) from error
    known_inputs, outputs = ({v.name for v in values} for values in (session.get_inputs(), session.get_outputs()))
    missing = set(inputs) - known_inputs - {MASK, LINES} | set(OUTPUTS) - outputs
    if missing:
        raise BadModel(f"the graph lacks {', '.join(sorted(missing))}", where)
    return session


def _session(source: str | bytes, providers: Sequence[object] = (), *, exact: bool = False) -> Any:
    """A session with one thread a run: concurrent runs use several cores better than one run does.

    `exact` 8-bit products do not saturate, but their kernels take two and a half times as long.
    """
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 4
    if exact:
        options.add_session_config_entry("session.x64quantprecision", "1")
    # Before it falls back to another provider, it would print the error to stdout.
    return onnxruntime.InferenceSession(source, options, list(providers) or ["CPUExecutionProvider"], enable_fallback=0)


def _on_gpu(path: Path, index: int) -> Any:
    """A session on the GPU; raises CappuncError if that cannot be used."""
    import onnxruntime

    try:
        from cappunc_cli.restoration.models.graph import float16_model

        model = float16_model(path)
    except ImportError:
        raise CappuncError(f"CUDA cannot be used: the package onnx is missing; {install_extra('cuda')}") from None
    except BadModel as error:
        raise CappuncError(f"CUDA cannot be used: {error}") from error
    options = {"device_id": str(index), "cudnn_conv_algo_search": "HEURISTIC"}
    session = None
    with redirect_stdout(None), redirect_stderr(None), suppress(BadModel):
        if hasattr(onnxruntime, "preload_dlls"):
            # Loads the libraries of the nvidia-* wheels (they are on no search path); prints what is missing to stdout.
            onnxruntime.preload_dlls(directory="")
        session = load_graph(model, providers=[(_CUDA, options), "CPUExecutionProvider"])
    # onnxruntime falls back to the CPU without an error when a CUDA library is missing.
    if session is None or _CUDA not in session.get_providers():
        problem = f"its libraries are missing or incompatible; {install_extra('cuda')}"
        raise CappuncError(f"CUDA cannot be used: {problem}")
    return session


@cache
def _saturates() -> bool:
    """Whether 8-bit matrix products saturate at 16 bits on this processor, as on x86 without VNNI.

    Found by trying it, since every system reports processor features in another way.
    """
    session = _session(_MULTIPLY_MODEL)
    x, w = np.full((16, 64), 255, np.uint8), np.full((64, 64), 127, np.int8)
    (product,) = session.run(None, {"x": x, "w": w})
    return bool((product != 64 * 255 * 127).any())


def first_line(error: BaseException) -> str:
    """The first line of an error message, or the name of the exception if it has none."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
