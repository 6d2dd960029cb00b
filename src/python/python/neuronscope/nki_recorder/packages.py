"""The packages `nki` and `neuronxcc.nki` that a kernel's file imports, and what stands for packages that are not installed."""

import importlib.abc
import importlib.machinery
import os
import sys
import types

from . import instructions, language
from .dtypes import DTYPES
from .errors import KernelError, no_such_name
from .host import STUBS, Stub
from .instructions import Member
from .trace import OWN

ENUMS = {
    "engine": "tensor vector scalar gpsimd dma sync unknown",
    "reduce_cmd": "idle reset reduce reset_reduce load_reduce",
    "dge_mode": "unknown swdge hwdge none",
    "oob_mode": "error skip",
    "matmul_perf_mode": "none double_row double_row_gen3 double_column double_pixel fp8_fast_weight_load",
    "nc_version": "gen2 gen3 gen4",
    "dma_engine": "dma gpsimd_dma",
}


class _Enum:
    def __init__(self, name, members):
        self._name = name
        for rank, member in enumerate(members.split()):
            setattr(self, member, Member(name, member, rank))

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        members = [one for one in vars(self) if not one.startswith("_")]
        error = no_such_name(f"nisa.{self._name}", name, members)
        error.fix = error.fix if error.fix.startswith("use") else f"it has {', '.join(members)}"
        raise error


class Module(types.ModuleType):
    """A module of stubs; a name that it has not is an error with the nearest one."""

    def __init__(self, name, spoken, names, elsewhere=None):
        super().__init__(name)
        # A list, so that `from nki.language import *` takes all.
        self.__dict__.update(names, __all__=sorted(names), __path__=[], _spoken=spoken, _elsewhere=elsewhere or {})

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        raise self.missing(name)

    def missing(self, name):
        error = no_such_name(self._spoken, name, self.__all__)
        instead = self._elsewhere.get(name) or (self._spoken == "nki.isa" and _as_operator(name)) or _beside(self._spoken, name)
        if instead:
            error.fix = f"use {instead}"
        return error


def _beside(spoken, name):
    """A name that is in the other of the two modules."""
    if spoken == "nki.language" and (name in instructions.TABLE or name.startswith(("nc_", "dma_", "tensor_"))):
        return f"nisa.{name}" if name in isa_names(2) else None
    return f"nl.{name}" if spoken == "nki.isa" and name in language.names(2) else None


def _as_operator(name):
    """nisa.exp and nisa.tensor_add are what an invented name most often means: an instruction with that operator."""
    op = {"sub": "subtract", "mul": "multiply", "div": "divide", "max": "maximum", "min": "minimum"}.get(name.split("_")[-1], name.split("_")[-1])
    if op in language.REDUCTIONS:
        return f"nisa.tensor_reduce with op=nl.{op}"
    for names, instruction in ((language.BINARY, "tensor_tensor"), (language.UNARY, "activation")):
        if op in names:
            return f"nisa.{instruction} with op=nl.{op}"
    return {"load": "nisa.dma_copy", "store": "nisa.dma_copy", "matmul": "nisa.nc_matmul", "transpose": "nisa.nc_transpose"}.get(op)


def _first(function):
    """An instruction of the first dialect: it returns its result. The releases between took `dst=` under the old name."""

    def call(*args, dst=None, **named):
        return function(dst, *args, **named)

    call.__name__ = call.__qualname__ = function.__name__
    return call


def _memset(shape=None, value=0, dtype=None, mask=None, engine=None, dst=None, name=None):
    if dst is not None:
        return instructions.memset(dst, value, engine, name, mask)
    return instructions.memset(language.ndarray(shape, dtype), value, engine, name, mask, fresh=True)


def _affine(index):
    """An index of nl.arange as the present dialect writes it: the partition's step, and a pattern of the others."""
    steps = {axis: stride for axis, _, stride in index.terms}
    pattern = tuple((steps.get(axis, 0), count) for axis, count in enumerate(index.shape) if axis)
    return (("pattern", pattern), ("offset", index.const), ("channel_multiplier", steps.get(0, 0)))


def _iota(expr, dtype, mask=None, name=None):
    return instructions.compute("iota", "nisa.iota", language.ndarray(expr.shape, dtype), (), (), (), _affine(expr), "any", None, mask, fresh=True)


def _affine_select(pred, on_true_tile, on_false_value, mask=None, dtype=None, name=None):
    if len(getattr(pred, "conditions", ())) != 1:
        raise KernelError("value", "pred of nisa.affine_select is no single comparison of indices.", "compare one expression of nl.arange with another")
    args = (*_affine(pred.conditions[0]), ("on_false_value", instructions.plain(on_false_value)), ("cmp_op", "greater_equal"))
    tile = instructions.operand(on_true_tile, "on_true_tile", "nisa.affine_select")
    return instructions.compute("affine_select", "nisa.affine_select", None, [("on_true_tile", tile)], (), (), args, "any", dtype, mask)


