from os import PathLike
from typing import IO, Any, Callable, Mapping, Optional, Sequence, Union

from . import neuronperf as neuronperf
from ._core import Error as Error, UsageError as UsageError, __version__ as __version__
from .calls import command as command
from .model import ModelError as ModelError
from .result import Profile, Record, Reports, Table

_Path = Union[str, "PathLike[str]"]
_Numbers = Union[int, Sequence[int], str, None]
_Work = Union[Callable[..., Any], str, None]

def benchmark(
    model: Any = "nn",
    inputs: Any = None,
    *,
    verbosity: int = 0,
    batch_sizes: _Numbers = None,
    n_models: _Numbers = None,
    workers_per_model: _Numbers = None,
    pipeline_sizes: _Numbers = None,
    performance_levels: _Numbers = None,
    duration: Optional[float] = None,
    instance: Optional[str] = None,
    preprocess_fn: _Work = None,
    postprocess_fn: _Work = None,
    env_setup_fn: _Work = None,
    setup_fn: _Work = None,
    **options: Any,
) -> Reports: ...

bench = benchmark

def profile(
    model: Any = "nn",
    inputs: Any = None,
    *,
    workflow: Optional[str] = None,
    instance: Optional[str] = None,
    batch_size: Optional[int] = None,
    seed: Optional[int] = None,
    **options: Any,
) -> Profile: ...
def open(*files: Union[_Path, bytes, IO[bytes], IO[str]]) -> Profile: ...
def compare(a: _Path, b: _Path, **options: Any) -> Record: ...
def inspect(model: Any, inputs: Any = None, *, instance: Optional[str] = None, **options: Any) -> Record: ...
def numerics(model: Any = "nn", inputs: Any = None, *, instance: Optional[str] = None, **options: Any) -> Record: ...
def customop(kernel: Union[_Path, Sequence[_Path]], **options: Any) -> Any: ...
def generate(model: Union[_Path, Mapping[str, Any]] = "llama-3-8b", **options: Any) -> Record: ...
def fit(model: Union[_Path, Mapping[str, Any]] = "llama-3-8b", **options: Any) -> Record: ...
def validate(file: _Path, **options: Any) -> Record: ...
def models() -> Table: ...
