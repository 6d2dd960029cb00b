"""What may stand for a model: a name of the zoo, a file, or an object of a framework, which is exported in memory."""

from __future__ import annotations

import contextlib
import dataclasses
import gc
import io
import json
import logging
import os
import sys
import warnings
import zipfile
from typing import NamedTuple

from ._core import Error
from .kernels import in_program

# What a saved program says of itself; its file is the other member.
ABOUT = "neuronscope.json"


class ModelError(Error):
    """A model cannot be exported: the exporter's own message, and the module."""


class Named(NamedTuple):
    """A model as the command line names it."""

    text: str
    # Files in memory that it needs, by name: itself, and the kernels of its custom operators.
    files: dict
    # Which kernel each of its custom operators has.
    kernels: dict = {}

    @property
    def assumed(self):
        """The kernels as flags."""
        return [f"--assume={operator}={kernel}" for operator, kernel in self.kernels.items()]


def resolve(model, inputs=None, has_batches=False):
    """The model as the command line names it, with the files in memory that it needs. ``has_batches``: it is for other batch sizes too."""
    if isinstance(model, (str, os.PathLike)):
        text = os.fspath(model)
        return _saved(text) or Named(text, {})
    if isinstance(model, type):
        raise TypeError(f"{model.__name__} is a class; give a model of it, such as {model.__name__}()")
    content = getattr(model, "__neuronscope_file__", None)
    if content is not None:
        return content()
    if _is_of_torch(model):
        program = (_with_batches(model, inputs) if has_batches else None) or exported(model, inputs)
        name = f"{type(model).__name__}.pt2"
        kernels, sources = kernels_of(program)
        return Named(name, {name: written(program), **sources}, kernels)
    if hasattr(model, "SerializeToString"):
        return Named("model.onnx", {"model.onnx": model.SerializeToString()})
    if hasattr(model, "as_text"):
        return Named("model.mlir", {"model.mlir": model.as_text().encode()})
    kind = type(model).__name__
    raise TypeError(
        f"{kind} is not a model: give a name of the zoo, a file, an ONNX model, a lowered JAX function or a torch.nn.Module with its inputs"
    )


def about_saved(path):
    """What a file of ``torch.jit.save`` of a traced module says of itself; ``None`` of any other."""
    if not path.endswith(".pt") or not zipfile.is_zipfile(path):
        return None
    with zipfile.ZipFile(path) as archive:
        return json.loads(archive.read(ABOUT)) if ABOUT in archive.namelist() else None


def _saved(path):
    """The program in a file of ``torch.jit.save`` of a traced module."""
    about = about_saved(path)
    if about is None:
        return None
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist() if name != ABOUT}
    return Named(about["name"], files, about.get("kernels", {}))


def _is_of_torch(model):
    torch = sys.modules.get("torch")
    if torch is None:
        return False
    export = sys.modules.get("torch.export")
    return isinstance(model, torch.nn.Module) or (export is not None and isinstance(model, export.ExportedProgram))


@contextlib.contextmanager
def _quiet(has_lines=True):
    """Without what an exporter writes about its own work: the exception says it. It makes millions of objects that all stay until its end, through
    which the collector would go again and again. ``has_lines``: each operator has its lines of the program."""
    import torch.fx.config as fx

    import torch

    before, was_on, was_quiet = logging.root.manager.disable, gc.isenabled(), getattr(fx, "do_not_emit_stack_traces", False)
    was_fast = torch.backends.mha.get_fastpath_enabled()
    # Attention as the device has it: torch's own way on a processor asks for the numbers of a mask.
    torch.backends.mha.set_fastpath_enabled(False)
    layers = torch.nn.modules.transformer
    detect = layers._detect_is_causal_mask
    # The same numbers, without the question which mask it is.
    layers._detect_is_causal_mask = lambda mask, is_causal=None, size=None: is_causal is True
    logging.disable(logging.WARNING)
    gc.disable()
    fx.do_not_emit_stack_traces = was_quiet or not has_lines
    try:
        with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)
        fx.do_not_emit_stack_traces = was_quiet
        torch.backends.mha.set_fastpath_enabled(was_fast)
        layers._detect_is_causal_mask = detect
        if was_on:
            gc.enable()


