from typing import Any, Optional

from . import cpu as cpu, framework as framework, model_index as model_index, mxnet as mxnet, tensorflow as tensorflow, torch as torch
from .evaluation import BaseEvalMetric as BaseEvalMetric, list_metrics as list_metrics, register_metric as register_metric, register_metric_from_existing as register_metric_from_existing
from .reports import get_report_by_tag as get_report_by_tag, get_reports as get_reports, print_reports as print_reports, write_csv as write_csv, write_json as write_json
from .timer import Timer as Timer, timestamp_convert as timestamp_convert
from .verbosity import set_verbosity as set_verbosity

CSV_COLS: list[str]
PRINT_COLS: list[str]

class DummyModel:
    def __call__(self, *inputs: Any) -> Any: ...

def benchmark(*_args: Any, load_fn: Any = None, **_options: Any) -> Any: ...
def compile(*_args: Any, compile_fn: Any = None, **_options: Any) -> Any: ...
