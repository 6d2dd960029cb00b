"""torch_neuronx on the simulated device, from its documentation."""

from __future__ import annotations

import functools
import inspect
from collections import Counter
from collections.abc import Mapping

import torch
from torch.utils import _pytree

from .. import __version__, clock
from ..device import Program, known_operators
from ..kernels import operators
from ..missing import Missing, attribute_of, remark
from ..model import ModelError, exported, script_error
from ..torch_xla.core import xla_model  # noqa: F401 (the real package has the device as well)
from . import experimental, xla_impl

__all__ = ["DataParallel", "PartitionerConfig", "analyze", "async_load", "dynamic_batch", "experimental", "lazy_load", "move_trace_to_device", "replace_weights", "trace", "xla_impl"]


class TracedModule(torch.nn.Module):
    """A module that is compiled for a NeuronCore. It is called like the module, on inputs of the same shapes."""

    def __init__(self, program):
        super().__init__()
        self.program = program
        self._is_loaded = False
        # What scripts set on a DataParallel; the parts of a batch run one after another.
        self.num_workers = 1

    @property
    def original_name(self):
        return self.program.name.removesuffix(".pt2")

    @property
    def takes_batches(self):
        """Whether a batch may be another than the one that it is compiled for."""
        return self.program.about.get("takes_batches", False)

    def disable_dynamic_batching(self):
        """A batch has the size again that it is compiled for."""
        self.program.about["takes_batches"] = False

    def load(self):
        """Puts the program on the device, which the first call does otherwise."""
        if not self._is_loaded:
            self._is_loaded = True
            self.program.load()

    def to(self, *_args, **_kwargs):
        """It is on the device."""
        return self

    def forward(self, *inputs, **named):
        # The host's time of a call is part of its step.
        with clock.pause():
            return self._call(inputs, named)

    def _call(self, inputs, named):
        self.load()
        leaves = _pytree.tree_leaves(_by_name(self.program, inputs, named))
        inputs = [x for x in leaves if isinstance(x, torch.Tensor)]
        array = next((x for x in leaves if not isinstance(x, torch.Tensor) and hasattr(x, "shape")), None)
        if array is not None:
            raise ModelError(f"{self.program.name} is called with a {type(array).__name__} of {type(array).__module__}; give a tensor, such as torch.as_tensor(x)")
        size = self.program.about["inputs"][0][0][:1] if inputs else []
        if self.takes_batches and size and inputs[0].shape[0] != size[0]:
            return _in_batches(self.program, inputs, size[0])
        return self.program.execute(inputs).tensors()

    def __neuronscope_file__(self):
        return self.program.named()

    def __getattr__(self, name):
        if name in ("_c", "graph", "code", "inlined_graph", "graph_for", "code_with_constants"):
            raise Missing(f"{self.program.name} is a program of the device, which has no {name} of TorchScript; neuronscope inspect MODEL shows its graph, and its parts are in neuronscope profile --model MODEL")
        return super().__getattr__(name)

    def save(self, file):
        self.program.save(file)


def _sorted(tree):
    """Inputs with their dictionaries in one order, whatever order a call gives them in."""
    if isinstance(tree, Mapping):
        return {name: _sorted(tree[name]) for name in sorted(tree)}
    return type(tree)(map(_sorted, tree)) if type(tree) in (tuple, list) else tree


def _by_name(program, inputs, named):
    """The inputs of a call in the order in which they were traced."""
    names = program.about.get("parameters")
    if names is None or len(inputs) > len(names):
        return _sorted((inputs, named))
    given = {**dict(zip(names, inputs)), **named}
    if len(given) == 1 and len(names) > 1 and isinstance(inputs[0] if inputs else None, Mapping):
        given = inputs[0]
    missing, more = [name for name in names if name not in given], [name for name in given if name not in names and given[name] is not None]
    if missing or more:
        said = f"without {', '.join(missing)}" if missing else f"with {', '.join(more)}"
        raise ModelError(f"{program.name} is traced for {', '.join(names)}, and it is called {said}; trace it again for these inputs")
    return [_sorted(given[name]) for name in names]


