"""torch_xla.core.xla_model: a module on the XLA device is recorded when it is called, and runs when the step ends.

A module that is trained runs at once, with torch's numbers; the end of the step takes the device's time.
"""

from __future__ import annotations

import torch

from ... import clock
from ...device import Program, Results
from ...lazy import LazyTensor
from ...missing import attribute_of

__all__ = ["mark_step", "optimizer_step", "save", "wait_device_ops", "xla_device"]

_PLACE = "xla:1"
_programs = {}
_waiting = []
# Training steps: the recorder of the current one, and the programs of earlier ones.
_recorder = None
_steps = {}


def xla_device(n=None, devkind=None):
    """The simulated NeuronCore, for ``module.to`` and ``tensor.to``."""
    return torch.device("xla", n or 1)


def mark_step(wait=False):
    """Runs what was recorded since the last step."""
    global _recorder
    for call in _waiting:
        call.run()
    _waiting.clear()
    if _recorder is not None:
        recorder, _recorder = _recorder, None
        recorder.__exit__(None, None, None)
        program, inputs = recorder.program(_steps)
        if program is not None:
            program.execute(inputs)


def _begin_recording():
    global _recorder
    if _recorder is None:
        from ...recorder import Recorder

        _recorder = Recorder()
        _recorder.__enter__()


def wait_device_ops(devices=()):
    mark_step()


def optimizer_step(optimizer, barrier=False, optimizer_args=None):
    """Updates the weights; ``barrier`` ends the step."""
    loss = optimizer.step(**(optimizer_args or {}))
    if barrier:
        mark_step()
    return loss


def save(data, file_or_path, master_only=True, global_master=False):
    """``torch.save`` of tensors of the host."""
    mark_step()
    torch.save(data, file_or_path)


class _Call:
    """A module and its inputs, which run at the end of the step or when a result is looked at."""

    def __init__(self, module, inputs):
        self._key = (id(module), tuple((tuple(x.shape), x.dtype) for x in inputs))
        self._is_done = False
        self.inputs = inputs
        if self._key not in _programs:
            # The module is kept, so that no other one gets its id.
            _programs[self._key] = (module, Program.of_module(module, inputs, "mark_step"))
        self.program = _programs[self._key][1]
        self.results = Results(self.program, inputs)

    def run(self):
        if not self._is_done:
            self._is_done = True
            self.program.execute(self.inputs)


def _on_device(device):
    return isinstance(device, torch.device) and device.type == "xla" or isinstance(device, str) and device.startswith("xla")


def _names_device(args, kwargs):
    return any(map(_on_device, args)) or _on_device(kwargs.get("device"))


def _install():
    """Teaches modules and tensors the device; torch itself has no code for it."""
    tensor_to, module_to, module_call = torch.Tensor.to, torch.nn.Module.to, torch.nn.Module.__call__

    def tensor_to_device(self, *args, **kwargs):
        if not _names_device(args, kwargs):
            return tensor_to(self.plain() if isinstance(self, LazyTensor) else self, *args, **kwargs)
        if isinstance(self, LazyTensor):
            return self
        sent = self.detach().clone()
        sent._neuronscope_was_sent = True
        return LazyTensor.holding(sent, _PLACE)

    def module_to_device(self, *args, **kwargs):
        if not _names_device(args, kwargs):
            return module_to(self, *args, **kwargs)
        self.__dict__["_neuronscope_on_device"] = True
        return self

    def call(self, *args, **kwargs):
        if not self.__dict__.get("_neuronscope_on_device") or kwargs or not any(isinstance(x, LazyTensor) for x in args):
            return module_call(self, *args, **kwargs)
        if self.training and torch.is_grad_enabled() and any(p.requires_grad for p in self.parameters()):
            # A training step runs as it is written, and its operators are recorded until the step ends.
            _begin_recording()
            return module_call(self, *(x.plain() if isinstance(x, LazyTensor) else x for x in args))
        with clock.pause():
            recorded = _Call(self, tuple(x.plain() if isinstance(x, LazyTensor) else x for x in args))
        _waiting.append(recorded)
        return recorded.results.tensors(_PLACE)

    torch.Tensor.to, torch.nn.Module.to, torch.nn.Module.__call__ = tensor_to_device, module_to_device, call


# A script may name the device "xla" without asking for it.
_install()

__getattr__ = attribute_of("torch_xla.core.xla_model", __all__)