def _predicated(src, dst=None, predicate=None, mask=None, dtype=None, reverse_pred=False, name=None):
    return instructions.TABLE["tensor_copy_predicated"](dst, src, predicate, reverse_pred, mask=mask)


def _shuffle(src, dst, shuffle_mask, dtype=None, mask=None, name=None):
    return instructions.TABLE["nc_stream_shuffle"](dst, src, shuffle_mask, mask=mask)


def _version(trace):
    return f"gen{trace.now.chip.core}"


def isa_names(dialect):
    functions = {
        name: getattr(instructions, name)
        for name in """dma_copy dma_transpose dma_compute nc_matmul nc_matmul_mx nc_transpose tensor_copy memset register_alloc register_move register_load
        register_store sendrecv core_barrier set_rng_seed rand_set_state""".split()
    }
    table = dict(instructions.TABLE)
    if dialect == 1:
        # dma_copy, select_reduce, local transfers take dst in both.
        for name in ("dma_transpose", "nc_matmul", "nc_transpose", "tensor_copy"):
            functions[name] = _first(functions[name])
        table = {name: function if name == "select_reduce" else _first(function) for name, function in table.items()}
        table.update(iota=_iota, affine_select=_affine_select, tensor_copy_predicated=_predicated, nc_stream_shuffle=_shuffle)
        functions["memset"] = _memset
    else:
        for name in ("tensor_copy_dynamic_src", "tensor_copy_dynamic_dst"):
            table.pop(name)
    enums = {name: _Enum(name, members) for name, members in ENUMS.items()}
    engines = {f"{name}_engine": getattr(enums["engine"], name) for name in ("tensor", "vector", "scalar", "gpsimd", "unknown")}
    if dialect == 1:
        engines["pe_engine"], engines["act_engine"], engines["pool_engine"] = (getattr(enums["engine"], name) for name in ("tensor", "scalar", "gpsimd"))

    def get_nc_version():
        return getattr(enums["nc_version"], _version(instructions.Trace))

    return {**functions, **table, **enums, **engines, "get_nc_version": get_nc_version, "VirtualRegister": instructions.Register, "NkiValidationError": KernelError}


class _Allocation:
    """`ncc.sbuf.mod_alloc(...)` or `ncc.psum.alloc(function)` as the buffer of a declaration: where its tiles lie."""

    def __init__(self, memory, base=0, turns=(), bank=0, function=None):
        self.memory, self.base, self.turns, self.bank, self.function = memory, base, list(turns), bank, function
        self.name = "sbuf" if memory == "s" else "psum"

    def place(self, shape, pdim, dtype):
        """From the number of a block to (byte in a partition, bank)."""
        blocks = shape[:pdim]
        turns = [*([1] * (len(blocks) - len(self.turns))), *self.turns]
        size = dtype.itemsize
        for count in shape[pdim + 1 :]:
            size *= count

        def at(number):
            index = []
            for count in reversed(blocks):
                index.insert(0, number % count)
                number //= count
            if self.function:
                # The bank of PSUM, the first partition, the byte; one of SBUF has no bank.
                *place, byte = self.function(idx=tuple(index), pdim_size=shape[pdim], fdim_size=size)
                return (byte, place[0]) if self.memory == "p" else (byte, -1)
            slot = 0
            for one, count, turn in zip(index, blocks, turns):
                turn = turn or count
                slot = slot * turn + one % turn
            return (self.base + slot * size, -1) if self.memory == "s" else (-1, self.bank + slot)

        return at


class _Memory:
    def __init__(self, memory):
        self.memory, self.name = memory, "sbuf" if memory == "s" else "psum"

    def mod_alloc(self, *, base_addr=0, base_bank=0, base_partition=0, num_par_tiles=(), num_free_tiles=(), num_bank_tiles=(), **_):
        return _Allocation(self.memory, base_addr, num_free_tiles or num_bank_tiles, base_bank)

    def alloc(self, function=None, **_):
        return _Allocation(self.memory, function=function) if function else self.auto_alloc()

    def auto_alloc(self, **_):
        return language.sbuf if self.memory == "s" else language.psum


def _decorator(function=None, **_):
    return function if callable(function) else lambda inner: inner


class _Typing:
    def __class_getitem__(cls, _):
        return cls


