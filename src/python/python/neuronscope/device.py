"""Programs on the simulated device, for torch_neuronx and torch_xla. This is the only part, with theirs, that imports torch."""

from __future__ import annotations

import contextlib
import copy
import functools
import io
import itertools
import json
import os
import weakref
import zipfile

import numpy

from . import clock
from ._core import Error, Shell
from .calls import run, run_json, say
from .kernels import operators
from .missing import remark
from .model import ABOUT, Named, exported, kernels_of, written


class Settings:
    """What ``python -m neuronscope`` chose."""

    values = "device"
    instance = "trn1.2xlarge"


settings = Settings()

# Programs that ran while a profiler looks.
watchers = []

# How long each compilation and each execution took in nanoseconds, by the names of torch_xla's metrics.
took = {"CompileTime": [], "ExecuteTime": []}

# Seconds that the compilations of steps take, and how many steps a script with fixed sizes does not have.
_compiled, _MANY = [], 20

# Programs whose last execution nobody has waited for.
_ahead = []


def wait():
    """The end of all executions."""
    for program in list(_ahead):
        program.wait()


@functools.lru_cache(maxsize=1)
def known_operators():
    """The operators of torch whose meaning and cost the reader of exported programs knows."""
    return {f"aten::{row['operator']}" for row in run_json(["operators-supported", "--format=pt2"])}


@contextlib.contextmanager
def compiler_flags(args):
    """``compiler_args`` of a call, beside those of the environment."""
    words = [args] if isinstance(args, str) else list(args or ())
    before = os.environ.get("NEURON_CC_FLAGS")
    os.environ["NEURON_CC_FLAGS"] = " ".join(filter(None, [before, *words]))
    try:
        yield
    finally:
        if before is None:
            del os.environ["NEURON_CC_FLAGS"]
        else:
            os.environ["NEURON_CC_FLAGS"] = before


# Norms that count their inputs while they train, which their schemas do not say: the places of the average and of the flag.
_COUNTING = {"aten::batch_norm": (3, 5), "aten::instance_norm": (3, 5)}


# What turns the draws of an operator off, by the names of its parameters.
_OFF = {"train": False, "training": False, "p": 0, "dropout": 0, "dropout_p": 0}


def _given(node):
    """The arguments of an operator by their names."""
    parameters = node.target._schema.arguments
    return {one.name: one.default_value for one in parameters if one.has_default_value()} | {one.name: value for one, value in zip(parameters, node.args)} | node.kwargs


def _draws(node):
    """Whether an operator draws random numbers."""
    import torch

    return torch.Tag.nondeterministic_seeded in getattr(node.target, "tags", ()) and not any(name in _OFF and value == _OFF[name] for name, value in _given(node).items())


def _changes(node):
    """Whether an operator writes to a weight, a buffer or an input, or to a view of one."""
    schema = getattr(node.target, "_schema", None)
    if schema is None:
        return False
    if schema.name in _COUNTING:
        average, flag = _COUNTING[schema.name]
        return node.args[average] is not None and bool(node.args[flag])
    given = _given(node)
    return any(_origin(given.get(one.name)).op == "placeholder" for one in schema.arguments if one.alias_info is not None and one.alias_info.is_write and hasattr(given.get(one.name), "op"))


def _origin(node):
    """What a node is a view of, or has written to."""
    while node.op == "call_function" and getattr(node.target, "_schema", None) is not None:
        shared = next((n for n, one in enumerate(node.target._schema.arguments) if one.alias_info is not None), None)
        if shared is None or shared >= len(node.args) or not hasattr(node.args[shared], "op"):
            break
        node = node.args[shared]
    return node


class _File:
    """What is known of a program's file, which programs of the same file share: one that is traced, and one that is loaded."""

    def __init__(self, step=None):
        self.shell, self.step = Shell(), step
        # Whether the device has computed values before, what torch has exported, and the module of that.
        self.has_values, self.exported, self.module = True, None, None


_files = weakref.WeakValueDictionary()