# What an exporter's message means, by a word of it.
_BRANCH = "it branches on numbers that are known on the device only; write torch.where in place of the branch, or choose before the trace"
_HINTS = (
    ("Unsupported input type <class 'numpy.ndarray'>", "an input is an array of numpy; give a tensor, such as torch.as_tensor(x)"),
    ("Cache", "it returns a cache, which is not made of tensors alone; set model.config.use_cache = False, or take and give the keys and values as tensors"),
    ("fake tensor in the exported program", "it calls something that torch.export does not see through, such as flex_attention; write it in operators of tensors, such as scaled_dot_product_attention with attn_mask"),
    ("data-dependent", _BRANCH),
    ("dynamic control flow", _BRANCH),
    ("PackedParams", "torch.ao has packed its weights for a processor; give the module as it was before, and compiler_args such as --auto-cast=all --auto-cast-type=fp8_e4m3"),
)


def _register(result):
    """Teaches torch.export the named tuples and dataclasses of a result."""
    import torch
    from torch.utils import _pytree

    kind, parts = type(result), ()
    if isinstance(result, dict):
        parts = result.values()
    elif isinstance(result, (list, tuple)):
        parts = result
    elif dataclasses.is_dataclass(result):
        parts = [getattr(result, field.name) for field in dataclasses.fields(result)]
    name = f"{kind.__module__}.{kind.__qualname__}"
    with contextlib.suppress(ValueError):  # it is known
        if hasattr(kind, "_fields"):
            _pytree._register_namedtuple(kind, serialized_type_name=name)
        elif dataclasses.is_dataclass(kind) and not isinstance(result, dict):
            torch.export.register_dataclass(kind, serialized_type_name=name)
    for part in parts:
        _register(part)


def casts():
    """The type to which torch.autocast casts here, if any."""
    import torch

    return torch.get_autocast_dtype("cpu") if torch.is_autocast_enabled("cpu") else None


def _has_casts(program):
    return casts() is not None or any("autocast" in str(node.target) for node in program.graph.nodes)


def _with_batches(model, inputs):
    """A module exported for any batch size; ``None`` if it cannot be."""
    import torch

    batch = torch.export.Dim("batch")
    with contextlib.suppress(ModelError):
        return exported(model, inputs, dynamic=tuple({0: batch} if getattr(x, "shape", ()) else None for x in inputs))


def _flat(model, inputs):
    """A step's graph in one pass; ``None`` of one with modules, and where torch has other names than that takes."""
    try:
        from . import flat

        return flat.exported(model, inputs) if flat.is_flat(model) else None
    except (ImportError, AttributeError, TypeError):
        return None


def script_error(model):
    name = getattr(model, "original_name", None) or getattr(model, "name", type(model).__name__)
    return ModelError(f"{name} is TorchScript, which is compiled as a file: save it with torch.jit.save, and ask neuronscope bench --model FILE; or give the module that it was made of")


def _refuse_not_dense(model, inputs):
    """Fails where a weight or an input has no place in memory for each of its numbers."""
    import torch
    from torch.utils import _pytree

    named = (*model.named_parameters(), *model.named_buffers(), *((f"input {n}", x) for n, x in enumerate(_pytree.tree_leaves(inputs))))
    for name, tensor in named:
        if isinstance(tensor, torch.Tensor) and (tensor.is_nested or tensor.layout is not torch.strided):
            kind, way = ("nested", "torch.nested.to_padded_tensor(x, 0.0)") if tensor.is_nested else ("sparse", "x.to_dense()")
            raise ModelError(f"{type(model).__name__} cannot be exported: {name} is a {kind} tensor, and the device has dense ones; give {way}")


