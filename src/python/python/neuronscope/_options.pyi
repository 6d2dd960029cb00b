"""The options of each command. UPDATE_DOCS=1 pytest tests/test_types.py writes this file from the help of the commands."""

from os import PathLike
from typing import Any, Mapping, Optional, Protocol, Sequence, Union

from typing_extensions import TypedDict

class _Array(Protocol):
    def tolist(self) -> Any: ...

Switch = Optional[bool]
Value = Union[str, int, float, "PathLike[str]", _Array, "Sequence[Any]", Mapping[str, Any], None]

class BenchOptions(TypedDict, total=False):
    config: Value
    instance: Value
    batch_sizes: Value
    n_models: Value
    workers_per_model: Value
    pipeline_sizes: Value
    duration: Value
    max_inferences: Value
    seed: Value
    warmup_inferences: Value
    jitter: Value
    shared_overhead: Value
    performance_levels: Value
    auto_cast: Value
    auto_cast_type: Value
    optlevel: Value
    lnc: Value
    model_name: Value
    cost_per_hour: Value
    device_type: Value
    sdk_generation: Value
    workflow: Value
    preprocess: Value
    postprocess: Value
    env_setup_ms: Value
    setup_ms: Value
    dataset: Value
    duration_accounting: Value
    multiprocess: Value
    multiinterpreter: Value
    loop_dataset: Switch
    stats_interval: Value
    scenario: Value
    min_duration: Value
    min_queries: Value
    latency_bound_ms: Value
    target_qps: Value
    samples_per_query: Value
    dim: Value
    assume: Value
    training: Switch
    optimizer: Value
    accumulate: Value
    eval_metrics: Value
    eval_target_col: Value
    device_ms: Value
    host_ms: Value
    transfer_ms: Value
    input_ms: Value
    load_ms: Value
    warmup_ms: Value
    csv: Switch
    csv_file: Value
    json_file: Value
    html: Value
    live: Value
    json_format: Value
    cols: Value
    sort_by: Value
    reverse: Switch
    report_verbosity: Value
    return_timers: Value
    resume: Value
    trace: Value
    trace_seconds: Value
    trace_export: Value

class ProfileOptions(TypedDict, total=False):
    batch_size: Value
    workflow: Value
    instance: Value
    seed: Value
    auto_cast: Value
    auto_cast_type: Value
    optlevel: Value
    lnc: Value
    compiler_workdir: Value
    dim: Value
    assume: Value
    training: Switch
    optimizer: Value
    accumulate: Value
    port: Value
    profile_type: Value
    ms_duration: Value
    traced_only: Value
    summary: Switch
    outputs: Switch
    verbosity: Value
    html: Value
    live: Value
    output: Value
    export: Value
    run_date: Value

class CompareOptions(TypedDict, total=False):
    base: Value
    by: Value
    total: Switch
    per_step: Switch
    level: Value
    csv: Switch
    top: Value

class InspectOptions(TypedDict, total=False):
    dim: Value
    assume: Value
    instance: Value
    beside: Value
    batch_sizes: Value
    batch: Value
    view: Value
    graph: Value
    expect: Value
    tolerance: Value

class NumericsOptions(TypedDict, total=False):
    expect: Value
    results: Value
    instance: Value
    batch_size: Value
    rounding: Value
    tolerance: Value
    seed: Value
    eval_metrics: Value
    eval_target_col: Value
    answers: Switch
    auto_cast: Value
    auto_cast_type: Value
    optlevel: Value
    lnc: Value
    dataset: Value
    html: Value
    live: Value
    dim: Value
    assume: Value

class CustomopOptions(TypedDict, total=False):
    multicore: Value
    shape: Value
    cores: Value
    dtype: Value
    set: Value
    layers: Value
    batch: Value
    workload: Value
    input: Value
    fill: Value
    seed: Value
    reference: Value
    list: Switch
    source: Switch
    output: Value
    export: Value
    html: Value
    live: Value
    print: Value

class NkiOptions(TypedDict, total=False):
    shapes: Value
    instance: Value
    set: Value
    check: Value
    flag: Value
    dtype: Value
    lnc: Value
    grid: Value
    without: Value
    resume: Value
    budget_us: Value
    output: Value
    export: Value
    list: Value
    report: Value
    html: Value
    live: Value

class GenerateOptions(TypedDict, total=False):
    instance: Value
    tp: Value
    batch: Value
    input: Value
    output: Value
    weights: Value
    lnc: Value
    route: Value
    ep: Value
    active: Value
    buckets: Value
    guesses: Value
    acceptance: Value
    max_ttft_ms: Value
    max_tpot_ms: Value
    request_rate: Value
    requests: Value
    prefill_chunk: Value
    model_config: Value
    html: Value
    live: Value
    trace: Value
    trace_export: Value

class FitOptions(TypedDict, total=False):
    batch: Value
    input: Value
    output: Value
    weights: Value
    lnc: Value
    route: Value
    max_ttft_ms: Value
    max_tpot_ms: Value
    model_config: Value
    html: Value
    live: Value

class ValidateOptions(TypedDict, total=False):
    calibrate: Switch
    html: Value
    live: Value

class OperatorsOptions(TypedDict, total=False):
    by: Value
    members: Value
    range: Value
    level: Value
    csv: Switch
    top: Value

class IdleOptions(TypedDict, total=False):
    range: Value
    csv: Switch
    top: Value

class CriticalPathOptions(TypedDict, total=False):
    range: Value
    csv: Switch
    top: Value
    instances: Switch

class FlameOptions(TypedDict, total=False):
    name: Value
    by_thread: Switch
    inverted: Switch
    modules: Switch
    instances: Switch
    range: Value
    level: Value
    nodes: Value

class CountersOptions(TypedDict, total=False):
    curve: Value
    points: Value
    range: Value
    csv: Switch
    top: Value
