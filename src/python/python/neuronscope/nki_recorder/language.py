"""The names of nki.language. A function is also the name of an operator: `op=nl.add`."""

import math
import operator as python

from . import chips, instructions
from .dtypes import DTYPES, FLOAT32
from .errors import KernelError, no_such_name
from .indices import Index, Mask, MGrid, Moved, arange  # noqa: F401 (arange is one of the names)
from .instructions import TABLE, dma, element_type, label, nc_matmul, operand, plain, result, tensor_copy
from .rearrange import rearrange
from .tensors import Blocks, Dynamic, Storage, View, product, whole
from .trace import Trace, now


class Buffer(instructions.Member):
    __slots__ = ("memory",)

    def __init__(self, name, memory):
        super().__init__("buffer", name)
        self.memory = memory

    def __eq__(self, other):
        return self.name == (other if isinstance(other, str) else getattr(other, "name", None))

    __hash__ = object.__hash__


sbuf, psum = Buffer("sbuf", "s"), Buffer("psum", "p")
hbm, shared_hbm, private_hbm = Buffer("hbm", "h"), Buffer("shared_hbm", "o"), Buffer("private_hbm", "h")
BUFFERS = {"s": sbuf, "p": psum, "a": sbuf, "i": shared_hbm, "o": shared_hbm, "h": private_hbm}


_QUICK = {sbuf, psum}


class ParDim(int):
    """The dimension that is the partition."""


par_dim = ParDim


class NKIObject:
    """The base of an author's classes of settings."""

    def __init__(self, **fields):
        for name, value in fields.items():
            setattr(self, name, value)


class _TileSize:
    pmax = chips.PARTITIONS
    psum_fmax = chips.PSUM_BANK_BYTES // 4
    gemm_stationary_fmax = chips.STATIONARY
    bn_stats_fmax = chips.BN_STATS
    psum_min_align, sbuf_min_align = 4, 1

    psum_fmax_bytes, psum_num_banks = chips.PSUM_BANK_BYTES, chips.PSUM_BANKS

    @property
    def gemm_moving_fmax(self):
        return Trace.now.chip.moving

    @property
    def sbuf_fmax_bytes(self):
        return Trace.now.chip.sbuf_available

    total_available_sbuf_size = sbuf_fmax_bytes

    @property
    def sbuf_fmax(self):
        return self.sbuf_fmax_bytes // 4

    @property
    def sbuf_size_bytes(self):
        return Trace.now.chip.sbuf_available * chips.PARTITIONS

    def __getattr__(self, name):
        raise no_such_name("nl.tile_size", name, [one for one in dir(type(self)) if not one.startswith("_")])


tile_size = _TileSize()


class _Limits:
    def __init__(self, low, high):
        self.min, self.max = low, high


fp32 = _Limits(-3.4028234663852886e38, 3.4028234663852886e38)

# Declarations.


def _shape(shape):
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    for one in shape:
        if isinstance(one, Dynamic) or not hasattr(one, "__index__"):
            raise KernelError("value", f"A shape has {one!r}.", "use integers")
        if one < 1:
            raise KernelError("value", f"A shape has the size {int(one)}: {tuple(int(n) for n in shape)}.", "use sizes of at least 1")
    return tuple(one if isinstance(one, ParDim) else int(one) for one in shape)


