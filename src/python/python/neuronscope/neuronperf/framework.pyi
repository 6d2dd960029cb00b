from typing import Any, Callable, Mapping, Optional, Union

_Work = Union[Callable[..., Any], str, None]

def compile(
    model: Any,
    inputs: Any = None,
    batch_sizes: Any = None,
    pipeline_sizes: Any = None,
    performance_levels: Any = None,
    models_dir: str = "models",
    model_name: Optional[str] = None,
    filename: Optional[str] = None,
    compiler_args: Optional[Mapping[str, Any]] = None,
    verbosity: Optional[int] = None,
    **options: Any,
) -> str: ...
def benchmark(
    model_filename: Any,
    inputs: Any = None,
    batch_sizes: Any = None,
    duration: Optional[float] = None,
    n_models: Any = None,
    pipeline_sizes: Any = None,
    performance_levels: Any = None,
    workers_per_model: Any = None,
    env_setup_fn: _Work = None,
    setup_fn: _Work = None,
    preprocess_fn: _Work = None,
    postprocess_fn: _Work = None,
    multiprocess: bool = True,
    multiinterpreter: bool = False,
    return_timers: bool = False,
    stats_interval: Optional[float] = None,
    device_type: str = "neuron",
    cost_per_hour: Optional[float] = None,
    model_name: Optional[str] = None,
    verbosity: Optional[int] = None,
    loop_dataset: bool = False,
    eval_metrics: Any = None,
    eval_target_col: Any = None,
    **options: Any,
) -> list[Any]: ...
