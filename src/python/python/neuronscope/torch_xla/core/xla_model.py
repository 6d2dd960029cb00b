"""torch_xla.core.xla_model: what is done on the XLA device is recorded, and runs when the step ends."""

from __future__ import annotations

import functools
import os
import sys
import time

import torch
import torch.utils._device

from ... import device as _device
from ... import recorder
from ...lazy import LazyTensor
from ...missing import attribute_of, is_of_script, remark
from ...model import ModelError

__all__ = [
    "RateTracker",
    "add_step_closure",
    "all_gather",
    "all_reduce",
    "broadcast_master_param",
    "do_on_ordinals",
    "get_local_ordinal",
    "get_ordinal",
    "get_rng_state",
    "get_xla_supported_devices",
    "is_master_ordinal",
    "is_xla_tensor",
    "mark_step",
    "master_print",
    "mesh_reduce",
    "optimization_barrier_",
    "optimizer_step",
    "parse_xla_device",
    "reduce_gradients",
    "rendezvous",
    "save",
    "send_cpu_data_to_device",
    "set_replication",
    "set_rng_state",
    "unlazy",
    "wait_device_ops",
    "xla_device",
    "xla_device_hw",
    "xla_device_kind",
    "xla_real_devices",
    "xrt_world_size",
]

REDUCE_SUM, REDUCE_MUL, REDUCE_AND, REDUCE_OR, REDUCE_MIN, REDUCE_MAX = "sum", "mul", "and", "or", "min", "max"

_closures = []


def xla_device(n=None, devkind=None):
    """The simulated NeuronCore, for ``module.to`` and ``tensor.to``."""
    recorder.watch()
    return torch.device("xla", n or 1)


def xla_device_hw(device):
    return "NEURON"


def xla_device_kind(device=None):
    return "NC"


def optimization_barrier_(tensors):
    """The simulated compiler moves nothing over a step's operators."""


def get_xla_supported_devices(devkind=None, max_devices=None):
    return ["xla:1"]


def mark_step(wait=False, reset_scope=True):
    """Runs what was recorded since the last step."""
    recorder.end_step()
    closures, _closures[:] = list(_closures), []
    for closure, args in closures:
        closure(*args)
    if wait:
        _device.wait()


def wait_device_ops(devices=()):
    mark_step(wait=True)


def unlazy(tensors):
    mark_step(wait=True)


def add_step_closure(closure, args=(), run_async=False):
    """Calls a function at the end of the step."""
    _closures.append((closure, args))


def optimizer_step(optimizer, barrier=False, optimizer_args=None, groups=None, pin_layout=True):
    """Updates the weights; ``barrier`` ends the step."""
    loss = optimizer.step(**(optimizer_args or {}))
    if barrier:
        mark_step()
    return loss


# There is one process, so what all of them have is what it has.
def get_ordinal():
    return 0


get_local_ordinal = get_ordinal


def xrt_world_size():
    return 1


def is_master_ordinal(local=True):
    return True


def master_print(*args, fd=None, local=False, flush=False):
    import sys

    print(*args, file=fd or sys.stdout, flush=flush)


def rendezvous(tag, payload=b"", replicas=()):
    return [payload]


def mesh_reduce(tag, data, reduce_fn):
    return reduce_fn([data])


def all_reduce(reduce_type, inputs, scale=1.0, groups=None, pin_layout=True):
    _said_collective("all_reduce")
    if isinstance(inputs, torch.Tensor):
        return inputs if scale == 1.0 else inputs * scale
    if scale != 1.0:
        for tensor in inputs:
            tensor.mul_(scale)
    return None


def all_gather(value, dim=0, groups=None, output=None, pin_layout=True):
    _said_collective("all_gather")
    return value


def reduce_gradients(optimizer, groups=None, pin_layout=True):
    _said_collective("reduce_gradients")


def _fetch_gradients(optimizer):
    """The gradients of an optimiser's parameters, for packages that reduce them themselves."""
    return [p.grad for group in optimizer.param_groups for p in group["params"] if p.grad is not None]


def _said_collective(name):
    remark(f"xm.{name} takes no time: there is one process. How long several cores take says neuronscope generate --tp N, and docs/training.md what is modelled of training")


def send_cpu_data_to_device(data, device, input_sharding=None):
    from torch.utils import _pytree

    return _pytree.tree_map_only(torch.Tensor, lambda x: x.to(device), data)


