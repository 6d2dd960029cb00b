"""Programs on the simulated device, for torch_neuronx and torch_xla. This is the only part, with theirs, that imports torch."""

from __future__ import annotations

import contextlib
import io
import json
import os
import zipfile

import numpy

from . import clock
from ._core import Error, Shell
from .calls import run, say
from .model import ABOUT, Named, exported, kernels_of, written


class Settings:
    """What ``python -m neuronscope`` chose."""

    values = "device"
    instance = "trn1.2xlarge"


settings = Settings()

# Programs that ran while a profiler looks.
watchers = []


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


class Program:
    """A module that is compiled for the device, with its file in memory."""

    def __init__(self, name, data, about, workflow, sources=None):
        self.name, self.data, self.about, self.workflow = name, data, about, workflow
        # Files of custom operators, by name; `about["kernels"]` says which operator has which.
        self.sources = sources or {}
        self._shell = Shell()
        self._step = None
        self._is_ahead = False
        self._said = set()

    @classmethod
    def of_module(cls, module, inputs, workflow, compiler_args=None, decompose=False):
        from torch.utils import _pytree

        inputs = tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)
        name = f"{type(module).__name__}.pt2"
        with clock.pause():
            program = exported(module, inputs, decompose)
            data = written(program)
            values = {node.name: node.meta["val"] for node in program.graph.nodes if "val" in node.meta}
            outputs = [values[name] for name in program.graph_signature.user_outputs]
            kernels, sources = kernels_of(program)
        about = {
            "name": name,
            "inputs": [[list(x.shape), str(x.dtype)] for x in inputs],
            "outputs": [[list(y.shape), str(y.dtype)] for y in outputs],
            "spec": _pytree.treespec_dumps(program.call_spec.out_spec),
            "compiler_args": [compiler_args] if isinstance(compiler_args, str) else list(compiler_args or ()),
            "instance": settings.instance,
            "kernels": kernels,
        }
        return cls(name, data, about, workflow, sources)

    def named(self):
        """It as the command line names it."""
        return Named(self.name, {self.name: self.data, **self.sources}, self.about.get("kernels", {}))

    def _words(self, command):
        words = [command, f"--model={self.name}", f"--instance={self.about['instance']}", *self.named().assumed]
        return words + ([f"--workflow={self.workflow}"] if command == "profile" else [])

    def run(self, command, *args, files=None, wanted=(), on_line=None):
        with compiler_flags(self.about["compiler_args"]):
            return run([*self._words(command), *args], files={**self.named().files, **(files or {})}, wanted=wanted, shell=self._shell, on_line=on_line or self._say)

    def _say(self, line):
        if line not in self._said:
            self._said.add(line)
            say(line)

    @property
    def step(self):
        """Times of the device: ``modelled_compile_s``, ``modelled_load_ms``, and a step in milliseconds."""
        if self._step is None:
            self._step = json.loads(self.run("profile", "--json")[0])
        return self._step

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
        self._is_ahead = True
        for watcher in watchers:
            watcher.saw(self)
        return Results(self, inputs)

    def wait(self):
        """The end of the last execution."""
        if self._is_ahead:
            self._is_ahead = False
            step = self.step["step"]
            clock.advance_ms(step["waited_ms"] - step["ahead_ms"])

    def values(self, inputs):
        """The results as tensors."""
        import torch

        self.wait()
        if settings.values == "cpu":
            return self._values_of_torch(inputs)
        file = io.BytesIO()
        numpy.savez(file, **{f"in{n}": _array(x) for n, x in enumerate(inputs)})
        try:
            written = self.run("numerics", "--inputs=inputs.npz", "--results=results.npz", files={"inputs.npz": file.getvalue()}, wanted=["results.npz"])[1]
        except Error as error:
            self._say(f"note: {self.name}: the values are torch's own, without the casts of the device: {error}")
            return self._values_of_torch(inputs)
        with numpy.load(io.BytesIO(written["results.npz"])) as arrays:
            found = [torch.from_numpy(arrays[f"out{n}"].copy()) for n in range(len(arrays.files))]
        return [value.to(getattr(torch, dtype.removeprefix("torch."))) for value, (_, dtype) in zip(found, self.about["outputs"])]

    def _values_of_torch(self, inputs):
        import torch
        from torch.utils import _pytree

        with torch.no_grad(), clock.pause():
            return _pytree.tree_leaves(torch.export.load(io.BytesIO(self.data)).module()(*inputs))

    def save(self, file):
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr(ABOUT, json.dumps(self.about))
            archive.writestr(self.name, self.data)
            for name, source in self.sources.items():
                archive.writestr(name, source)

    @classmethod
    def read(cls, file, workflow="trace"):
        """A saved program; ``None`` if the file is something else."""
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
            return cls(about["name"], archive.read(about["name"]), about, workflow, sources)


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

    def value(self, n):
        if self._values is None:
            self._values = self._program.values(self._inputs)
        return self._values[n]

    def tensors(self, place=None):
        """The results as the module returns them, lazily."""
        from torch.utils import _pytree

        from .lazy import LazyTensor

        about = self._program.about
        leaves = [LazyTensor.of(shape, dtype, self, n, place) for n, (shape, dtype) in enumerate(about["outputs"])]
        return _pytree.tree_unflatten(leaves, _pytree.treespec_loads(about["spec"]))


# The inputs of the last call, their versions, and copies of them. It holds the inputs, so that no other tensor has their place in memory.
_LAST = ([], [], [])


def _copies(inputs):
    global _LAST
    inputs, versions = list(inputs), [x._version for x in inputs]
    are_last = len(inputs) == len(_LAST[0]) and all(a is b for a, b in zip(inputs, _LAST[0])) and versions == _LAST[1]
    if not are_last:
        _LAST = (inputs, versions, [x.detach().clone() for x in inputs])
    return _LAST[2]