def ndarray(shape, dtype, buffer=None, name="", address=None, **_):
    trace = now()
    buffer = sbuf if buffer is None or buffer is Ellipsis else buffer
    if buffer in _QUICK and address is None and type(shape) is tuple and all(isinstance(one, int) for one in shape) and (shape, dtype, buffer.memory, 0) in trace.kinds:
        # A partition that stands elsewhere equals a number.
        if not any(type(one) is ParDim for one in shape[1:]):
            # A size that says that it is the partition is a number from here on.
            return instructions.tile((int(shape[0]), *shape[1:]), dtype, buffer.memory, name)
    shape, dtype = _shape(shape), element_type(dtype)
    where, place = getattr(buffer, "place", None), getattr(buffer, "memory", None)
    if place is None:
        place = {"sbuf": "s", "psum": "p", "hbm": "h", "private_hbm": "h", "shared_hbm": "o"}.get(plain(buffer))
    if place is None:
        raise KernelError("memory", f"{buffer!r} is no memory.", "use nl.sbuf, nl.psum, nl.hbm, nl.shared_hbm or nl.private_hbm")
    if place in "ho":
        return _in_hbm(shape, dtype, place, name)
    pdim = next((at for at, one in enumerate(shape) if isinstance(one, ParDim)), 0)
    shape = tuple(int(one) for one in shape)
    if len(shape) == 1:
        raise KernelError("dimension", f"A tile of shape ({shape[0]},) has one dimension.", f"declare partition and free dimension: ({shape[0]}, 1) or (1, {shape[0]})")
    if pdim and trace.dialect == 2:
        raise KernelError("dimension", "Block dimensions (nl.par_dim) are not in nki since 0.2.", "declare a list of tiles")
    if isinstance(address, tuple):
        address = address[-1]
    blocks_at = where and where(shape, pdim, dtype)
    address, bank = blocks_at(0) if blocks_at else (-1 if address is None else int(address), -1)
    return instructions.tile(shape, dtype, place, name, pdim, address, bank, blocks_at=blocks_at)


def _in_hbm(shape, dtype, place, name):
    trace = Trace.now
    shape = tuple(int(one) for one in shape)
    # Every program of a grid declares the outputs anew; they are the same tensors.
    if place == "o" and trace.shared_next < len(trace.shared):
        view = trace.shared[trace.shared_next]
        trace.shared_next += 1
        if view.shape == shape and view.dtype == dtype:
            return view
    view = hbm_tensor(shape, dtype, place, name)
    if place == "o":
        trace.shared.append(view)
        trace.shared_next = len(trace.shared)
    return view


def hbm_tensor(shape, dtype, place, name, site=-1):
    storage = Storage(place, dtype, 0, product(shape), name, 2, site=site)
    storage.written = True if place == "i" else None
    Trace.now.shapes[str(Trace.now.tensor(storage))] = list(shape)
    return whole(storage, shape)


def _filled(value, called):
    def make(shape, dtype, buffer=None, name="", **rest):
        view = ndarray(shape, dtype, buffer, name, **rest)
        fill(view, value)
        return view

    make.__name__ = make.__qualname__ = called
    return make


def fill(view, value):
    """Sets a new tensor to a number. Zero in PSUM is free: the first product overwrites it."""
    if isinstance(view, Blocks):
        for one in view.tiles():
            fill(one, value)
    elif not view.on_chip:
        view.storage.written = True
    elif view.storage.memory == "p" and value == 0:
        view.storage.zeroed = True
    else:
        instructions.memset(view, value, api="nl.zeros" if value == 0 else "nl.full")


zeros, ones = _filled(0, "zeros"), _filled(1, "ones")


def full(shape, fill_value, dtype, buffer=None, name="", **_):
    return _filled(fill_value, "full")(shape, dtype, buffer, name)


def zeros_like(x, dtype=None, buffer=None, name=""):
    return zeros(x.shape, dtype or x.dtype, buffer or x.buffer, name)


def empty_like(x, dtype=None, buffer=None, name=""):
    return ndarray(x.shape, dtype or x.dtype, buffer or x.buffer, name)


def shared_constant(constant, dtype=None):
    now()
    dtype = element_type(dtype if dtype is not None else getattr(constant, "dtype", FLOAT32))
    view = hbm_tensor(tuple(constant.shape), dtype, "h", "constant")
    view.storage.written = True
    Trace.now.constants[view.storage.id] = constant
    return view


def shared_identity_matrix(n, dtype="uint8"):
    """In HBM in the first dialect; a tile in SBUF in the present one."""
    if now().dialect == 2:
        view = full((n, n), 1, dtype)
        return TABLE["affine_select"](view, [[-1, n]], 1, view, 0.0)

    class Identity:
        shape = (n, n)

    return shared_constant(Identity, dtype)


def static_cast(value, dtype):
    """The arrays of the host in another type: they have types alone."""
    return value.astype(dtype) if hasattr(value, "astype") else value