class Program:
    """A module that is compiled for the device, with its file in memory."""

    def __init__(self, name, data, about, workflow, sources=None):
        self.name, self.data, self.about, self.workflow = name, data, about, workflow
        # Files of custom operators, by name; `about["kernels"]` says which operator has which.
        self.sources = sources or {}
        self._file = _files.setdefault((name, data, tuple(self.sources.items()), tuple(about["compiler_args"]), os.environ.get("NEURON_CC_FLAGS"), about["instance"], workflow), _File())
        self._said = set()
        # How the results are put together, and whether all sizes are known.
        self.result, self.is_fixed = None, True
        # Whether this process has compiled it, and read it from no file.
        self.is_new = False
        # The inputs and values of the last execution.
        self._last = ([], [])

    @classmethod
    def of_module(cls, module, inputs, workflow, compiler_args=None, decompose=False, name=None, named=None, has_numbers=True, evaluates=True):
        """``has_numbers``: whether somebody may look at its results. ``evaluates``: whether it is taken in ``eval`` mode."""
        import torch
        from torch.utils import _pytree

        inputs = tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)
        name = name or f"{type(module).__name__}.pt2"
        with clock.pause():
            program = exported(module, inputs, decompose, named, evaluates=evaluates)
            data = written(program, has_numbers)
            values = {node.name: node.meta["val"] for node in program.graph.nodes if "val" in node.meta}
            results = [spec.arg for spec in program.graph_signature.output_specs if spec.kind.name in ("USER_OUTPUT", "LOSS_OUTPUT")]
            outputs = [values[arg.name] for arg in results if not hasattr(arg, "value")]
            is_fixed = all(isinstance(n, int) for x in values.values() if isinstance(x, torch.Tensor) for n in x.shape)
            kernels, sources = kernels_of(program)
            unknown = sorted(set(operators(program)) - known_operators() - set(kernels))
        about = {
            "name": name,
            "inputs": [[list(x.shape), str(x.dtype)] for x in _pytree.tree_leaves((inputs, named)) if hasattr(x, "shape")],
            # Results that are no tensors: None, numbers.
            "fixed": [[arg.value] if hasattr(arg, "value") else None for arg in results],
            "outputs": [[list(y.shape), str(y.dtype)] for y in outputs],
            "compiler_args": [compiler_args] if isinstance(compiler_args, str) else list(compiler_args or ()),
            "instance": settings.instance,
            "kernels": kernels,
            "unknown": unknown,
            # Whether the same inputs give the same values: it draws no random numbers and changes no state.
            "repeats": not (program.graph_signature.buffers_to_mutate or any(_draws(node) or _changes(node) for node in program.graph.nodes)),
        }
        made = cls(name, data, about, workflow, sources)
        made.result, made.is_fixed, made.is_new = program.call_spec.out_spec, is_fixed, True
        if settings.values == "cpu" and has_numbers and about["repeats"]:
            # The script's module may get other weights.
            program._state_dict = copy.deepcopy(program.state_dict)
            made._file.exported = program
        return made

    def put_together(self, tensors):
        """The results as the module returns them."""
        from torch.utils import _pytree

        tensors = iter(tensors)
        fixed = self.about.get("fixed") or [None] * len(self.about["outputs"])
        return _pytree.tree_unflatten([next(tensors) if one is None else one[0] for one in fixed], self.result)

    def named(self):
        """It as the command line names it."""
        return Named(self.name, {self.name: self.data, **self.sources}, self.about.get("kernels", {}))

    @contextlib.contextmanager
    def called(self, n):
        """Another name for a while, after ``n`` programs of its own."""
        kept = self.name
        self.name = f"{kept.removesuffix('.pt2')}_{n + 1}.pt2" if n else kept
        try:
            yield
        finally:
            self.name = kept

    def _words(self, command):
        words = [command, f"--model={self.name}", f"--instance={self.about['instance']}", *self.named().assumed]
        return words + ([f"--workflow={self.workflow}"] if command == "profile" else [])

    def run(self, command, *args, files=None, wanted=(), on_line=None):
        with compiler_flags(self.about["compiler_args"]):
            return run([*self._words(command), *args], files={**self.named().files, **(files or {})}, wanted=wanted, shell=self._file.shell, on_line=on_line or self._say)

    def _say(self, line):
        # That weights change is what a step is for.
        is_known = self.workflow == "mark_step" and line.endswith("their new values follow the results")
        if line not in self._said and not is_known:
            self._said.add(line)
            say(line)

    @property
    def step(self):
        """Times of the device: ``modelled_compile_s``, ``modelled_load_ms``, and a step in milliseconds."""
        if self._file.step is None:
            try:
                self._file.step = json.loads(self.run("profile", "--json")[0])
                if self.is_new:
                    self._count_compilation()
                if self._file.step.get("estimate", {}).get("unknown"):
                    remark(f"the device's cost of {', '.join(self.about.get('unknown', [])) or 'an operator'} is not known: the times of {self.name.removesuffix('.pt2')} are at least these")
            except Error as error:
                # What was refused once is not tried again.
                self._file.step = error
        if isinstance(self._file.step, Error):
            raise self._file.step
        return self._file.step

    def _count_compilation(self):
        took["CompileTime"].append(self._file.step["modelled_compile_s"] * 1e9)
        if self.workflow == "mark_step":
            _compiled.append(self._file.step["modelled_compile_s"])
            if len(_compiled) == _MANY:
                remark(
                    f"{_MANY} different steps so far: a NeuronCore compiles each of them, {sum(_compiled):.0f} s in all, which the clock leaves out; keep sizes the same, such as inputs filled up to one length and a cache of a fixed size"
                )

    def compile(self):
        clock.advance_ms(self.step["modelled_compile_s"] * 1e3)

    def load(self):
        clock.advance_ms(self.step["modelled_load_ms"])

    def check(self, inputs):
        """Refuses inputs of other shapes: the program is compiled for one."""
        given = [[list(x.shape), str(x.dtype)] for x in inputs]
        if given != self.about["inputs"]:
            of = lambda each: ", ".join(f"{dtype.removeprefix('torch.')}{shape}" for shape, dtype in each)  # noqa: E731
            raise ValueError(f"{self.name} is compiled for {of(self.about['inputs'])}, and it is called with {of(given)}; trace it again for these inputs")

    def execute(self, inputs):
        """One execution. The host goes on with the next call while the device works: it waits, and the results are computed, when somebody
        looks at them."""
        self.check(inputs)
        clock.advance_ms(self.step["step"]["ahead_ms"])
        took["ExecuteTime"].append(self.step["step"]["waited_ms"] * 1e6)
        if self not in _ahead:
            _ahead.append(self)
        for watcher in watchers:
            watcher.saw(self)
        return Results(self, inputs)

    def wait(self):
        """The end of the last execution."""
        if self in _ahead:
            _ahead.remove(self)
            step = self.step["step"]
            clock.advance_ms(step["waited_ms"] - step["ahead_ms"])

    def values(self, inputs):
        """The results as tensors. Those of the inputs of the last execution are known."""
        known, values = self._last
        if len(known) != len(inputs) or any(a is not b for a, b in zip(known, inputs)) or not self.about.get("repeats"):
            values = self._computed(inputs)
            self._last = (inputs, values)
        # A script may write to what it gets.
        return [value.clone() for value in values]

    def _computed(self, inputs):
        import torch

        if settings.values == "cpu" or not self._file.has_values:
            return self._values_of_torch(inputs)
        file = io.BytesIO()
        numpy.savez(file, **{f"in{n}": _array(x) for n, x in enumerate(inputs)})
        try:
            written = self.run("numerics", "--inputs=inputs.npz", "--results=results.npz", files={"inputs.npz": file.getvalue()}, wanted=["results.npz"])[1]
        except Error as error:
            # What was refused once is not tried again.
            self._file.has_values = False
            self._say(f"note: {self.name}: the values are torch's own, without the casts of the device: {error}")
            return self._values_of_torch(inputs)
        with numpy.load(io.BytesIO(written["results.npz"])) as arrays:
            found = [torch.from_numpy(arrays[f"out{n}"].copy()) for n in range(len(arrays.files))]
        return [value.to(getattr(torch, dtype.removeprefix("torch."))) for value, (_, dtype) in zip(found, self.about["outputs"])]

    def _values_of_torch(self, inputs):
        import torch
        from torch.utils import _pytree

        with torch.no_grad(), clock.pause():
            file = self._file
            if file.exported is None or not self.about.get("repeats"):
                file.exported, file.module = torch.export.load(io.BytesIO(self.data)), None
            file.module = file.module or file.exported.module()
            given, inputs = [spec.arg for spec in file.exported.graph_signature.input_specs if spec.kind.name == "USER_INPUT"], iter(inputs)
            args, kwargs = _pytree.tree_unflatten([arg.value if hasattr(arg, "value") else next(inputs) for arg in given], file.exported.call_spec.in_spec)
            return [x for x in _pytree.tree_leaves(file.module(*args, **kwargs)) if isinstance(x, torch.Tensor)]

    def replace_weights(self, weights):
        """Other numbers for weights by their names, without a new compilation."""
        import torch

        with clock.pause():
            program = torch.export.load(io.BytesIO(self.data))
            for name, value in weights.items():
                known = program.state_dict.get(name)
                if known is None:
                    raise Error(f"{self.name} has no weight {name}; it has {', '.join(list(program.state_dict)[:20])}")
                if known.shape != value.shape:
                    raise Error(f"{self.name} has a weight {name} of {list(known.shape)}, not of {list(value.shape)}; trace the module again for other shapes")
                with torch.no_grad():
                    known.copy_(value)
            self.data = written(program)
        # What is known of the program is of its old numbers, but for its times.
        self._file, self._last = _File(self._file.step), ([], [])

    def save(self, file):
        from torch.utils import _pytree

        about = {**self.about, "spec": _pytree.treespec_dumps(self.result)}
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr(ABOUT, json.dumps(about))
            archive.writestr(self.name, self.data)
            for name, source in self.sources.items():
                archive.writestr(name, source)

    def __reduce__(self):
        file = io.BytesIO()
        self.save(file)
        return _unpickled, (file.getvalue(), self.workflow)

    @classmethod
    def read(cls, file, workflow="trace"):
        """A saved program; ``None`` if the file is something else."""
        from torch.utils import _pytree

        at = file.tell() if hasattr(file, "tell") else None
        if not zipfile.is_zipfile(file):
            return None
        with zipfile.ZipFile(file) as archive:
            if ABOUT not in archive.namelist():
                if at is not None:
                    file.seek(at)
                return None
            about = json.loads(archive.read(ABOUT))
            sources = {name: archive.read(name) for name in archive.namelist() if name not in (ABOUT, about["name"])}
            program = cls(about["name"], archive.read(about["name"]), about, workflow, sources)
            program.result = _pytree.treespec_loads(about["spec"])
            return program