def set_rng_state(seed, device=None):
    torch.manual_seed(seed)


def get_rng_state(device=None):
    return torch.initial_seed()


def is_xla_tensor(tensor):
    return recorder.is_on_device(tensor)


def xla_real_devices(devices=None):
    return ["NEURON:0"]


def parse_xla_device(device):
    return "NEURON", 0


def do_on_ordinals(target, data=(), ordinals=(0,)):
    return target(*data) if 0 in ordinals else None


def broadcast_master_param(model):
    """There is one process, which has the parameters."""


def set_replication(device, devices):
    """There is one device, which has what all of them have. accelerate asks for it, and then for the process, whose number only torchrun says."""
    os.environ.setdefault("LOCAL_RANK", "0")


class RateTracker:
    """How many samples a second a loop takes, on the script's clock."""

    def __init__(self, smooth_factor=None):
        self._begin = self._last = time.time()
        self._count = self._since = 0

    def add(self, count):
        self._count, self._since = self._count + count, self._since + count

    def rate(self):
        now = time.time()
        rate, self._last, self._since = self._since / max(now - self._last, 1e-9), now, 0
        return rate

    def global_rate(self):
        return self._count / max(time.time() - self._begin, 1e-9)


def save(data, file_or_path, master_only=True, global_master=False):
    """``torch.save`` of tensors of the host."""
    mark_step()
    torch.save(data, file_or_path)


def _maybe_convert_to_cpu(data, convert=True):
    """What packages that save by themselves ask: the data on the host."""
    from torch.utils import _pytree

    return _pytree.tree_map_only(torch.Tensor, lambda x: x.cpu(), data) if convert else data


def _without_device(args, kwargs):
    """The arguments of ``to`` without the XLA device, and whether they named it."""
    kept = {name: value for name, value in kwargs.items() if not (name == "device" and recorder.is_named(value))}
    rest = tuple(x for x in args if not recorder.is_named(x))
    return rest, kept, len(rest) + len(kept) < len(args) + len(kwargs)


# What makes tensors of nothing.
_FACTORIES = "arange asarray empty empty_strided eye full linspace logspace ones rand randint randn randperm range sparse_coo_tensor sparse_csr_tensor tensor zeros as_tensor empty_like full_like ones_like rand_like randint_like randn_like zeros_like"


_SENDING = ("as_tensor", "asarray")