def build(kernel_names):
    """All modules by name. `kernel_names(dialect)` gives jit, benchmark and the like."""
    modules = {}
    for dialect, root in ((1, "neuronxcc.nki"), (2, "nki")):
        compiler = {
            "sbuf": _Memory("s"), "psum": _Memory("p"), "enable_stack_allocator": _decorator, "force_auto_alloc": _decorator,
            "skip_middle_end_transformations": _decorator,
        }  # fmt: skip
        isa = Module(f"{root}.isa", "nki.isa", isa_names(dialect))
        elsewhere = language.FIRST_ONLY if dialect == 2 else {}
        nl = Module(f"{root}.language", "nki.language", language.names(dialect), elsewhere)
        makers = {name: lambda *args, _call=getattr(STUBS["numpy"](), name), **named: _call(*args, **named) for name in ("zeros", "ones", "identity", "arange", "full")}
        parts = {
            "language": nl,
            "isa": isa,
            "compiler": Module(f"{root}.compiler", "nki.compiler", compiler),
            "typing": Module(f"{root}.typing", "nki.typing", {**dict.fromkeys(("tensor", "mutable_tensor", "mutable", "immutable"), _Typing), **DTYPES}),
            "tensor": Module(f"{root}.tensor", "nki.tensor", makers),
            "collectives": Stub(f"{root}.collectives"),
        }
        if dialect == 1:
            # The kernels that came with the compiler are not here.
            parts["kernels"] = Stub(f"{root}.kernels")
        for name, module in parts.items():
            modules[f"{root}.{name}"] = module
        modules[root] = Module(root, "nki", {**kernel_names(dialect), **parts})
    # Some files take their types from inside the compiler.
    starfish = {"neuronxcc.starfish.support.dtype": Module("neuronxcc.starfish.support.dtype", "the types of neuronxcc", dict(DTYPES))}
    starfish["neuronxcc.starfish.support"] = Stub("neuronxcc.starfish.support", dtype=starfish["neuronxcc.starfish.support.dtype"])
    starfish["neuronxcc.starfish"] = Stub("neuronxcc.starfish", support=starfish["neuronxcc.starfish.support"])
    modules.update(starfish)
    modules["neuronxcc"] = Module("neuronxcc", "neuronxcc", {"nki": modules["neuronxcc.nki"], "starfish": starfish["neuronxcc.starfish"], "__version__": "0"})
    return modules


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds what nobody else does, for imports of the author's files alone: packages that are not installed."""

    def __init__(self, folder):
        self.folder = folder

    def find_spec(self, name, path=None, target=None):
        parent, _, last = name.rpartition(".")
        above = sys.modules.get(parent) if parent else None
        if isinstance(above, Stub):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        if isinstance(above, Module):
            raise above.missing(last)
        if parent or not self._asked_by_author():
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def _asked_by_author(self):
        frame = sys._getframe(2)
        while frame is not None and ("importlib" in frame.f_code.co_filename or frame.f_code.co_filename.startswith(OWN)):
            frame = frame.f_back
        return frame is not None and os.path.abspath(frame.f_code.co_filename).startswith(self.folder)

    def create_module(self, spec):
        name = spec.name
        parent, _, last = name.rpartition(".")
        if parent:
            known = sys.modules[parent].__dict__.get(last)
            return known if isinstance(known, Stub) else Stub(name)
        return STUBS.get(name, lambda: Stub(name))()

    def exec_module(self, module):
        pass


class Installed:
    """Puts the stubs into sys.modules, and afterwards back what was there."""

    def __init__(self, modules, folder):
        self.modules, self.finder = modules, Finder(folder)

    def __enter__(self):
        nki = self.modules["neuronxcc.nki"]
        Stub.kernels = {"nki_jit": nki.jit, "nki_call": nki.nki_call}
        self.before = dict(sys.modules)
        for name in list(sys.modules):
            if name.split(".")[0] in ("nki", "neuronxcc"):
                del sys.modules[name]
        sys.modules.update(self.modules)
        sys.meta_path.append(self.finder)
        sys.path.insert(0, os.path.dirname(self.finder.folder))
        self.path = sys.path[0]

    def __exit__(self, *_):
        sys.meta_path.remove(self.finder)
        if self.path in sys.path:
            sys.path.remove(self.path)
        # The author's other files are read again next time, so that a changed one counts.
        for name, module in list(sys.modules.items()):
            file = getattr(module, "__file__", None)
            ours = name in self.modules or isinstance(module, (Stub, Module)) or (file and name not in self.before and os.path.abspath(file).startswith(self.finder.folder))
            if ours:
                del sys.modules[name]
                if name in self.before:
                    sys.modules[name] = self.before[name]
