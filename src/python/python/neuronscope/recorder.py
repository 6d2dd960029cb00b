"""Records a training step on the lazy device: forward, backward and update become one program.

The numbers are torch's own, and of a custom operator its kernel's. The program gives the time of the step on the device.
"""

from __future__ import annotations

import operator

import torch
from torch.utils import _pytree
from torch.utils._python_dispatch import TorchDispatchMode

from . import clock, kernels
from .device import Program
from .lazy import LazyTensor


def _functional(function):
    """The operator without its writing in place."""
    name = function._schema.name.split("::")[1]
    packet = getattr(torch.ops.aten, name.removesuffix("_"))
    return getattr(packet, function._overloadname)


class Recorder(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self._graph = torch.fx.Graph()
        self._module = torch.nn.Module()
        # Tensors by identity; they are kept, so that no other one gets it.
        self._nodes, self._kept = {}, []
        self._inputs, self._state, self._written = [], {}, {}
        self._loss = None

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        plain = lambda x: x.plain() if isinstance(x, LazyTensor) else x  # noqa: E731
        args, kwargs = _pytree.tree_map(plain, (args, kwargs or {}))
        is_kernel = kernels.is_kernel(function._schema.name)
        if function.namespace != "aten" and not is_kernel:
            return function(*args, **kwargs)
        node_args, node_kwargs = _pytree.tree_map(self._node_of, (args, kwargs))
        is_written = function._schema.is_mutable
        node = self._graph.call_function(_functional(function) if is_written else function, node_args, node_kwargs)
        # Of a kernel, torch knows the shape of the result only.
        results = kernels.values(function._schema.name, args) if is_kernel else function(*args, **kwargs)
        if isinstance(results, torch.Tensor):
            self._keep(results, node)
            if is_written:
                self._written[id(results)] = node
        else:
            for n, result in enumerate(results if isinstance(results, (tuple, list)) else ()):
                if isinstance(result, torch.Tensor):
                    self._keep(result, self._graph.call_function(operator.getitem, (node, n)))
        return results

    def _keep(self, tensor, node):
        self._nodes[id(tensor)] = node
        self._kept.append(tensor)
        if self._loss is None and node.op == "call_function" and tensor.dim() == 0 and tensor.is_floating_point():
            self._loss = node

    def _node_of(self, value):
        """What the step reads: an input if it was sent to the device, else a weight, which is there already."""
        if not isinstance(value, torch.Tensor):
            return value
        if id(value) not in self._nodes:
            if getattr(value, "_neuronscope_was_sent", False):
                with self._graph.inserting_before(next(iter(self._graph.nodes), None)):
                    node = self._graph.placeholder(f"in{len(self._inputs)}")
                # Placeholders stand in front of each other: the last one is the first argument.
                self._inputs.insert(0, value.detach())
            else:
                name = f"w{len(self._state)}"
                self._module.register_buffer(name, value.detach().clone())
                node = self._graph.get_attr(name)
                self._state[id(value)] = node
            self._keep(value, node)
        return self._nodes[id(value)]

    def program(self, programs):
        """The program of what was recorded, and its inputs; ``programs`` has those of earlier steps. ``None`` if nothing was."""
        if self._loss is None:
            return None, ()
        for tensor, node in self._written.items():
            if tensor in self._state:
                self._graph.call_function(torch.ops.aten.copy_.default, (self._state[tensor], node))
        self._graph.output((self._loss,))
        key = (str(self._graph), tuple((tuple(x.shape), x.dtype) for x in self._inputs))
        if key not in programs:
            with clock.pause(), torch.no_grad():
                module = torch.fx.GraphModule(self._module, self._graph, "TrainingStep")
                programs[key] = Program.of_module(module, tuple(self._inputs), "mark_step", decompose=True)
        return programs[key], tuple(self._inputs)
