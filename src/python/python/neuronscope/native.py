"""The device ``neuron`` of PyTorch itself (TorchNeuron), which a script has without an import: ``torch.device("neuron")``, ``torch.accelerator``.

Its operators run one by one. Here a call of a module and a step of an optimiser is recorded whole and timed as one program, as
``torch.compile(backend="neuron")`` makes it, so what the host takes for each operator is not in the times.
"""

from __future__ import annotations

import functools
import os
import re
import sys
import types

from .calls import say

# What a script of TorchNeuron writes, and no script of the others.
_MARKS = re.compile(rb"""['"]neuron(:\d+)?['"]|\btorch\.(accelerator|neuron)\b""")


# What a script for the device "xla" has; the name "neuron" means something else there.
_OTHERS = re.compile(rb"\b(torch_xla|neuronperf)\b")


def is_named_in(source):
    """Whether a script names the device."""
    return _MARKS.search(source) is not None and _OTHERS.search(source) is None


def install():
    """Teaches torch the name of the device. A script without torch goes on without it."""
    try:
        import torch
    except ImportError:
        return
    from torch.optim.optimizer import register_optimizer_step_post_hook

    from . import device, recorder
    from .torch_xla import runtime
    from .torch_xla.core import xla_model

    try:
        torch.utils.rename_privateuse1_backend("neuron")
    except RuntimeError:
        return
    say("note: operators on the device 'neuron' are timed as one program for each call of a module and each step of an optimiser, as torch.compile(backend=\"neuron\") makes it; the eager mode of TorchNeuron runs them one by one")
    recorder.PLACE = "neuron:0"
    place = torch.device("neuron:0")

    def synchronize(device=None):
        xla_model.mark_step(wait=True)

    settings = device.settings
    of_device = {
        "is_initialized": lambda: True,
        "device_count": runtime.global_runtime_device_count,
        "current_device": lambda: 0,
        "set_device": lambda device: None,
        "synchronize": synchronize,
        "empty_cache": lambda: None,
        "manual_seed": lambda seed: None,
        "manual_seed_all": lambda seed: None,
        "_is_in_bad_fork": lambda: False,
        "get_device_name": lambda device=None: f"NeuronCore of {settings.instance}",
    }
    folder = os.path.dirname(torch.__file__)
    module = types.ModuleType("torch.neuron")
    vars(module).update(of_device)
    module.is_available = _outside_of_torch(lambda: True, lambda: False, folder)
    sys.modules["torch.neuron"] = torch.neuron = module
    torch.Tensor.neuron = lambda self, device=None: self.to(place)
    torch.nn.Module.neuron = lambda self, device=None: self.to(place)
    for name, ours in {
        "is_available": lambda: True,
        "device_count": module.device_count,
        "current_accelerator": lambda check_available=False: torch.device("neuron"),
        "current_device_index": module.current_device,
        "current_device_idx": module.current_device,
        "set_device_index": module.set_device,
        "set_device_idx": module.set_device,
        "synchronize": synchronize,
        "empty_cache": module.empty_cache,
    }.items():
        setattr(torch.accelerator, name, _outside_of_torch(ours, getattr(torch.accelerator, name), folder))
    torch.nn.Module.__call__ = _ends_its_step(torch.nn.Module.__call__)
    # A step of an optimiser ends the program that begins with its forward pass.
    register_optimizer_step_post_hook(lambda *_: recorder.end_step())


def _outside_of_torch(ours, real, folder):
    """A function of torch.accelerator for scripts and packages. torch itself asks about streams and memory, which the device has not."""

    @functools.wraps(real)
    def ask(*args, **kwargs):
        of_torch = sys._getframe(1).f_code.co_filename.startswith(folder + os.sep)
        return (real if of_torch else ours)(*args, **kwargs)

    return ask


def _ends_its_step(call):
    """A call of a module by the script, which nobody has to end: it is one program, unless a gradient may follow."""
    from . import recorder

    @functools.wraps(call)
    def run(self, *args, **kwargs):
        import torch

        is_outer = self.__dict__.get("_neuronscope_on_device") and not recorder.is_inside() and not recorder.is_aside()
        results = call(self, *args, **kwargs)
        if is_outer:
            tensors = [x for x in torch.utils._pytree.tree_leaves(results) if isinstance(x, torch.Tensor)]
            if not any(x.requires_grad for x in tensors):
                recorder.end_step()
        return results

    return run
