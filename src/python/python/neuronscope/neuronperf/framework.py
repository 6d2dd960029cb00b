"""compile and benchmark of the simulated device, which all frameworks share."""

from __future__ import annotations

import json
import os

from .. import host_work
from ..calls import flags, run
from ..device import compiler_flags
from ..model import inputs_text, resolve
from . import cpu, evaluation, verbosity as levels
from .reports import Reports
from .timer import Timer

# Arguments that mean nothing on a simulated device.
_UNUSED = ("compile_fn", "load_fn", "dataset_loader_fn", "dataset_inputs", "dataloader_kwargs", "model_class_name", "model_class_file")


def compile(  # noqa: A001 (NeuronPerf's name)
    model,
    inputs=None,
    batch_sizes=None,
    pipeline_sizes=None,
    performance_levels=None,
    models_dir="models",
    model_name=None,
    filename=None,
    compiler_args=None,
    verbosity=None,
    **options,
):
    """Compiles a model for every size and level, and returns the name of the index.

    ``model`` is a name of the zoo, a model file, or a module, whose exported file is written to ``models_dir``.
    """
    options = {name: value for name, value in options.items() if name not in _UNUSED}
    is_named = isinstance(model, (str, os.PathLike))
    model_name = model_name or (None if is_named else type(model).__name__)
    path, kernels = (model, []) if is_named else _exported(model, inputs, models_dir, model_name)
    # A dictionary has flags of the command; words are those of neuronx-cc.
    is_words = not isinstance(compiler_args, (dict, type(None)))
    for flag, value in ({} if is_words else compiler_args or {}).items():
        options[flag.lstrip("-").replace("-", "_")] = value
    words = {
        "model": path,
        "batch_sizes": batch_sizes,
        "pipeline_sizes": pipeline_sizes,
        "performance_levels": performance_levels,
        "models_dir": models_dir,
        "model_name": model_name,
        "filename": filename,
        **options,
    }
    # The command prints the name of the index.
    with compiler_flags(compiler_args if is_words else ()):
        filename = run(["compile", *kernels, *flags(words)])[0].decode().strip()
    if levels.chosen(verbosity) > 0:
        print(filename)
    return filename


def _exported(model, inputs, models_dir, model_name):
    """A module as a file beside its artifacts, and the flags of its kernels. Inputs of several batch sizes leave its batch size open, where torch
    can export that; else it is that of the first."""
    has_batches = isinstance(inputs, list) and len(inputs) > 1 and all(isinstance(one, tuple) for one in inputs)
    # torch.export takes a size of 1 for a fixed one.
    first = max(inputs, key=lambda one: one[0].shape[0]) if has_batches else inputs[0] if isinstance(inputs, list) else inputs
    named = resolve(model, first, has_batches)
    os.makedirs(models_dir, exist_ok=True)
    path = os.path.join(models_dir, f"{model_name}{os.path.splitext(named.text)[1]}")
    for name, data in named.files.items():
        with open(path if name == named.text else os.path.join(models_dir, name), "wb") as file:
            file.write(data)
    beside = {operator: os.path.join(models_dir, kernel) for operator, kernel in named.kernels.items()}
    return path, named._replace(kernels=beside).assumed