def rand(shape, dtype=FLOAT32, **_):
    return TABLE["rng"](ndarray(shape, dtype))


def random_seed(seed):
    now()


# Transfers and copies.


def _tiles_of(view, api):
    # The first dialect takes one dimension as the partition.
    if view.ndim < 2 and (Trace.now.dialect == 2 or not view.ndim):
        raise KernelError("dimension", f"{api} makes a tile of {'one dimension' if view.ndim == 1 else f'{view.ndim} dimensions'}.", "index it so that two remain: [0:1, 0:512], or nl.arange(n)[None, :]")
    return view.shape


def load(src, dtype=None, mask=None, **_):
    now()
    if type(src) is not View:
        src = operand(src, "src", "nl.load")
    if src.pdim != -2:
        raise KernelError("memory", "src of nl.load is on the chip already.", "use nl.copy")
    dst = result(_tiles_of(src, "nl.load"), src.dtype if dtype is None else element_type(dtype))
    return dma("dma_copy", "nl.load", dst, src, (), "any", mask, True)


def store(dst, value, mask=None, **_):
    now()
    dst = operand(dst, "dst", "nl.store")
    if dst.on_chip:
        raise KernelError("memory", "dst of nl.store is on the chip.", "use nl.copy, or assign: dst[...] = value")
    if isinstance(value, (int, float)):
        value = fill_new(dst.shape, dst.dtype, value)
    value = operand(value, "value", "nl.store")
    if value.on_chip and value.storage.memory != "s":
        value = tensor_copy(None, value, dtype=dst.dtype, mask=mask, api="nl.store")
    if value.shape != dst.shape and value.size != dst.size and Trace.now.dialect == 1:
        value = value.broadcast_to(dst.shape)
    dma("dma_copy", "nl.store", dst, value, (), "any", mask)


def fill_new(shape, dtype, value):
    view = result(shape, dtype)
    fill(view, value)
    return view


def load_transpose2d(src, dtype=None, mask=None, **_):
    now()
    src = operand(src, "src", "nl.load_transpose2d")
    if src.ndim != 2:
        raise KernelError("dimension", f"src of nl.load_transpose2d has {src.ndim} dimensions.", "index it so that two remain")
    dst = result((src.shape[1], src.shape[0]), element_type(dtype) if dtype is not None else src.dtype)
    if mask is not None:
        parts = instructions.shrunk([src], mask)
        if parts is None:
            return instructions.nothing(dst, True)
        part = parts[0]
        goal = dst[: part.shape[1], : part.shape[0]]
        dma("dma_transpose", "nl.load_transpose2d", goal, part, (("axes", (1, 0)),), "any", None, False, True)
        return dst
    return dma("dma_transpose", "nl.load_transpose2d", dst, src, (("axes", (1, 0)),), "any", None, True, True)


def atomic_rmw(dst, value, op, mask=None, **_):
    dma("dma_copy", "nl.atomic_rmw", operand(dst, "dst", "nl.atomic_rmw"), operand(value, "value", "nl.atomic_rmw"), (("dst_op", label(op)),), "any", mask)


def gather_flattened(data, indices, mask=None, dtype=None, **_):
    return TABLE["nc_n_gather"](None, data, indices, dtype=dtype, mask=mask)


# Arithmetic.

_RANK = {"float64": 9, "float32": 8, "tfloat32": 7, "bfloat16": 6, "float16": 5, "int32": 4, "uint32": 3}


def _common(a, b):
    return a if _RANK.get(str(a), 1) >= _RANK.get(str(b), 1) else b


_COMMUTATIVE = {"add", "multiply", "maximum", "minimum", "equal", "not_equal", "bitwise_and", "bitwise_or", "bitwise_xor", "logical_and", "logical_or", "logical_xor"}
_PYTHON = {
    "add": python.add, "subtract": python.sub, "multiply": python.mul, "divide": python.truediv, "power": python.pow, "maximum": max, "minimum": min,
    "equal": python.eq, "not_equal": python.ne, "less": python.lt, "less_equal": python.le, "greater": python.gt, "greater_equal": python.ge,
    "bitwise_and": python.and_, "bitwise_or": python.or_, "bitwise_xor": python.xor, "left_shift": python.lshift, "right_shift": python.rshift,
}  # fmt: skip


