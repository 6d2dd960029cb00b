"""Libraries of custom operators: kernels of the GPSIMD processors, as torch operators.

A kernel runs on the simulated device only, as the real one does: inside of a module on the device.
"""

from __future__ import annotations

import io
import json
import os
import re
import zipfile

from ._core import Error
from .calls import run, shared_shell

# What a library's file says of itself; its other members are the sources.
ABOUT = "library.json"

_LIBRARY = re.compile(r"NEURON_LIBRARY\s*\(\s*(\w+)\s*,\s*(\w+)\s*\)")
_FUNCTION = r"\b{module}\s*\.\s*def\s*\(\s*\"(\w+)\"\s*,\s*&\s*\w+\s*,\s*\"(\w+)\"\s*\)"

# Libraries by the names of their operators, `my_ops::relu_forward`, and torch's definitions, which last as long as their objects.
_loaded, _definitions = {}, {}


class Library:
    """A kernel's source with the operators that its file of shape functions registers: each is an attribute that is called."""

    def __init__(self, name, kernel, shape, multicore=False):
        """``kernel`` and ``shape`` are the names and the texts of the two files."""
        self.name, self.kernel, self.shape, self.multicore = name, kernel, shape, multicore
        text = _without_comments(shape[1])
        found = _LIBRARY.search(text)
        if found is None:
            raise ValueError(f'{shape[0]} registers no operator; add NEURON_LIBRARY(my_ops, m) {{ m.def("relu_forward", &relu_fwd_shape, "relu_forward"); }}')
        self.namespace = found[1]
        self.functions = dict(re.findall(_FUNCTION.format(module=found[2]), text))

    @property
    def operators(self):
        return [f"{self.namespace}::{name}" for name in self.functions]

    def __getattr__(self, name):
        import torch

        if name.startswith("_") or name not in self.functions:
            raise AttributeError(f"library {self.name} has no operator {name}; it has {', '.join(self.functions)}")
        return getattr(getattr(torch.ops, self.namespace), name)

    def parameters(self, function):
        """The parameters of a kernel function, which are tensors."""
        kernel = self.functions[function]
        found = re.search(rf"\b{kernel}\s*\(([^)]*)\)\s*\{{", _without_comments(self.kernel[1]))
        if found is None:
            raise ValueError(f"{self.kernel[0]} has no function {kernel}, which {self.shape[0]} names; name one that it has in m.def")
        parameters = [parameter.strip() for parameter in found[1].split(",")]
        for parameter in parameters:
            if "Tensor" not in parameter:
                raise ValueError(f"{self.kernel[0]}: {kernel} takes {parameter or 'nothing'}; a kernel of an operator takes tensors only: write other values into the kernel")
        return parameters

    @property
    def has_gradient(self):
        """Whether one of its operators is the backward kernel, by the same word of its name as in ``customop --workload training``."""
        return any("backward" in kernel for kernel in self.functions.values())

    def save(self, path):
        about = {"name": self.name, "kernel": self.kernel[0], "shape": self.shape[0], "multicore": self.multicore}
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(ABOUT, json.dumps(about))
            for name, text in (self.kernel, self.shape):
                archive.writestr(name, text)

    @classmethod
    def read(cls, path):
        try:
            with zipfile.ZipFile(path) as archive:
                about = json.loads(archive.read(ABOUT))
                of = lambda which: (about[which], archive.read(about[which]).decode())  # noqa: E731
                return cls(about["name"], of("kernel"), of("shape"), about["multicore"])
        except FileNotFoundError:
            raise
        except (zipfile.BadZipFile, KeyError) as error:
            raise ValueError(f"{os.fspath(path)} is not a library of custom_op.load; run its build.py with python -m neuronscope") from error

    def files(self, operator):
        """The kernel of an operator as ``--assume`` names it, and the files for that."""
        name, files = self._source()
        return f"{name}:{self.functions[operator.partition('::')[2]]}", files

    def _source(self):
        name, text = self.kernel
        if not self.multicore:
            return name, {name: text.encode()}
        script = f"from torch_neuronx.xla_impl import custom_op\ncustom_op.load(name={self.name!r}, compute_srcs=[{name!r}], shape_srcs=[], multicore=True)\n"
        return f"{self.name}.build.py", {name: text.encode(), f"{self.name}.build.py": script.encode()}

    def register(self):
        """Makes its operators torch's: ``torch.ops.my_ops.relu_forward``."""
        import torch

        for function, operator in zip(self.functions, self.operators):
            tensors = ", ".join(f"Tensor x{n}" for n, _ in enumerate(self.parameters(function)))
            _loaded[operator] = self
            if operator in _definitions:
                continue
            definition = torch.library.Library(self.namespace, "FRAGMENT")
            definition.define(f"{function}({tensors}) -> Tensor")
            definition.impl(function, _on_host(operator), "CPU")
            torch.library.register_fake(operator, lambda x, *_: torch.empty_like(x), lib=definition)
            _definitions[operator] = definition
        return self


def _without_comments(text):
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL)


def _on_host(operator):
    def call(*_tensors):
        raise Error(f"{operator} is a kernel of the device: call it in a module that is on the device or traced")

    return call


def is_kernel(operator):
    """Whether a name of torch's, ``my_ops::relu_forward``, is an operator of a loaded library."""
    return operator in _loaded


def values(operator, tensors):
    """What the kernel of an operator computes for tensors of one shape: the program is one call of it."""
    import numpy
    import torch

    for x in tensors:
        if not x.is_floating_point():
            raise TypeError(f"{operator} is called with {str(x.dtype).removeprefix('torch.')}; a kernel in a module takes real numbers: convert the tensor with .float()")
    name, files = _loaded[operator].files(operator)
    arrays, shapes = io.BytesIO(), ["f32[" + ",".join(map(str, x.shape)) + "]" for x in tensors]
    numpy.savez(arrays, **{f"in{n}": x.detach().float().numpy() for n, x in enumerate(tensors)})
    parameters = [f"in{n} = {shape} parameter({n})" for n, shape in enumerate(shapes)]
    call = f'ROOT out = {shapes[0]} custom-call({", ".join(f"in{n}" for n, _ in enumerate(shapes))}), custom_call_target="{operator}"'
    program = "\n".join(["HloModule kernel", "", "ENTRY main {", *parameters, call, "}", ""])
    words = ["numerics", "--model=kernel.hlo", f"--assume={operator}={name}", "--auto-cast=none", "--inputs=inputs.npz", "--results=results.npz"]
    files = {**files, "kernel.hlo": program.encode(), "inputs.npz": arrays.getvalue()}
    written = run(words, files=files, wanted=["results.npz"], shell=shared_shell(), on_line=lambda _: None)[1]
    with numpy.load(io.BytesIO(written["results.npz"])) as found:
        return torch.from_numpy(found["out0"].copy()).to(tensors[0].dtype)


def operators(program):
    """The names of the operators that an exported program calls, once for each call; one that writes to its tensor has the name of the one that does not."""
    targets = (getattr(node.target, "_schema", None) for node in program.graph.nodes if node.op == "call_function")
    return [schema.name.removesuffix("_") if schema.is_mutable else schema.name for schema in targets if schema is not None]


def in_program(program):
    """The libraries whose operators an exported program calls, by operator."""
    return {name: _loaded[name] for name in sorted(set(operators(program))) if name in _loaded}