def _in_batches(program, inputs, size):
    """A batch in parts of the size that the program is compiled for; the last part is filled up."""
    count = inputs[0].shape[0]
    parts = []
    for start in range(0, count, size):
        part = [x[start : start + size] for x in inputs]
        missing = size - part[0].shape[0]
        if missing:
            part = [torch.cat([x, x.new_zeros((missing, *x.shape[1:]))]) for x in part]
        parts.append(_pytree.tree_leaves(program.execute(part).tensors()))
    leaves = [torch.cat([part.plain() for part in of])[:count] for of in zip(*parts)]
    return program.put_together(leaves)


# What the real call takes beside these, and why it changes nothing here.
_WITHOUT_EFFECT = {
    "compiler_workdir": "nothing is written there",
    "compiler_timeout": "the compiler is simulated",
    "inline_weights_to_neff": "weights are on the device either way",
    "options": "they choose how the real program is built",
    "states": "states are weights of the program",
    "partitioner_config": "the whole module runs on the device",
    "cpu_backend": "there is no other backend",
    "optimizations": "they choose how the real program is built",
    "separate_weights": "weights are on the device either way",
    "device": "the device is simulated",
}


def trace(func, example_inputs=(), *_args, example_kwarg_inputs=None, compiler_args=None, input_output_aliases=None, **options):
    """Compiles a module or a function for the device. ``compiler_args`` are flags of the compiler."""
    for name in options:
        if name not in _WITHOUT_EFFECT:
            raise TypeError(
                f"torch_neuronx.trace has no argument {name}; it has func, example_inputs, example_kwarg_inputs, compiler_args, input_output_aliases, {', '.join(_WITHOUT_EFFECT)}"
            )
        if options[name] is not None:
            remark(f"{name} of torch_neuronx.trace has no effect here: {_WITHOUT_EFFECT[name]}")
    if input_output_aliases:
        remark("input_output_aliases of torch_neuronx.trace has no effect here: an aliased state is an output that is copied")
    func = func.module() if isinstance(func, torch.export.ExportedProgram) else func
    module, named = _module(func), dict(example_kwarg_inputs or {})
    parameters = _parameters(func)
    if isinstance(example_inputs, Mapping) and example_inputs and parameters and all(name in parameters for name in example_inputs):
        # The inputs by the names of the module's parameters, as a tokenizer gives them.
        example_inputs, named = (), dict(example_inputs)
    inputs = _sorted(tuple(example_inputs) if isinstance(example_inputs, (tuple, list)) else (example_inputs,))
    program = Program.of_module(module, inputs, "trace", compiler_args, name=f"{_name(func)}.pt2", named=_sorted(named))
    if parameters and len(inputs) <= len(parameters):
        program.about["parameters"] = [*parameters[: len(inputs)], *sorted(named)]
    program.compile()
    return TracedModule(program)


def _parameters(func):
    """The names of what a module or a function takes one after another; none where it takes any number."""
    try:
        given = inspect.signature(func.forward if isinstance(func, torch.nn.Module) else func).parameters.values()
    except (TypeError, ValueError):
        return []
    return [] if any(one.kind is one.VAR_POSITIONAL for one in given) else [one.name for one in given if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]


def _name(func):
    return getattr(func, "__name__", None) or getattr(func, "original_name", None) or type(func).__name__


def _module(func):
    """A module, or a function as one."""
    if isinstance(func, (torch.jit.ScriptModule, torch.jit.ScriptFunction)):
        raise script_error(func)
    if isinstance(func, torch.nn.Module):
        return func
    if not callable(func):
        raise ModelError(f"{type(func).__name__} is no module; give a torch.nn.Module or a function of tensors")
    return _Function(func)