def binary(name, a, b, dtype=None, mask=None, dst=None):
    """a op b as the compiler splits it: with a number or one element per partition a tensor_scalar, else a tensor_tensor."""
    now()
    a, b = (one.merge() if isinstance(one, Blocks) else one for one in (a, b))
    api = f"nl.{name}"
    if not isinstance(a, View) and not isinstance(b, View):
        if name not in _PYTHON:
            raise KernelError("value", f"{api} of two numbers.", "compute it in Python")
        return _PYTHON[name](a, b)
    index, tile = (a, b) if isinstance(a, Index) else (b, a)
    if name == "add" and isinstance(index, Index) and isinstance(tile, View):
        axes = tuple((axis, count, 1) for axis, count in enumerate(tile.shape) if count > 1)
        taken = {axis for axis, *_ in index.terms}
        own = Index(tile.ndim, 0, tuple(one for one in axes if one[0] + max(0, index.ndim - tile.ndim) not in taken))
        return Moved(index + own, tile)
    for one in (a, b):
        if isinstance(one, (Index, Mask)):
            raise KernelError("value", f"{api} of a tile and an index.", "make a tile of the index with nisa.iota")
    if isinstance(a, View) and isinstance(b, View) and Trace.now.dialect == 1 and a.storage.memory == b.storage.memory == "p":
        # The compiler of the first dialect copies one of two inputs in PSUM; nisa refuses them.
        b = tensor_copy(None, b, mask=mask, api=api)
    scalar, data = (b, a) if isinstance(a, View) else (a, b)
    if isinstance(a, View) and isinstance(b, View):
        dtype = _common(a.dtype, b.dtype) if dtype is None else dtype
        if a.partitions == b.partitions and a.free > 1 and b.free == 1:
            pass
        elif a.partitions == b.partitions and b.free > 1 and a.free == 1:
            scalar, data = a, b
        else:
            pairs = [("data1", a), ("data2", b)]
            if a.shape != b.shape:
                pairs = instructions.spread(pairs, api)
            return instructions.compute("tensor_tensor", api, dst, pairs, (), (), (("op", name),), "any", dtype, mask)
    args = [("op0", name)]
    vectors = ()
    if isinstance(scalar, View):
        vectors = (("operand0", scalar),)
    else:
        args.append(("operand0", instructions.number(scalar, "An operand", api)))
    if scalar is a and name not in _COMMUTATIVE:
        args.append(("reverse0", True))
    return instructions.compute("tensor_scalar", api, dst, [("data", data)], vectors, (), tuple(args), "any", dtype, mask)


_BY_VECTOR = {"negative": "multiply", "abs": "abs", "trunc": "trunc", "floor": "floor", "ceil": "ceil", "invert": "invert", "logical_not": "logical_not", "sign": None}
_MATH = {"exp": math.exp, "log": math.log, "sqrt": math.sqrt, "sin": math.sin, "cos": math.cos, "tanh": math.tanh, "abs": abs, "floor": math.floor, "ceil": math.ceil}


def unary(name, x, dtype=None, mask=None):
    now()
    if isinstance(x, (int, float)) and name in _MATH:
        return _MATH[name](x)
    if isinstance(x, (int, float)) and name == "rsqrt":
        return x**-0.5
    data = operand(x, "x", f"nl.{name}")
    op = _BY_VECTOR.get(name)
    if op is not None:
        args = (("op0", op), ("operand0", -1.0)) if name == "negative" else (("op0", op),)
        return instructions.compute("tensor_scalar", f"nl.{name}", None, [("data", data)], (), (), args, "any", dtype, mask)
    if name == "reciprocal":
        return instructions.compute("reciprocal", "nl.reciprocal", None, [("data", data)], (), (), (), "any", dtype, mask)
    return instructions.compute("activation", f"nl.{name}", None, [("data", data)], (), (), (("op", name),), "any", dtype, mask)