def benchmark(
    model_filename,
    inputs=None,
    batch_sizes=None,
    duration=None,
    n_models=None,
    pipeline_sizes=None,
    performance_levels=None,
    workers_per_model=None,
    env_setup_fn=None,
    setup_fn=None,
    preprocess_fn=None,
    postprocess_fn=None,
    multiprocess=True,
    multiinterpreter=False,
    return_timers=False,
    stats_interval=None,
    device_type="neuron",
    cost_per_hour=None,
    model_name=None,
    verbosity=None,
    loop_dataset=False,
    eval_metrics=None,
    eval_target_col=None,
    **options,
):
    """Benchmarks an index, a model file or a model, and returns a report for each configuration; Ctrl-C returns those that are finished."""
    if device_type == "cpu" or device_type in cpu.GPUS:
        arguments = dict(batch_sizes=batch_sizes, duration=duration, n_models=n_models, workers_per_model=workers_per_model)
        arguments |= dict(preprocess_fn=preprocess_fn, postprocess_fn=postprocess_fn, env_setup_fn=env_setup_fn, setup_fn=setup_fn)
        return cpu.benchmark(model_filename, inputs, return_timers=return_timers, model_name=model_name, multiprocess=multiprocess, device_type=device_type, **arguments)
    options = {name: value for name, value in options.items() if name not in _UNUSED}
    text, files, _ = named = resolve(model_filename, inputs)
    level = levels.chosen(verbosity)
    work = dict(zip(host_work.NAMES, (preprocess_fn, postprocess_fn, env_setup_fn, setup_fn)))
    work = {name: function for name, function in work.items() if function is not None}
    words = {
        "batch_sizes": batch_sizes,
        "duration": duration,
        "n_models": n_models,
        "pipeline_sizes": pipeline_sizes,
        "performance_levels": performance_levels,
        "workers_per_model": workers_per_model,
        "multiprocess": multiprocess,
        "multiinterpreter": multiinterpreter,
        "stats_interval": stats_interval,
        "cost_per_hour": cost_per_hour,
        "model_name": model_name,
        "verbosity": level,
        **options,
    }
    if eval_metrics is not None:
        words |= {"eval_metrics": evaluation.names(eval_metrics), "eval_target_col": eval_target_col}
    examples = inputs
    if _is_dataset(inputs):
        examples = _first_record(inputs)
        words |= {"dataset": _dataset(inputs, files, eval_metrics is not None), "loop_dataset": loop_dataset or None}
    elif not (files or text.endswith(".json")):
        words["inputs"] = inputs_text(inputs)
    words |= host_work.flags_of(work, examples, _output_of(model_filename, examples) if postprocess_fn else None)
    model = [text, *_model_of_index(text)] if text.endswith(".json") else [f"--model={text}"]
    args = ["bench", *model, *named.assumed, *flags(words)]
    args += ["--return-timers=timers.json"] if return_timers else []
    # Metrics stand beside our own reports, which have more keys than NeuronPerf's.
    args += ["--json"] if eval_metrics is not None else ["--json", "--json-format=neuronperf"]
    wanted = ["timers.json"] if return_timers else []
    try:
        out, written = run(args, files=files, wanted=wanted)
    except KeyboardInterrupt as stopped:
        out, written = getattr(stopped, "partial", b""), {}
        if not out:
            raise
    if return_timers and "timers.json" in written:
        return _with_timers(json.loads(written["timers.json"]))
    found = json.loads(out)
    if eval_metrics is None:
        return Reports(found)
    asked = [eval_metrics] if isinstance(eval_metrics, str) else eval_metrics
    metrics = {name: found["eval_metrics"].get(known) for name, known in zip(asked, evaluation.names(asked))}
    return Reports({**report, **metrics} for report in found["reports"])


def _model_of_index(path):
    """The exported file that an index of :func:`compile` names, which is beside the artifacts."""
    try:
        with open(path, encoding="utf-8") as file:
            entries = json.load(file)["model_configs"]
        entry = next(entry for entry in entries if str(entry.get("model", "")).startswith("file:"))
    except (OSError, ValueError, KeyError, TypeError, StopIteration):
        # What is wrong with an index is the command's to say.
        return []
    name = entry["model"].removeprefix("file:").split("@")[0]
    beside = os.path.join(os.path.dirname(entry.get("filename") or ""), name)
    return [f"--model={beside}"] if os.path.exists(beside) else []


def _with_timers(results):
    for _, result in results:
        timers = result["timers"]
        for name, each in timers.items():
            timers[name] = [Timer(pairs) for pairs in each]
    return [(config, result) for config, result in results]


def _is_dataset(inputs):
    return hasattr(inputs, "__getitem__") and hasattr(inputs, "__len__") and not isinstance(inputs, (str, list, tuple, dict)) and not hasattr(inputs, "shape")


def _first_record(dataset):
    record = dataset[0]
    return (record,)


def _dataset(dataset, files, with_targets):
    """The dataset as the command line takes it: its length, or with targets its records as a CSV file in memory."""
    if not with_targets:
        return len(dataset)
    import numpy

    rows = []
    for record in (dataset[n] for n in range(len(dataset))):
        *values, target = record
        rows.append([*numpy.concatenate([numpy.asarray(v, dtype=float).ravel() for v in values]).tolist(), float(target)])
    head = ",".join([*(f"x{n}" for n in range(len(rows[0]) - 1)), "target"])
    files["dataset.csv"] = "\n".join([head, *(",".join(map(repr, row)) for row in rows)]).encode() + b"\n"
    return "dataset.csv"


def _output_of(model, inputs):
    """An output of a module, for the functions after it."""
    if inputs is None or not callable(model):
        return None
    first = inputs[0] if isinstance(inputs, list) else inputs
    return model(*first) if isinstance(first, tuple) else model(first)
