"""compile and benchmark of the simulated device, which all frameworks share."""

from __future__ import annotations

import hashlib
import json
import os

from .. import host_work
from ..calls import flags, run
from ..device import compiler_flags
from ..model import about_saved, inputs_text, resolve, shape_of
from . import cpu, evaluation, model_index, verbosity as levels
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
    ending = os.path.splitext(named.text)[1]
    path = os.path.join(models_dir, f"{model_name}{ending}")
    if os.path.exists(path) and open(path, "rb").read() != named.files[named.text]:
        # An earlier index is of the model that is there.
        path = os.path.join(models_dir, f"{model_name}_{hashlib.sha256(named.files[named.text]).hexdigest()[:8]}{ending}")
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
    given = dict(locals())
    given.update(given.pop("options"))
    del given["model_filename"]
    if device_type == "cpu" or device_type in cpu.GPUS:
        arguments = dict(batch_sizes=batch_sizes, duration=duration, n_models=n_models, workers_per_model=workers_per_model)
        arguments |= dict(preprocess_fn=preprocess_fn, postprocess_fn=postprocess_fn, env_setup_fn=env_setup_fn, setup_fn=setup_fn)
        return cpu.benchmark(model_filename, inputs, return_timers=return_timers, model_name=model_name, multiprocess=multiprocess, device_type=device_type, **arguments)
    if device_type != "neuron":
        raise ValueError(f"the device_type {device_type!r} does not exist; choose neuron, cpu or gpu")
    entries = _saved_of_index(model_filename)
    if entries:
        asked = [batch_sizes] if isinstance(batch_sizes, int) else batch_sizes
        parts = [benchmark(entry["filename"], **{**given, "batch_sizes": None}) for entry in entries if asked is None or entry.get("batch_size") in asked]
        return Reports(report for part in parts for report in part)
    if isinstance(model_filename, dict):
        return model_index.with_file(model_filename, lambda path: benchmark(path, **given))
    options = {name: value for name, value in options.items() if name not in _UNUSED}
    text, files, _ = named = resolve(model_filename, inputs)
    about = about_saved(os.fspath(model_filename)) if isinstance(model_filename, (str, os.PathLike)) else None
    if about and preprocess_fn is None:
        _check_inputs(about, inputs)
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
    words |= host_work.flags_of(work, examples, _output_of(model_filename, about, examples) if postprocess_fn else None)
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


def _saved_of_index(index):
    """The entries of an index if all are traced modules that ``torch.jit.save`` wrote."""
    try:
        entries = (index if isinstance(index, dict) else model_index.load(index) if str(index).endswith(".json") else {})["model_configs"]
        return entries if all(about_saved(entry["filename"]) for entry in entries) else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        # What is wrong with an index is the command's to say.
        return None


def _check_inputs(about, inputs):
    """Refuses inputs of other shapes than those of a traced module."""
    if inputs is None or isinstance(inputs, str) or _is_dataset(inputs):
        return
    first = inputs[0] if isinstance(inputs, list) and inputs else inputs
    shapes = [shape_of(x) for x in (first if isinstance(first, tuple) else (first,))]
    wanted = ["x".join(map(str, shape)) or "1" for shape, _ in about["inputs"]]
    if shapes != wanted:
        raise ValueError(f"{about['name']} is traced for inputs of {', '.join(wanted)}, not of {', '.join(shapes)}; trace it again for these, or give a preprocess_fn that makes them")


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


def _output_of(model, about, inputs):
    """An output of a module or of a traced one, for the functions after it."""
    if about:
        import torch

        outputs = [torch.zeros(shape, dtype=getattr(torch, dtype.removeprefix("torch."))) for shape, dtype in about["outputs"]]
        return outputs[0] if len(outputs) == 1 else tuple(outputs)
    if inputs is None or not callable(model):
        return None
    first = inputs[0] if isinstance(inputs, list) else inputs
    return model(*first) if isinstance(first, tuple) else model(first)