def reduction(name, x, axis, dtype=None, mask=None, keepdims=False):
    now()
    op = {"sum": "add", "prod": "multiply", "all": "logical_and", "any": "logical_or", "mean": "add"}.get(name, name)
    data = operand(x, "x", f"nl.{name}")
    if name == "var":
        return _variance(data, dtype, mask)
    total = TABLE["tensor_reduce"](None, op, data, axis, keepdims=keepdims, dtype=dtype, mask=mask)
    if name != "mean":
        return total
    return binary("multiply", total, total.size / data.size, dtype, mask)


def _variance(data, dtype, mask):
    data = data.reshape(data.partitions, data.free) if data.ndim != 2 else data
    parts = -(-data.free // chips.BN_STATS)
    stats = result((data.partitions, 6 * parts), FLOAT32)
    for at in range(parts):
        end = min(data.free, (at + 1) * chips.BN_STATS)
        TABLE["bn_stats"](stats[:, 6 * at : 6 * at + 6], data[:, at * chips.BN_STATS : end], mask=None)
    pair = TABLE["bn_aggr"](None, stats, dtype=dtype, mask=mask)
    return pair[:, 1:2]


class Function:
    """A function of nki.language that is also the name of an operator."""

    def __init__(self, op_name, call):
        self.op_name, self.call = op_name, call
        self.__name__ = op_name

    def __call__(self, *args, **named):
        return self.call(self.op_name, *args, **named)

    def __repr__(self):
        return f"nl.{self.op_name}"


BINARY = """add subtract multiply divide power maximum minimum equal not_equal greater greater_equal less less_equal logical_and logical_or logical_xor
bitwise_and bitwise_or bitwise_xor left_shift right_shift fmod abs_max abs_min""".split()
UNARY = """exp log cos sin tan tanh arctan sqrt rsqrt sigmoid relu gelu gelu_dx gelu_apprx_tanh gelu_apprx_tanh_dx gelu_apprx_sigmoid gelu_apprx_sigmoid_dx
silu silu_dx erf erf_dx softplus mish square abs negative sign trunc floor ceil invert logical_not reciprocal bypass""".split()
REDUCTIONS = "max min sum prod mean var all any".split()
NAMES = {}
for _name in BINARY:
    NAMES[_name] = Function(_name, binary)
for _name in UNARY:
    NAMES[_name] = Function(_name, unary)
for _name in REDUCTIONS:
    NAMES[_name] = Function(_name, reduction)
copy = Function("copy", lambda _, *args, **named: _copy(*args, **named))


def _copy(src, dtype=None, mask=None, **_):
    return tensor_copy(None, src, dtype=dtype, mask=mask, api="nl.copy")


def where(condition, x, y, dtype=None, mask=None, **_):
    """A select: the vector engine copies one, then the other where the condition holds."""
    now()
    tiles = [(role, operand(one, role, "nl.where")) for role, one in (("predicate", condition), ("x", x), ("y", y)) if isinstance(one, View)]
    args = tuple((role, plain(one)) for role, one in (("x", x), ("y", y)) if not isinstance(one, View))
    if len({view.shape for _, view in tiles}) > 1:
        tiles = instructions.spread(tiles, "nl.where")
    kind = dtype or (x.dtype if isinstance(x, View) else y.dtype if isinstance(y, View) else FLOAT32)
    return instructions.compute("select", "nl.where", None, tiles, (), (), args, "any", kind, mask)


def matmul(x, y, transpose_x=False, mask=None, **_):
    """x @ y of tiles; x is transposed on the chip unless it is already."""
    now()
    x, y = operand(x, "x", "nl.matmul"), operand(y, "y", "nl.matmul")
    if not transpose_x:
        x = tensor_copy(None, instructions.nc_transpose(None, x), api="nl.matmul")
    return nc_matmul(None, x, y, mask=mask, api="nl.matmul")


def transpose(x, dtype=None, mask=None, **_):
    return instructions.nc_transpose(None, x, dtype=dtype, mask=mask)


def softmax(x, axis=-1, dtype=None, compute_dtype=None, mask=None, **_):
    now()
    x = operand(x, "x", "nl.softmax")
    most = TABLE["tensor_reduce"](None, "max", x, axis, negate=True, mask=mask)
    total = result((x.partitions, 1), FLOAT32)
    powers = TABLE["activation"](None, "exp", x, bias=most, reduce_op="add", reduce_res=total, dtype=compute_dtype or FLOAT32, mask=mask)
    return binary("multiply", powers, TABLE["reciprocal"](None, total, mask=mask), dtype or x.dtype, mask)


def rms_norm(x, w, axis=-1, n=None, epsilon=1e-6, dtype=None, compute_dtype=None, mask=None, **_):
    now()
    x = operand(x, "x", "nl.rms_norm")
    total = result((x.partitions, 1), FLOAT32)
    TABLE["activation"](None, "square", x, reduce_op="add", reduce_res=total, dtype=compute_dtype or FLOAT32, mask=mask)
    scale = TABLE["activation"](None, "rsqrt", total, scale=1.0 / (n or x.free), mask=mask)
    normal = binary("multiply", x, scale, dtype or x.dtype, mask)
    return binary("multiply", normal, w, dtype or x.dtype, mask) if w is not None else normal


def dropout(x, rate, dtype=None, mask=None, **_):
    return TABLE["dropout"](None, x, rate, dtype=dtype, mask=mask)


def expand_dims(data, axis):
    return operand(data, "data", "nl.expand_dims").expand_dim(axis)


def broadcast_to(src, shape, **_):
    return operand(src, "src", "nl.broadcast_to").broadcast_to(shape)


class Reduction:
    """What nl.loop_reduce returns: the first turn of the loops sets the tile that it is assigned to, the others combine with it."""

    def __init__(self, value, op, first, mask):
        self.value, self.op, self.first, self.mask = value, op, first, mask

    def into(self, target):
        if self.first:
            return tensor_copy(target, self.value, mask=self.mask, api="nl.loop_reduce")
        tiles = [("data1", target), ("data2", self.value)]
        return instructions.compute("tensor_tensor", "nl.loop_reduce", target, tiles, (), (), (("op", self.op),), "any", None, self.mask)

    def settle(self):
        return tensor_copy(None, self.value, mask=self.mask, api="nl.loop_reduce")


def loop_reduce(value, op, loop_indices=(), dtype=None, mask=None, **_):
    now()
    return Reduction(operand(value, "value", "nl.loop_reduce"), label(op), all(index == 0 for index in loop_indices), mask)


def all_reduce(x, op, program_axes=(), dtype=None, mask=None, **_):
    return instructions.compute("all_reduce", "nl.all_reduce", None, [("data", operand(x, "x", "nl.all_reduce"))], (), (), (("op", label(op)),), "any", dtype, mask)


def device_print(*_, **__):
    now()


def no_reorder(*_, **__):
    return NoReorder()


class NoReorder:
    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False


# Results in place (the first dialect).


def _nothing_written(target):
    """A mask left nothing of a write: what is read there later is the author's business, as with a mask that leaves a part."""
    target = target.merge() if isinstance(target, Blocks) else target
    if target.on_chip and not target.edge:
        instructions.mark(target, target.pattern())


def _redirect(value, target, accumulate=None):
    """Makes `target` the destination of the instruction that made `value`; False if something else used it since."""
    trace = Trace.now
    storage = value.storage
    if not storage.made:
        return storage.made == ()
    at, number, mask = storage.made
    if trace.last[storage.id] != number or trace.count - 1 < number or (value.pat if value.pat >= 0 else value.pattern()) != storage.whole:
        return False
    if value.shape != target.shape and value.size != target.size:
        return False
    op, place = trace.forms.rows[trace.code[at - 3]]["op"], target.storage.memory
    is_product = op == "nc_matmul" or op == "nc_transpose"
    if is_product and (op == "nc_matmul" or storage.memory == "p") != (place == "p"):
        return False
    if place == "p" and op in ("dma_copy", "dma_transpose"):
        return False
    goal = target
    if mask is not None and mask is not True and not is_product:
        goal = target.valid(mask)
    elif target.edge:
        target.check_edge({})
    if goal is None:
        _nothing_written(target)
        return True
    pattern = goal.pattern()
    if accumulate:
        trace.code[at - 3] = trace.adding(trace.code[at - 3])
    trace.forget(storage)
    row = goal.storage.id
    if row < 0:
        row = trace.tensor(goal.storage)
    trace.code[at : at + 3] = (row, goal.start, pattern)
    if trace.first[row] < 0:
        trace.first[row] = number
    if trace.last[row] < number:
        trace.last[row] = number
    if goal.storage.written is not True or goal.storage.of is not None:
        instructions.mark(goal, pattern)
    storage.made = None
    return True


class _Operators:
    """What tensors do when the first dialect writes `x[i] = y`, `x += y`, `x + y`, and what else needs this module."""

    buffers = BUFFERS
    rearrange = staticmethod(rearrange)
    binary = staticmethod(binary)
    copy = staticmethod(_copy)
    over_partitions = staticmethod(instructions.over_partitions)

    @staticmethod
    def transpose(view):
        return transpose(view)

    @staticmethod
    def assign(target, value):
        if isinstance(value, View) and value.storage is not None and value.storage.made == ():
            _nothing_written(target)
            return
        if isinstance(target, Blocks):
            if isinstance(value, (int, float)):
                for one in target.tiles():
                    instructions.memset(one, value, api="an assignment")
                return
            target = target.merge()
        if isinstance(value, (int, float)):
            instructions.memset(target, value, api="an assignment")
            return
        if isinstance(value, Reduction):
            value.into(target)
            return
        value = operand(value, "value", "an assignment")
        if value.storage is target.storage and value.start == target.start and value.shape == target.shape and value.p0 == target.p0:
            return
        if not target.on_chip:
            raise KernelError("memory", "A tensor in HBM is assigned to.", "use nl.store")
        if not value.on_chip:
            raise KernelError("memory", "A tensor in HBM is assigned to a tile.", "use nl.load")
        if _redirect(value, target):
            return
        if value.shape != target.shape and value.size != target.size:
            value = value.broadcast_to(target.shape)
        tensor_copy(target, value, api="an assignment")

    @staticmethod
    def in_place(target, value, op):
        if isinstance(target, Blocks):
            target = target.merge()
        if op == "add" and target.storage.memory == "p" and isinstance(value, View) and value.storage.made:
            if Trace.now.forms.rows[Trace.now.code[value.storage.made[0] - 3]]["op"] == "nc_matmul":
                accumulate = instructions._was_written(target, target.pattern())
                if _redirect(value, target, accumulate):
                    return target
        binary(op, target, value, target.dtype, None, target)
        return target


View.operators = _Operators


# Loops and programs.


class Loop:
    """A range whose turns the list knows."""

    kind = "python"

    def __init__(self, *bounds):
        self.dynamic = any(isinstance(one, Dynamic) and getattr(one, "value", None) is None for one in bounds)
        bounds = tuple(0 if self.dynamic and isinstance(one, Dynamic) else one for one in bounds)
        if not bounds or any(one is None for one in bounds[:1]):
            raise KernelError("signature", f"nl.{self.kind}_range needs a number of turns.", "give it an integer")
        bounds = tuple(one for one in bounds if one is not None)
        try:
            self.values = range(Trace.now.unknown_turns) if self.dynamic else range(*(one.__index__() for one in bounds))
        except AttributeError:
            raise KernelError("value", f"A loop runs to {bounds[-1]!r}.", "give it integers") from None

    def __iter__(self):
        trace = Trace.now
        if trace is None or trace.kernel is None:
            return iter(self.values)
        if self.dynamic:
            trace.warn("loop", f"The number of turns of this loop is known on the device only: it is recorded {_turns(len(self.values))}.")
        return trace.turns(self.kind, self.values, -1 if self.dynamic else len(self.values), trace.site(2))

    def __len__(self):
        return len(self.values)

    def __getitem__(self, at):
        return self.values[at]

    def __contains__(self, one):
        return one in self.values

    def __reversed__(self):
        other = type(self)(0)
        other.values = self.values[::-1]
        return iter(other)

    def __eq__(self, other):
        return self.values == (other.values if isinstance(other, Loop) else other)

    def __repr__(self):
        return repr(self.values)

    @property
    def start(self):
        return self.values.start

    @property
    def stop(self):
        return self.values.stop

    @property
    def step(self):
        return self.values.step


def _loop(kind):
    class Kind(Loop):
        pass

    Kind.kind = kind

    def make(start, stop=None, step=1, **_):
        return Kind(start) if stop is None else Kind(start, stop, step)

    make.__name__ = make.__qualname__ = f"{kind}_range"
    return make


affine_range, sequential_range, static_range, dynamic_range = (_loop(kind) for kind in ("affine", "sequential", "static", "dynamic"))


class Fori(Loop):
    kind = "fori"


def _turns(count):
    return "once" if count == 1 else f"{count} times"


def fori_loop(lower, upper, body_fun, step=1):
    now()
    for value in Fori(lower, upper, step):
        body_fun(value)


def while_loop(init, body_fun):
    trace = now()
    trace.warn("loop", f"The number of turns of nl.while_loop is known on the device only: it is recorded {_turns(trace.unknown_turns)}.")
    register = init
    for _ in trace.turns("while", range(trace.unknown_turns), -1, trace.site(2)):
        register = body_fun(register)


def ds(start, size):
    if isinstance(start, Dynamic) and getattr(start, "value", None) is None:
        return slice(start, size)
    start = start if isinstance(start, (int, Index)) else start.__index__()
    if isinstance(start, Index):
        raise KernelError("value", "nl.ds starts at an index of nl.arange.", "use an integer or a loop variable")
    return slice(start, start + size)


dslice = ds


def program_id(axis=0):
    program = now().program
    return program[axis] if axis < len(program) else 0


def num_programs(axes=0):
    programs = now().programs
    if isinstance(axes, (tuple, list)):
        return product([programs[axis] for axis in axes])
    return programs[axes or 0] if (axes or 0) < len(programs) else 1


def program_ndim():
    return len(now().programs)


class SpmdDim(int):
    """A dimension of a grid; `cores` of it run side by side."""


def nc(count):
    return SpmdDim(count)


def spmd_dim(first, second=1):
    return SpmdDim(int(first) * int(second))


mgrid = MGrid()


# What is public besides operators and types.
_HERE = """ndarray zeros ones full zeros_like empty_like shared_constant shared_identity_matrix static_cast rand random_seed load store load_transpose2d atomic_rmw copy
gather_flattened where matmul transpose softmax rms_norm dropout expand_dims broadcast_to loop_reduce all_reduce device_print no_reorder affine_range
sequential_range static_range dynamic_range fori_loop while_loop ds dslice program_id num_programs program_ndim nc spmd_dim arange mgrid par_dim tile_size fp32
sbuf psum hbm shared_hbm private_hbm NKIObject""".split()

# Names that only one dialect has, and what replaces them.
FIRST_ONLY = {
    "arange": "slices, or nl.ds(start, size)",
    "mgrid": "slices, or nl.ds(start, size)",
    "par_dim": "a list of tiles",
    "loop_reduce": "nisa.tensor_tensor on a tile that stays",
    "spmd_dim": "kernel[lnc](...)",
    "atomic_rmw": "nisa.dma_compute",
    "gather_flattened": "nisa.nc_n_gather",
}
SECOND_ONLY = {"fori_loop", "while_loop", "dynamic_range", "NKIObject", "NkiTensor", "MemoryRegion", "no_reorder"}


def names(dialect):
    types = {name: kind for name, kind in DTYPES.items() if name != "float64"}
    public = {**{name: globals()[name] for name in _HERE}, **NAMES, **types, "bool_": DTYPES["bool"], "NkiTensor": View, "MemoryRegion": Buffer}
    for name in FIRST_ONLY if dialect == 2 else SECOND_ONLY:
        public.pop(name, None)
    return public
