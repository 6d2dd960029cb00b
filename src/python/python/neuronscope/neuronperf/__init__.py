"""NeuronPerf's public API over the simulated device, from its documentation.

Reports are plain dictionaries with NeuronPerf's keys; their values are those of ``neuronscope bench``.
"""

from __future__ import annotations

from ..missing import attribute_of
from . import cpu, model_index, mxnet, tensorflow, torch
from .evaluation import BaseEvalMetric, list_metrics, register_metric, register_metric_from_existing
from .reports import get_report_by_tag, get_reports, print_reports, write_csv, write_json
from .timer import Timer, timestamp_convert
from .verbosity import set_verbosity

__all__ = [
    "CSV_COLS",
    "PRINT_COLS",
    "BaseEvalMetric",
    "DummyModel",
    "Timer",
    "benchmark",
    "compile",
    "cpu",
    "get_report_by_tag",
    "get_reports",
    "list_metrics",
    "model_index",
    "mxnet",
    "print_reports",
    "register_metric",
    "register_metric_from_existing",
    "set_verbosity",
    "tensorflow",
    "timestamp_convert",
    "torch",
    "write_csv",
    "write_json",
]


class DummyModel:
    """A model that returns its inputs."""

    def __call__(self, *inputs):
        return inputs[0] if len(inputs) == 1 else inputs


def benchmark(*_args, load_fn=None, **_options):
    raise ValueError("benchmark needs a framework: call neuronperf.torch.benchmark, neuronperf.cpu.benchmark or another submodule's")


def compile(*_args, compile_fn=None, **_options):  # noqa: A001 (NeuronPerf's name)
    raise ValueError("compile needs a framework: call neuronperf.torch.compile or another submodule's")


_missing = attribute_of("neuronperf", __all__)


def __getattr__(name):
    from .reports import columns

    if name in ("CSV_COLS", "PRINT_COLS"):
        return columns(name)
    return _missing(name)
