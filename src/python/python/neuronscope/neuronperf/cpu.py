"""A model class, measured on this machine, its processor or its GPU: each copy is a process, each worker a thread."""

from __future__ import annotations

import concurrent.futures
import multiprocessing
import os
import platform
import sys
import threading
import time

from ..clock import measured
from .reports import Reports, get_reports
from .timer import Timer

_NAMES = ("env_setup", "setup", "load", "input", "warmup", "preprocess", "infer", "postprocess", "e2e", "worker")

# NeuronPerf's default is a minute; a warning follows for less.
_DURATION_S = 60


def benchmark(
    model_class,
    inputs,
    batch_sizes=None,
    duration=_DURATION_S,
    n_models=None,
    workers_per_model=None,
    env_setup_fn=None,
    setup_fn=None,
    preprocess_fn=None,
    postprocess_fn=None,
    multiprocess=True,
    return_timers=False,
    model_name=None,
    cost_per_hour=None,
    device_type="cpu",
    **_options,
):
    """Measures ``model_class()`` on ``inputs``, and returns the reports. The class must be at the top level of a module."""
    is_gpu = device_type in GPUS
    if is_gpu:
        _check_gpu(model_class)
    if isinstance(model_class, str):
        from ..api import benchmark as simulated

        return Reports(simulated(model_class, inputs, device_type="cpu", duration=duration, n_models=n_models, workers_per_model=workers_per_model).to_dicts())
    if not isinstance(model_class, type):
        raise TypeError(f"{type(model_class).__name__} is given as an object; give the class itself, which is made in another process without arguments")
    listed = lambda value, default: default if value is None else (list(value) if isinstance(value, (list, tuple, range)) else [value])  # noqa: E731
    inputs = inputs if isinstance(inputs, list) else [inputs]
    sizes = listed(batch_sizes, [1] * len(inputs))
    work = dict(env_setup=env_setup_fn, setup=setup_fn, preprocess=preprocess_fn, postprocess=postprocess_fn)
    results = []
    for entry, batch_size in zip(inputs, sizes):
        entry = entry if isinstance(entry, tuple) else (entry,)
        for workers in listed(workers_per_model, [1, 2]):
            for copies in listed(n_models, sorted({1, os.cpu_count() or 1})):
                config = _config(model_class, model_name, batch_size, copies, workers, duration or _DURATION_S, multiprocess)
                config["device_type"] = "cuda" if is_gpu else "cpu"
                results.append((config, _run(model_class, entry, config, work, copies, workers, duration or _DURATION_S, multiprocess)))
    if return_timers:
        return results
    reports = get_reports(results, cost_per_hour)
    for report in reports:
        report["source"] = "measured"
    return reports


# Names of a GPU, as NeuronPerf and torch have it.
GPUS = ("gpu", "cuda")


def _check_gpu(model_class):
    # Asks the driver, so that copies can be forked afterwards.
    os.environ.setdefault("PYTORCH_NVML_BASED_CUDA_CHECK", "1")
    try:
        import torch
    except ImportError:
        torch = None
    if torch is None or not torch.cuda.is_available():
        raise ValueError("torch finds no GPU here; leave device_type out for a simulated NeuronCore, or use cpu")
    if isinstance(model_class, str):
        raise TypeError(f"{model_class}: a GPU runs a model class; give the class, or use device_type='cpu'")


def _on_gpu(value, torch):
    """Tensors, also in tuples, on the GPU."""
    if isinstance(value, (tuple, list)):
        return type(value)(_on_gpu(one, torch) for one in value)
    return value.to("cuda") if hasattr(value, "to") else value


def _config(model_class, model_name, batch_size, copies, workers, duration, multiprocess):
    return {
        "model_filename": model_class.__name__,
        "model_name": model_name or model_class.__name__,
        "device_type": "cpu",
        "instance_type": platform.processor() or platform.machine(),
        "batch_size": batch_size,
        "n_models": copies,
        "workers_per_model": workers,
        "pipeline_size": 1,
        "n_devices": copies,
        "performance_level": None,
        "multiprocess": multiprocess,
        "multiinterpreter": False,
        "stats_interval": "0.5",
        "start_dts": time.strftime("%Y%m%d-%H%M%S"),
        "duration": str(duration),
        "stop_dts": time.strftime("%Y%m%d-%H%M%S", time.localtime(time.time() + duration)),
    }


def _run(model_class, entry, config, work, copies, workers, duration, multiprocess):
    began = measured()
    if multiprocess:
        # As in NeuronPerf, where the system allows it: the class needs no module that can be imported again.
        context = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
        with concurrent.futures.ProcessPoolExecutor(copies, context) as pool:
            each = [pool.submit(_copy, n, model_class, entry, config, work, workers, duration) for n in range(copies)]
            parts = [part.result() for part in each]
    else:
        parts = [_copy(n, model_class, entry, config, work, workers, duration) for n in range(copies)]
    timers = {name: [Timer(pairs) for part in parts for pairs in part["timers"][name]] for name in _NAMES}
    return {
        "workers_per_model": workers,
        "n_infs": sum(part["n_infs"] for part in parts),
        "status": "finished",
        "total_s": measured() - began,
        "timers": timers,
        "cpu_percents": [],
        "mem_percents": [],
    }


def _copy(number, model_class, entry, config, work, workers, duration):
    """One copy in its process."""
    if multiprocessing.parent_process() is not None and "torch" in sys.modules:
        # Threads of torch do not survive a fork; copies are what runs side by side here.
        sys.modules["torch"].set_num_threads(1)
    timers = {name: [Timer(clock=measured) for _ in range(workers if name in ("preprocess", "infer", "postprocess", "e2e", "worker") else 1)] for name in _NAMES}
    if work["env_setup"]:
        with timers["env_setup"][0]:
            work["env_setup"](number, config)
    with timers["load"][0]:
        model = model_class()
        if config["device_type"] == "cuda":
            model = model.to("cuda")
    if work["setup"]:
        with timers["setup"][0]:
            work["setup"](number, config, model)
    torch = sys.modules.get("torch")
    with timers["warmup"][0]:
        _call(model, _pre(work, entry), torch, config)
    lock, until = threading.Lock(), measured() + duration

    def worker(n):
        with timers["worker"][n]:
            while measured() < until:
                with timers["e2e"][n]:
                    with lock, timers["input"][0]:
                        given = entry
                    if work["preprocess"]:
                        with timers["preprocess"][n]:
                            given = _pre(work, given)
                    with timers["infer"][n]:
                        output = _call(model, given, torch, config)
                    if work["postprocess"]:
                        with timers["postprocess"][n]:
                            work["postprocess"](output)

    threads = [threading.Thread(target=worker, args=(n,)) for n in range(workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return {"n_infs": 1 + sum(len(t) for t in timers["e2e"]), "timers": {name: [t.pairs() for t in of] for name, of in timers.items()}}


def _pre(work, given):
    if not work["preprocess"]:
        return given
    made = work["preprocess"](*given)
    return made if isinstance(made, tuple) else (made,)


def _call(model, given, torch, config):
    if torch is None:
        return model(*given)
    with torch.no_grad():
        if config["device_type"] != "cuda":
            return model(*given)
        output = model(*_on_gpu(given, torch))
        # The call returns before the GPU has the result.
        torch.cuda.synchronize()
        return output