def _install():
    """Teaches modules and tensors the device; torch itself has no code for it."""
    tensor_to, module_to, module_call = torch.Tensor.to, torch.nn.Module.to, torch.nn.Module.__call__

    def sent(tensor):
        if isinstance(tensor, LazyTensor) and tensor.place or recorder.is_on_device(tensor):
            return tensor
        recorder.watch()
        tensor = tensor.plain() if isinstance(tensor, LazyTensor) else tensor
        return recorder.mark(tensor.clone(), sent=True)

    @functools.wraps(tensor_to)
    def tensor_to_device(self, *args, **kwargs):
        if args and isinstance(args[0], torch.Tensor) and recorder.is_on_device(args[0]) and not _is_same_device():
            # To where another tensor is.
            return tensor_to(sent(self), args[0].dtype, *args[1:], **kwargs)
        args, kwargs, is_named = _without_device(args, kwargs)
        if is_named:
            kept = {name: value for name, value in kwargs.items() if name != "non_blocking"}
            args = tuple(x for x in args if not isinstance(x, bool))
            return tensor_to(sent(self), *args, **kept) if args or kept else sent(self)
        if _to_host(args, kwargs) and not _is_same_device():
            return tensor_to(_brought(self), *args, **kwargs)
        return tensor_to(self, *args, **kwargs)

    @functools.wraps(module_to)
    def module_to_device(self, *args, **kwargs):
        args, kwargs, is_named = _without_device(args, kwargs)
        if args or kwargs or not is_named:
            module_to(self, *args, **kwargs)
        if is_named:
            recorder.watch()
            for module in self.modules():
                module.__dict__["_neuronscope_on_device"] = True
            for tensor in (*self.parameters(), *self.buffers()):
                recorder.mark(tensor)
        elif _to_host(args, kwargs):
            recorder.take_back(self)
        return self

    @functools.wraps(module_call)
    def call(self, *args, **kwargs):
        if not self.__dict__.get("_neuronscope_on_device"):
            return module_call(self, *args, **kwargs)
        return recorder.call_module(self, module_call, args, kwargs)

    torch.Tensor.to, torch.nn.Module.to, torch.nn.Module.__call__ = tensor_to_device, module_to_device, call
    torch.nn.Module.cpu = lambda self: self.to("cpu")
    torch.Tensor.cpu = _looking(torch.Tensor.cpu, _brought)
    for name in ("numpy", "tolist", "__repr__", "__format__", "__array__", "__reduce_ex__"):
        setattr(torch.Tensor, name, _looking(getattr(torch.Tensor, name)))
    torch.Tensor.__deepcopy__ = _copied(torch.Tensor.__deepcopy__)
    # A default device goes by the functions that it knew first.
    torch.utils._device._device_constructors()
    for name in _FACTORIES.split():
        setattr(torch, name, _factory(getattr(torch, name), sent))
        # TorchScript knows functions by their objects.
        torch.jit._builtins._register_builtin(getattr(torch, name), f"aten::{name}")
    torch.nested.nested_tensor = _dense(torch.nested.nested_tensor)
    torch.nested.as_nested_tensor = _dense(torch.nested.as_nested_tensor)
    torch.Tensor.new_tensor = _factory(torch.Tensor.new_tensor, sent)
    torch.Tensor.device = _device_of(torch.Tensor.device)
    torch.Tensor.data = _data_of(torch.Tensor.data)
    torch.Tensor.is_xla = property(is_xla_tensor)
    context = torch.utils._device.DeviceContext
    context.__init__ = _watched(context.__init__)
    context.__torch_function__ = _by_default(context.__torch_function__)
    torch.serialization.register_package(0, lambda storage: None, _located)
    for name in ("lstm", "gru", "rnn_tanh", "rnn_relu"):
        setattr(torch._VF, name, _in_operators(getattr(torch._VF, name)))
    # Attention as well: the processor's own way asks for the numbers of a mask.
    torch.backends.mha.set_fastpath_enabled(False)
    torch.optim.Optimizer.add_param_group = _noted(torch.optim.Optimizer.add_param_group)
    torch.compile = _compile(torch.compile)
    torch.autocast = _autocast(torch.autocast)
    torch.amp.autocast = torch.autocast


def _noted(add):
    @functools.wraps(add)
    def add_noted(self, group):
        add(self, group)
        for weight in self.param_groups[-1]["params"]:
            setattr(weight, recorder.OPTIMISED, True)

    return add_noted


def _watched(init):
    """A default device: what is made from now on may be on the simulated one."""

    @functools.wraps(init)
    def start(self, device):
        init(self, device)
        if recorder.is_named(self.device):
            recorder.watch()

    return start