def _unpickled(data, workflow):
    return Program.read(io.BytesIO(data), workflow)


def _array(tensor):
    import torch

    tensor = tensor.detach()
    return (tensor.float() if tensor.dtype == torch.bfloat16 else tensor).numpy()


class Results:
    """The results of one execution. They are computed once, when one of them is looked at."""

    def __init__(self, program, inputs):
        self._program = program
        # A script may write to its inputs after the call; the last copy serves as long as it does not.
        self._inputs = _copies(inputs)
        self._values = None

    def value(self, n, waits=True):
        if waits:
            self._program.wait()
        if self._values is None:
            with clock.pause():
                self._values = self._program.values(self._inputs)
        return self._values[n]

    def tensors(self):
        """The results as the module returns them, lazily."""
        from .lazy import LazyTensor

        leaves = [LazyTensor.of(shape, dtype, self, n) for n, (shape, dtype) in enumerate(self._program.about["outputs"])]
        return self._program.put_together(leaves)


class Computed:
    """Results that the processor has computed."""

    def __init__(self, values):
        self._values = values

    def value(self, n, waits=True):
        return self._values[n]


_LOOKS = itertools.count()


def version(tensor):
    """Counts the writes to a tensor. One of inference mode does not count its own, so each look finds another version."""
    return ("look", next(_LOOKS)) if tensor.is_inference() else tensor._version


# The inputs of the last call, their versions, and copies of them. It holds the inputs, so that no other tensor has their place in memory.
_LAST = ([], [], [])


def _copies(inputs):
    global _LAST
    inputs, versions = list(inputs), [version(x) for x in inputs]
    are_last = len(inputs) == len(_LAST[0]) and all(a is b for a, b in zip(inputs, _LAST[0])) and versions == _LAST[1]
    # Whoever has the memory of a tensor beside torch, as numpy, writes to it without a version.
    are_last = are_last and all(x.untyped_storage().resizable() or x.equal(was) for x, was in zip(inputs, _LAST[2]))
    if not are_last:
        _LAST = (inputs, versions, [x.detach().clone() for x in inputs])
    return _LAST[2]
