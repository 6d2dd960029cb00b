"""Indexes of compiled models: a JSON file each. The functions are the commands of ``neuronscope index``."""

from __future__ import annotations

import json
import os
import tempfile

from ..calls import run


def create(filename, model_name=None, batch_size=1, pipeline_size=1, performance_level=3, compile_s=None, status="finished"):
    """An index with one entry, for an artifact that exists. Returns the index."""
    entry = {
        "filename": filename,
        "batch_size": batch_size,
        "pipeline_size": pipeline_size,
        "performance_level": performance_level,
        "compile_s": compile_s,
        "status": status,
    }
    return {"NeuronPerf_version": _version(), "model_name": model_name or filename, "model_configs": [entry]}


def _version():
    from .._core import __version__

    return f"neuronscope-{__version__}"


def load(filename):
    with open(filename, encoding="utf-8") as file:
        return json.load(file)


def save(index, filename=None, root_dir=None):
    """Writes an index and returns its file name, without ``root_dir``."""
    filename = filename or f"{index.get('model_name') or 'Model'}.json"
    filename = filename if filename.endswith(".json") else f"{filename}.json"
    path = os.path.join(root_dir or ".", filename)
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(index, file, indent=2)
    return filename


def with_file(index, work):
    """Gives ``work`` the path of an index, which may be one that is in memory."""
    if not isinstance(index, dict):
        return work(os.fspath(index))
    with tempfile.TemporaryDirectory() as folder:
        save(index, "index.json", folder)
        return work(os.path.join(folder, "index.json"))


def append(*indexes):
    """One index with the entries of all; exact duplicates are left out with a note."""
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for number, index in enumerate(indexes):
            paths.append(os.fspath(index) if not isinstance(index, dict) else os.path.join(folder, f"{number}.json"))
            if isinstance(index, dict):
                save(index, f"{number}.json", folder)
        target = os.path.join(folder, "all.json")
        run(["index", "append", *paths, "-o", target])
        return load(target)


def filter(index, **fields):  # noqa: A001 (NeuronPerf's name)
    """The entries with these values: ``filter(index, batch_size=[1, 2])``. ``None`` filters nothing."""
    fields = {name: value for name, value in fields.items() if value is not None}
    if not fields:
        return index if isinstance(index, dict) else load(index)
    of = lambda value: ",".join(map(str, value)) if isinstance(value, (list, tuple, set, range)) else str(value)  # noqa: E731
    words = [f"{name}={of(value)}" for name, value in fields.items()]
    return with_file(index, lambda path: json.loads(run(["index", "filter", path, *words])[0]))


def copy(old_index, new_index, new_dir):
    """Copies an index and its artifacts. Returns the new index's name."""
    run(["index", "copy", os.fspath(old_index), os.fspath(new_index), os.fspath(new_dir)])
    return new_index


def move(old_index, new_index, new_dir):
    """Moves an index and its artifacts. Returns the new index's name."""
    run(["index", "move", os.fspath(old_index), os.fspath(new_index), os.fspath(new_dir)])
    return new_index


def delete(filename):
    """Removes an index and its artifacts."""
    run(["index", "delete", os.fspath(filename)])