def _by_default(real):
    """A default device: some of what makes tensors has no operator in which the device could be seen."""

    def make(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if kwargs.get("device") is None and recorder.is_named(self.device) and function in torch.utils._device._device_constructors():
            return getattr(torch, function.__name__, function)(*args, **{**kwargs, "device": self.device})
        return real(self, function, types, args, kwargs)

    return make


def _located(storage, location):
    """What a file is loaded into, if ``map_location`` names the device."""
    return recorder.mark_storage(storage) if recorder.is_named(location) else None


# torch's own code that moves tensors to where others are: gradients to be clipped, states of an optimiser.
_OF_TORCH = tuple(os.path.join(os.path.dirname(torch.__file__), folder) + os.sep for folder in ("nn", "optim"))


def _is_same_device():
    """Whether ``to`` names the device of another tensor, which says that it is the host's: inside of a module, and in code of torch."""
    return recorder.is_inside() or sys._getframe(2).f_code.co_filename.startswith(_OF_TORCH)


def _to_host(args, kwargs):
    first = kwargs.get("device", args[0] if args else None)
    return isinstance(first, (str, torch.device)) and torch.device(first).type == "cpu"


def _brought(tensor):
    """The tensor on the host: the script waits for the step."""
    if isinstance(tensor, LazyTensor):
        return tensor.plain()
    if not recorder.is_on_device(tensor):
        return tensor
    recorder.look()
    return recorder.copy_of(tensor)


def _looking(method, of=lambda tensor: tensor):
    """A method of tensors that reads the numbers, which is no operator of the device."""

    @functools.wraps(method)
    def look(self, *args, **kwargs):
        if isinstance(self, LazyTensor) or recorder.is_aside() or not recorder.is_on_device(self):
            return method(self, *args, **kwargs)
        recorder.look()
        brought = of(self)
        with recorder.aside():
            return method(brought, *args, **kwargs)

    return look


def _copied(real):
    """``copy.deepcopy`` of a tensor, which puts its memory into a new one: there is no operator for that."""

    @functools.wraps(real)
    def copy(self, memo):
        if recorder.is_aside() or isinstance(self, LazyTensor) or not recorder.is_on_device(self):
            return real(self, memo)
        with recorder.aside():
            return recorder.mark(real(self, memo))

    return copy


def _device_of(real):
    """``tensor.device`` as the script sees it. Packages and torch itself go on with the host's, where the numbers are."""

    def device(self):
        if not is_of_script(sys._getframe(1).f_code.co_filename) or recorder.is_aside() or recorder.is_inside() or not recorder.is_on_device(self):
            return real.__get__(self)
        return torch.device(recorder.PLACE)

    return property(device)


def _data_of(real):
    """``tensor.data``, which may become a result of the device: its numbers are computed then."""

    def put(self, other):
        real.__set__(self, recorder.mark(other.plain(waits=False)) if isinstance(other, LazyTensor) else other)

    return property(real.__get__, put)


def _in_operators(function):
    """A recurrent layer step by step, not as the one operator that some processors have for it."""

    @functools.wraps(function)
    def layer(*args):
        if not recorder.is_inside():
            return function(*args)
        was = torch._C._get_mkldnn_enabled()
        torch._C._set_mkldnn_enabled(False)
        try:
            return function(*args)
        finally:
            torch._C._set_mkldnn_enabled(was)

    return layer


def _factory(function, sent):
    @functools.wraps(function)
    def make(*args, device=None, **kwargs):
        if not recorder.is_named(device):
            return function(*args, **kwargs) if device is None else function(*args, device=device, **kwargs)
        made = function(*args, **kwargs)
        # What is there already is sent; as_tensor makes none of its own.
        is_there = args and (isinstance(args[0], LazyTensor) or function.__name__ in _SENDING and not isinstance(args[0], (list, tuple, int, float)))
        return sent(made) if is_there else recorder.mark(made)

    return make


def _dense(function):
    """What makes a nested tensor, of which the device has none."""

    @functools.wraps(function)
    def make(tensors, *args, device=None, **kwargs):
        if recorder.is_named(torch.utils._device.CURRENT_DEVICE if device is None else device) or any(map(recorder.is_on_device, tensors)):
            raise ModelError("the device has no nested tensors; fill the tensors up to one length, such as torch.nn.utils.rnn.pad_sequence(tensors, batch_first=True).to(device)")
        return function(tensors, *args, device=device, **kwargs)

    return make


_BACKENDS = ("openxla", "neuron", "neuronx", "openxla_eval")


def _compile(real):
    """``torch.compile`` with a backend of the device: each call is a step."""

    @functools.wraps(real)
    def compiled(model=None, *, backend="inductor", **options):
        if getattr(model, "__module__", None) == "torch.nn.attention.flex_attention":
            # Attention with a rule for its scores compiles its one operator; this is the same as the operators of the device.
            from torch._higher_order_ops.flex_attention import sdpa_dense

            return sdpa_dense
        if backend not in _BACKENDS:
            return real(model, backend=backend, **options)
        if model is None:
            return lambda model: compiled(model, backend=backend, **options)
        if isinstance(model, torch.nn.Module):
            model.to("xla")

        @functools.wraps(model.forward if isinstance(model, torch.nn.Module) else model)
        def call(*args, **kwargs):
            results = model(*args, **kwargs)
            recorder.end_step()
            return results

        if isinstance(model, torch.nn.Module):
            made = torch.nn.Module()
            made._orig_mod, made.forward = model, call
            return made
        return call

    return compiled


def _autocast(real):
    class autocast(real):
        def __init__(self, device_type="xla", dtype=None, enabled=True, cache_enabled=None):
            if recorder.is_named(device_type):
                device_type, dtype = "cpu", dtype or torch.bfloat16
            super().__init__(device_type, dtype=dtype, enabled=enabled, cache_enabled=cache_enabled)

    return autocast


# A script may name the device "xla" without asking for it.
_install()

__getattr__ = attribute_of("torch_xla.core.xla_model", __all__)