class _Function(torch.nn.Module):
    """A function; the modules that it calls are found in its closure and among its globals."""

    def __init__(self, function):
        super().__init__()
        self._function, self.given = function, _name(function)
        owner = getattr(function, "__self__", None)
        if isinstance(owner, torch.nn.Module):
            self.owner = owner
        used = inspect.getclosurevars(function) if inspect.isfunction(function) else None
        for name, value in {**(used.globals if used else {}), **(used.nonlocals if used else {})}.items():
            if isinstance(value, torch.nn.Module):
                self.add_module(name, value)

    def forward(self, *inputs, **named):
        return self._function(*inputs, **named)


def DataParallel(model, device_ids=None, dim=0, set_dynamic_batching=None):  # noqa: N802 (the SDK's name)
    """The traced module, whose batches are split into calls: there is one simulated core."""
    if not isinstance(model, TracedModule):
        raise ModelError("torch_neuronx.DataParallel takes a traced module; call torch_neuronx.trace first")
    if dim != 0:
        raise ModelError(f"torch_neuronx.DataParallel splits dimension 0 here, not {dim}; move the batch to the front")
    remark("torch_neuronx.DataParallel runs the parts of a batch one after another on one core; what several cores do says neuronscope bench --model FILE --n_models 2")
    return dynamic_batch(model)


def move_trace_to_device(trace, device_id=0):
    """Loads a traced module on the one simulated core."""
    trace.load()


class PartitionerConfig:
    """Which operators run on the host: none, the whole module runs on the device."""

    def __init__(self, **options):
        remark(f"torch_neuronx.PartitionerConfig has no effect here: {_WITHOUT_EFFECT['partitioner_config']}")


def dynamic_batch(model):
    """A traced module that takes any batch: in parts of the size that it is compiled for."""
    model.program.about["takes_batches"] = True
    return model


def async_load(model, enable_async_load=True):
    return lazy_load(model, enable_async_load)


def lazy_load(model, enable_lazy_load=True):
    """The first call loads the program in any case."""
    remark("async_load and lazy_load have no effect here: the first call loads the program") if enable_lazy_load else model.load()
    return model


def replace_weights(model, weights):
    """Gives a traced module the weights of another module of the same shapes, or of its ``state_dict``."""
    weights = weights.state_dict() if isinstance(weights, torch.nn.Module) else weights
    model.program.replace_weights(weights)


def analyze(func, example_inputs, compiler_workdir=None, additional_ignored_ops=None, max_workers=None, is_hf_transformers=False, cleanup=False):
    """Which operators of a module the device has, as the real call says it."""
    known, counted = known_operators(), Counter(operators(exported(_module(func), example_inputs)))
    has = {name: count for name, count in counted.items() if name in known}
    lacks = [{"kind": name, "failureAt": "neuronx-cc"} for name in counted if name not in has and name not in (additional_ignored_ops or ())]
    count = sum(counted.values())
    return {
        "torch_neuronx_version": __version__,
        "support_percentage": f"{100 * sum(has.values()) / max(count, 1):.2f}%",
        "supported_operators": {"aten": has},
        "unsupported_operators": lacks,
    }


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


def _is_script(kind, module):
    """What the real package gives is TorchScript, which scripts and packages ask for."""
    return type.__instancecheck__(kind, module) or isinstance(module, TracedModule) and issubclass(torch.jit.RecursiveScriptModule, kind)


def _as_it_is(function):
    """A function of TorchScript, for which there is nothing to do on a program of the device."""

    @functools.wraps(function)
    def call(module, *args, **kwargs):
        return module if isinstance(module, TracedModule) else function(module, *args, **kwargs)

    return call


# The real package teaches torch.jit its modules as well.
torch.jit.save, torch.jit.load = _save_traced, _load_traced
torch.jit.freeze, torch.jit.optimize_for_inference = map(_as_it_is, (torch.jit.freeze, torch.jit.optimize_for_inference))
type(torch.jit.ScriptModule).__instancecheck__ = _is_script

__getattr__ = attribute_of("torch_neuronx", __all__)
