"""torch_neuronx on the simulated device, from its documentation."""

from __future__ import annotations

import torch

from ..device import Program
from ..missing import attribute_of
from . import experimental, xla_impl

__all__ = ["experimental", "trace", "xla_impl"]


class TracedModule(torch.nn.Module):
    """A module that is compiled for a NeuronCore. It is called like the module, on inputs of the same shapes."""

    def __init__(self, program):
        super().__init__()
        self.program = program
        self._is_loaded = False

    def load(self):
        """Puts the program on the device, which the first call does otherwise."""
        if not self._is_loaded:
            self._is_loaded = True
            self.program.load()

    def forward(self, *inputs):
        self.load()
        return self.program.execute(inputs).tensors()

    def __neuronscope_file__(self):
        return self.program.named()

    def save(self, file):
        self.program.save(file)


def trace(func, example_inputs, *_args, compiler_workdir=None, compiler_args=None, **_options):
    """Compiles a module for the device. ``compiler_args`` are flags of the compiler; nothing is written to ``compiler_workdir``."""
    program = Program.of_module(func, example_inputs, "trace", compiler_args)
    program.compile()
    return TracedModule(program)


_save, _load = torch.jit.save, torch.jit.load


def _save_traced(m, f, *args, **kwargs):
    return m.save(f) if isinstance(m, TracedModule) else _save(m, f, *args, **kwargs)


def _load_traced(f, *args, **kwargs):
    program = Program.read(f)
    if program is None:
        return _load(f, *args, **kwargs)
    module = TracedModule(program)
    module.load()
    return module


# The real package teaches torch.jit its modules as well.
torch.jit.save, torch.jit.load = _save_traced, _load_traced

__getattr__ = attribute_of("torch_neuronx", __all__)
