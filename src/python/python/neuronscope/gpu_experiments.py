"""Experiments on a GPU: the records that the command line leaves with the error SKIP are measured where torch finds one."""

from __future__ import annotations

import importlib
import json
import os
import sys

from .clock import measured


def _value(args, name, default):
    """The value of a flag, as ``--name=value`` or ``--name value``, with dashes or underscores."""
    for at, arg in enumerate(args):
        flag, is_given, value = arg.partition("=")
        if flag.lstrip("-").replace("_", "-") == name and arg.startswith("--"):
            return value if is_given else args[at + 1]
    return default


def measure(args):
    """Measures what an ``experiment`` command skipped of a GPU, by the models of torchbench, and writes the records into their file again."""
    path = os.path.join(_value(args, "output-dirname", "./output"), _value(args, "output-basename", "results.jsonl"))
    torch = _torch_with_gpu() if os.path.isfile(path) and "--verify" not in args else None
    if torch is None:
        return
    with open(path, encoding="utf-8") as file:
        records = [json.loads(line) for line in file if line.strip()]
    for record in records:
        if record["experiment"]["accelerator"] == "cuda" and record["metrics"].get("error") == "SKIP":
            print(f"note: {record['model']['model_name']}: {_fill(record, torch)}", file=sys.stderr)
    with open(f"{path}.new", "w", encoding="utf-8") as file:
        file.writelines(json.dumps(record) + "\n" for record in records)
    os.replace(f"{path}.new", path)


def _torch_with_gpu():
    try:
        import torch
    except ImportError:
        return None
    return torch if torch.cuda.is_available() else None


def _fill(record, torch):
    """Measures a record, and says what became of it."""
    experiment, name = record["experiment"], record["model"]["model_name"]
    if experiment["xla"] is not None:
        return "PyTorch/XLA has no GPU since September 2025; the record keeps the error SKIP"
    try:
        model = importlib.import_module(f"torchbenchmark.models.{name}").Model
    except ImportError:
        return f"torchbench has no model {name} here (install pytorch/benchmark); the record keeps the error SKIP"
    try:
        benchmark = model(test=experiment["test"], device="cuda", batch_size=experiment["batch_size"])
        if experiment["dynamo"] is not None:
            benchmark.set_module(torch.compile(benchmark.get_module()[0], backend=experiment["dynamo"]))
        each = max(record["iterations_per_run"], 1)
        total = [_repeat(benchmark, each, torch) for _ in range(record["repeat"])]
    except Exception as error:  # noqa: BLE001 (whatever a model raises is its record's)
        record["metrics"] = {"error": f"{type(error).__name__}: {error}"}
        return record["metrics"]["error"].partition("\n")[0]
    experiment["batch_size"] = benchmark.batch_size
    experiment["accelerator_model"] = torch.cuda.get_device_name(0)
    record["metrics"] = {"total_time": total, "per_iter_time": [time / each for time in total]}
    return f"measured on {experiment['accelerator_model']}, {record['repeat']} repeats"


def _repeat(benchmark, iterations, torch):
    """Seconds of a repeat, until the GPU has its results."""
    torch.cuda.synchronize()
    began = measured()
    for _ in range(iterations):
        benchmark.invoke()
    torch.cuda.synchronize()
    return measured() - began