def exported(model, inputs, decompose=False, named=None, dynamic=None, evaluates=True):
    """A ``torch.nn.Module`` as ``torch.export`` gives it for ``inputs`` and ``named`` ones. ``decompose`` writes it in the core operators;
    ``evaluates`` takes it in ``eval`` mode."""
    import torch

    program = model
    if isinstance(model, torch.nn.Module):
        if inputs is None and not named:
            raise ModelError(f"{type(model).__name__} has no shapes without its inputs; give them as inputs=(x, ...)")
        if isinstance(model, torch.jit.ScriptModule):
            raise script_error(model)
        inputs = tuple(inputs) if isinstance(inputs, (tuple, list)) else () if inputs is None else (inputs,)
        _refuse_not_dense(model, (inputs, named))
        modes = [(module, module.training) for module in model.modules()]
        seen = model.register_forward_hook(lambda _module, _inputs, result: _register(result))
        try:
            with torch.no_grad(), _quiet(has_lines=not decompose):
                flat = _flat(model, inputs) if decompose else None
                if flat is not None:
                    return flat
                if evaluates:
                    # torch.export gives modules that have one mode.
                    with contextlib.suppress(NotImplementedError):
                        model.eval()
                program = torch.export.export(model, inputs, named, dynamic_shapes=dynamic)
                if not decompose and _has_casts(program):
                    # An export has operators as they are called; this writes the casts of autocast as operators too.
                    program = program.run_decompositions({})
                if decompose:
                    from .fused import rules

                    program = program.run_decompositions(rules())
        except Exception as error:
            first = str(error).strip().partition("\n")[0]
            said = next((said for word, said in _HINTS if word in str(error)), first)
            name = "a step" if decompose else getattr(model, "given", None) or f"{type(model).__module__}.{type(model).__qualname__}"
            raise ModelError(f"{name} cannot be exported: {said}") from error
        finally:
            seen.remove()
            for module, mode in modes:
                module.training = mode
    return program


def kernels_of(program):
    """The kernels of the custom operators that an exported program calls, by operator, and their files."""
    kernels, sources = {}, {}
    for operator, library in in_program(program).items():
        kernels[operator], files = library.files(operator)
        sources.update(files)
    return kernels, sources


def written(program, has_numbers=True):
    """The bytes of an exported program's file. Without numbers it has the sizes of the weights only, which is enough for times."""
    import torch
    from torch._subclasses.fake_tensor import FakeTensorMode

    if not has_numbers:
        mode = FakeTensorMode()
        for name, value in program.state_dict.items():
            program.state_dict[name] = mode.from_tensor(value)
    file = io.BytesIO()
    with _quiet(), _without_its_check():
        torch.export.save(program, file)
    return file.getvalue()


@contextlib.contextmanager
def _without_its_check():
    """torch.export.save puts a copy of the graph in order, and throws it away: that finds errors of torch alone, in half of its time."""
    from torch._export.serde import serialize

    was = getattr(serialize, "canonicalize", None)
    serialize.canonicalize = lambda program, *_: program
    try:
        yield
    finally:
        serialize.canonicalize = was


def shape_of(array):
    """``4x4``, the shape of an array or of anything that has a shape."""
    shape = getattr(array, "shape", None)
    if shape is None:
        raise TypeError(f"inputs: {type(array).__name__} has no shape; give arrays, tensors or shapes as text such as '4x4'")
    return "x".join(str(int(n)) for n in shape) if len(shape) else "1"


def inputs_text(inputs):
    """Inputs as NeuronPerf takes them, as shapes: a list has an entry for each batch size, a tuple one for each input of the model."""
    if inputs is None or isinstance(inputs, str):
        return inputs
    entries = inputs if isinstance(inputs, list) else [inputs]
    one = lambda entry: ",".join(map(shape_of, entry)) if isinstance(entry, tuple) else shape_of(entry)  # noqa: E731
    return "[" + ",".join(f"({one(entry)})" for entry in entries) + "]"
