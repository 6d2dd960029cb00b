"""The instructions of nki.isa. Each takes its destination first; without one (the first dialect) it makes a tile and returns it."""

from . import chips, rules
from .dtypes import FLOAT32
from .errors import KernelError, times
from .host import Absent
from .indices import Index, Mask
from .tensors import SPOKEN, Blocks, Dynamic, Group, Storage, View, element_type, product, whole
from .trace import Trace, now


class Member:
    """A member of an enumeration such as nisa.engine; later ones are greater, as versions are."""

    __slots__ = ("enum", "name", "rank")

    def __init__(self, enum, name, rank=0):
        self.enum, self.name, self.rank = enum, name, rank

    def __lt__(self, other):
        return self.rank < other.rank

    def __le__(self, other):
        return self.rank <= other.rank

    def __gt__(self, other):
        return self.rank > other.rank

    def __ge__(self, other):
        return self.rank >= other.rank

    def __repr__(self):
        return f"{self.enum}.{self.name}"

    @property
    def value(self):
        return self.name


def label(op):
    """The name of an operator: of this package, of NumPy, or a string."""
    if op is None or isinstance(op, str):
        return op
    if isinstance(op, Absent):
        name = op._name.rsplit(".", 1)[-1]
    else:
        name = getattr(op, "op_name", None) or getattr(op, "__name__", None) or str(op)
    return {"amax": "max", "amin": "min", "absolute": "abs", "true_divide": "divide", "sum": "add", "prod": "multiply"}.get(name, name)


def plain(value):
    """An argument as JSON has it, and as a key of a dictionary."""
    if value is None or isinstance(value, (bool, int, str)) and type(value) in (bool, int, str):
        return value
    if isinstance(value, float) or hasattr(value, "item") or hasattr(value, "__float__"):
        number = float(value.item() if hasattr(value, "item") else value)
        # JSON has no infinity.
        return number if abs(number) < 1e308 else str(number)
    if isinstance(value, (list, tuple)):
        return tuple(plain(one) for one in value)
    if isinstance(value, Member):
        return value.name
    return label(value)


def number(value, role, api):
    """A number, or a register, as JSON has it."""
    if isinstance(value, (int, float, Dynamic, Absent)) or hasattr(value, "item") or hasattr(value, "__float__"):
        return plain(value)
    raise KernelError("signature", f"{role} of {api} is {type(value).__name__}, neither a number nor a tile.", "pass a number, or a tile")


def engine_name(engine):
    name = plain(engine)
    return "any" if name in (None, "unknown") else name


# Declarations.


def tile(shape, dtype, memory, name="", pdim=0, address=-1, bank=-1, depth=4, blocks_at=None):
    """A new tile; with `pdim` > 0 the dimensions before it are blocks. Bytes of a partition, partitions: as the chip allows."""
    trace = Trace.now
    kind = (shape, dtype, memory, pdim)
    known = trace.kinds.get(kind)
    if known is not None:
        partitions, free, pattern = known
        storage = Storage(memory, dtype, partitions, free, name, depth, pattern)
        if address >= 0 or bank >= 0:
            storage.address, storage.bank = address, bank
        return whole(storage, shape)
    partitions, free = shape[pdim], product(shape[pdim + 1 :])
    if partitions > chips.PARTITIONS:
        raise KernelError(
            "partition",
            f"A tile of {times(shape)} has {partitions} partitions; the chip has {chips.PARTITIONS}.",
            f"tile the first dimension in steps of {chips.PARTITIONS}, or put the tensor in HBM",
        )
    size = free * dtype.itemsize
    if memory == "p" and size > chips.PSUM_BANK_BYTES * chips.PSUM_BANKS:
        raise KernelError(
            "capacity",
            f"A tile of {times(shape)} {dtype} takes {size:,} bytes of a partition; PSUM has {chips.PSUM_BANK_BYTES * chips.PSUM_BANKS:,}.",
            "use smaller tiles",
            "NCC_INLA001",
        )
    if memory == "s" and size >= trace.chip.sbuf_available:
        trace.error(
            KernelError(
                "capacity",
                f"A tile of {times(shape)} {dtype} takes {size:,} bytes of a partition; SBUF of {trace.chip.name} leaves {trace.chip.sbuf_available:,}.",
                "use smaller tiles",
                "NCC_INLA001",
            )
        )
    if not pdim:
        storage = Storage(memory, dtype, partitions, free, name, depth)
        storage.address, storage.bank = address, bank
        if size < trace.chip.sbuf_available:
            trace.kinds[kind] = (partitions, free, storage.whole)
        return whole(storage, shape)

    place = Storage(memory, dtype, partitions, free, name, depth)

    def make(group, number, blocks):
        storage = Storage(memory, dtype, partitions, free * blocks, name, depth)
        storage.site, storage.scope, storage.declared, storage.group = place.site, place.scope, place.declared, group
        storage.address, storage.bank = blocks_at(number) if blocks_at else (address, bank)
        return storage

    blocks = shape[:pdim]
    steps = [product(blocks[at + 1 :]) for at in range(len(blocks))]
    return Blocks(Group(blocks, make), 0, steps, shape, dtype)


def result(shape, dtype, memory="s"):
    """A tile for the result of a call of the first dialect."""
    shape = tuple(shape)
    if len(shape) < 2:
        shape = (*shape, 1)
    known = Trace.now.kinds.get((shape, dtype, memory, 0))
    if known is None or len(shape) > 2:
        return tile(shape, dtype, memory)
    view = View(Storage(memory, dtype, known[0], known[1], "", 3, known[2]), shape, (1, 1), 0, 0, 0, dtype)
    view.pat = known[2]
    return view


# What every instruction checks.


def operand(value, role, api):
    if type(value) is View:
        return value
    if isinstance(value, Blocks):
        return value.merge()
    if hasattr(value, "settle"):
        return value.settle()
    if isinstance(value, (Index, Mask)):
        raise KernelError("value", f"{role} of {api} is an index, not a tile.", "make a tile of it with nisa.iota")
    raise KernelError("signature", f"{role} of {api} is {type(value).__name__}, not a tensor.", "pass a tile, or a view of one")


def _bits(pattern):
    """Elements of a pattern that starts at 0, as the bits of a number."""
    mask = 1
    for at in range(len(pattern) - 2, 1, -2):
        stride, count = pattern[at], pattern[at + 1]
        if mask == 1 and stride == 1:
            mask = (1 << count) - 1
        elif stride:
            one = mask
            for turn in range(1, count):
                mask |= one << turn * stride
    return mask


def _missing(storage, key):
    """Whether all (2), some (1) or none (0) of what a read takes was never written."""
    rows = Trace.now.patterns.rows
    pattern = rows[key & 0xFFFFFF]
    want = _bits(pattern) << (key >> 24)
    low, high = pattern[0], pattern[0] + pattern[1]
    writes = storage.written if type(storage.written) is set else (storage.written,)
    found = []
    for write in writes:
        one = rows[write & 0xFFFFFF]
        if one[0] < high and one[0] + one[1] > low:
            found.append((one[0], one[0] + one[1], _bits(one) << (write >> 24)))
    edges = sorted({low, high, *(edge for first, end, _ in found for edge in (first, end) if low < edge < high)})
    hit = miss = False
    for first in edges[:-1]:
        have = 0
        for start, end, bits in found:
            if start <= first < end:
                have |= bits
        miss = miss or bool(want & ~have)
        hit = hit or bool(want & have)
    if not miss and key == storage.whole:
        storage.written = True
    return (1 if hit else 2) if miss else 0


def check_read(view, pattern, role, api):
    storage = view.storage
    written = storage.written
    if written is True or storage.memory == "i":
        return
    key = view.start << 24 | pattern
    if written is not None:
        if written == key or view.dynamic is not None or view.pdim == -2:
            return
        if type(written) is set and key in written:
            return
        missing = _missing(storage, key)
        if missing == 0:
            return
        if missing == 1:
            if Trace.now.dialect == 2:
                Trace.now.warn("uninitialised", f"{role} of {api} reads elements that nothing has written yet.")
            return
    elif storage.zeroed or storage.of is not None and storage.of.written is not None:
        return
    name = f" {storage.name!r}" if storage.name else ""
    raise KernelError(
        "uninitialised",
        f"{role} of {api} reads a tile of {times(view.shape)} in {SPOKEN[storage.memory]}{name} that nothing has written.",
        "write it first (nisa.dma_copy, nisa.memset, ...)",
    )


def mark(view, pattern):
    storage = view.storage
    if storage.of is not None:
        storage.of.written = True
    written = storage.written
    if written is True:
        return
    if (pattern == storage.whole and not view.start) or view.dynamic is not None or view.pdim == -2:
        storage.written = True
        return
    key = view.start << 24 | pattern
    if written is None:
        storage.written = key
    elif type(written) is set:
        written.add(key)
    elif written != key:
        storage.written = {written, key}


def _start(view, role, api):
    count, first = view.shape[view.pdim], view.p0
    if first % 32 or (count > 32 and first % 64) or (count > 64 and first):
        message = f"{role} of {api} takes partitions {first} to {first + count - 1}; {count} partitions must start at " + (
            "0." if count > 64 else "0 or 64." if count > 32 else "0, 32, 64 or 96."
        )
        if Trace.now.dialect == 2:
            raise KernelError("partition", message, "move the data with nisa.dma_copy, or lay the tile out at such a partition")
        Trace.now.warn("partition", message)


def _spoken(view):
    return f"{view.partitions}x{view.free}"


def places(views):
    """The patterns of views on the chip; -1 for those that must be looked at: in HBM, over an edge, without partitions."""
    patterns = []
    for view in views:
        place = view.pat
        if place < 0 and view.pdim >= 0 and view.edge is None:
            place = view.pattern()
        patterns.append(place)
    return patterns


def on_chip(view, role, api, patterns):
    memory = view.storage.memory
    if memory not in "spa":
        raise KernelError(
            "memory",
            f"{role} of {api} is in HBM; engines read and write SBUF and PSUM only.",
            "load it into a tile first" if role != "dst" else "write a tile and store it with nisa.dma_copy",
        )
    if view.edge:
        view.check_edge({})
    pattern = view.pattern()
    if view.p0:
        _start(view, role, api)
    patterns.append(pattern)


def emit(op, api, roles, views, patterns, writes, args, engine, mask=None, fresh=False, resolved=False):
    """Checks what is read, appends the instruction, and notes what is written. `fresh`: the first operand is new; `resolved`: offsets that
    the device knows are operands."""
    trace = Trace.now
    count = trace.count
    if count & 1023 == 0:
        trace.check_budget()
    form = trace.forms.places.get((op, roles, args, engine, api))
    scope = trace.scope
    row = [form, views[0].storage.site if fresh else trace.site(3), scope if scope >= 0 else trace.open_scope()]
    first, last = trace.first, trace.last
    # Operands that are not known to be written as a whole.
    unsettled = 0
    for view, pattern in zip(views, patterns):
        if view.dynamic is not None and not resolved:
            return emit(op, api, *_offsets(views, patterns, roles, args, writes), engine, mask, fresh, True)
        storage = view.storage
        number = storage.id
        if number < 0:
            number = trace.tensor(storage)
        row += (number, view.start, pattern)
        if first[number] < 0:
            first[number] = count
        last[number] = count
        if storage.written is not True:
            unsettled += 1
    if unsettled:
        # What is read is checked before dst counts as written.
        if unsettled > 1 or writes != 1 or views[0].storage.written is True:
            for view, pattern, role in zip(views[writes:], patterns[writes:], roles[writes:]):
                if view.storage.written is not True:
                    check_read(view, pattern, role, api)
        for view, pattern in zip(views[:writes], patterns):
            storage = view.storage
            if pattern == storage.whole and not view.start and storage.of is None:
                storage.written = True
            elif storage.written is not True:
                mark(view, pattern)
    if form is None:
        rules.allow(trace, op, api, args, engine, _two_operands())
        form = row[0] = trace.form(op, roles, writes, args, engine, api)
        if rules.is_of_bits(op, api, args):
            trace.of_bits.add(form)
    if form in trace.of_bits:
        rules.integers(trace, api, roles, views)
    code = trace.code
    if fresh:
        views[0].storage.made = (len(code) + 3, count, mask)
    code += row
    trace.count = count + 1


def _two_operands():
    from .language import BINARY

    return BINARY


def _offsets(views, patterns, roles, args, writes):
    """The operands with those whose address is known on the device only named; offsets that are a tile are read too."""
    indirect = tuple(at for at, view in enumerate(views) if view.dynamic is not None)
    offsets = [views[at].dynamic for at in indirect if isinstance(views[at].dynamic, View)]
    patterns = [*patterns, *(view.pattern() for view in offsets)]
    return (*roles, *("offset" for _ in offsets)), [*views, *offsets], patterns, writes, (*args, ("dynamic", indirect))


def nothing(dst, fresh):
    """What an instruction returns of which a mask leaves nothing: it is not recorded, and an assignment of it neither."""
    if fresh:
        dst.storage.made, dst.storage.written = (), True
    return dst


def shrunk(views, mask):
    """The views without what a mask takes away, or None."""
    if mask is None or mask is True:
        return views
    if mask is False:
        return None
    parts = [view.valid(mask) for view in views]
    return None if any(part is None for part in parts) else parts


def compute(op, api, dst, tiles, vectors, outs, args, engine, dtype, mask, shape=None, others=(), fresh=False):
    """An instruction of an engine: `tiles` have the size of dst, `vectors` and `outs` one element per partition; pairs (role, view)."""
    trace = now()
    fresh = fresh or dst is None
    if len(tiles) == 2 and tiles[0][1].shape != tiles[1][1].shape and trace.dialect == 1:
        tiles = spread(tiles, api)
    if dst is None:
        source = (tiles or others)[0][1]
        dst = result(shape or source.shape, element_type(dtype) if dtype is not None else source.dtype)
    elif type(dst) is not View:
        dst = operand(dst, "dst", api)
    roles, views = ["dst"], [dst]
    for part in (outs, tiles, others, vectors):
        for role, view in part:
            roles.append(role)
            views.append(view)
    if mask is not None:
        views = shrunk(views, mask)
        if views is None:
            return nothing(dst, fresh)
    at, roles = 1 + len(outs), tuple(roles)
    patterns = places(views)
    key = (api, engine, roles, tuple(patterns), "".join([view.storage.memory for view in views]))
    if key not in trace.right or (views[0].start and key[4][0] == "p"):
        patterns = []
        for role, view in zip(roles, views):
            on_chip(view, role, api, patterns)
        _fits(op, api, roles, views, at, len(tiles), len(others), engine)
        if -1 not in key[3]:
            trace.right.add(key)
    emit(op, api, roles, views, patterns, at, args, engine, mask, fresh)
    return dst


def _fits(op, api, roles, views, at, tiles, others, engine):
    """Whether the sizes and memories of an instruction go together: `at` views are written, then come tiles, others, vectors."""
    goal = views[0]
    partitions, free = goal.partitions, goal.free
    for role, view in zip(roles[at : at + tiles], views[at:]):
        if view.partitions != partitions or view.free != free:
            kind = "size" if op == "tensor_copy" else "broadcast"
            fix = "make both of the same size"
            if view.free == 1 and tiles > 1:
                fix = "give a [partitions, 1] operand to nisa.tensor_scalar, or repeat it with .ap or .broadcast"
            raise KernelError(kind, f"{role} of {api} has {_spoken(view)} elements (partitions x free), dst has {_spoken(goal)}.", fix)
    for role, view in [*zip(roles[1:at], views[1:at]), *zip(roles[at + tiles + others :], views[at + tiles + others :])]:
        if view.free != 1 or view.partitions != partitions:
            raise KernelError(
                "broadcast", f"{role} of {api} has {_spoken(view)} elements (partitions x free); it must have {partitions}x1.", "give it one element for each partition"
            )
    psum = [role for role, view in zip(roles[at:], views[at : at + tiles]) if view.storage.memory == "p"]
    if len(psum) > 1:
        raise KernelError(
            "memory",
            f"{api} reads {psum[0]} and {psum[1]} from PSUM; an instruction reads at most one of two inputs there.",
            "copy one to SBUF with nisa.tensor_copy",
            "NCC_IBVF027",
        )
    if engine == "gpsimd" and any(view.storage.memory == "p" for view in views):
        raise KernelError("memory", f"{api} uses PSUM on GpSimd, which reaches SBUF only.", "use engine=nisa.engine.vector")
    _aligned(goal, api)


def spread(tiles, api):
    """Tiles of the first dialect brought to their common shape: free dimensions repeat, and one partition is copied to all."""
    # One dimension is the partition of one element each.
    tiles = [(role, view.expand_dim(1) if view.ndim == 1 and view.pdim == 0 else view) for role, view in tiles]
    ndim = max(view.ndim for _, view in tiles)
    shapes = [(1,) * (ndim - view.ndim) + view.shape for _, view in tiles]
    common = []
    for axis in range(ndim):
        counts = {shape[axis] for shape in shapes} - {1}
        if len(counts) > 1:
            names = " and ".join(times(view.shape) for _, view in tiles)
            raise KernelError("broadcast", f"{api} of {names}: dimension {axis} differs.", "make the shapes equal, or one element in that dimension")
        common.append(counts.pop() if counts else 1)
    common = tuple(common)
    return [(role, view if view.shape == common else view.broadcast_to(common)) for role, view in tiles]


def _aligned(view, api):
    if view.storage.memory == "p" and view.start * view.dtype.itemsize % 4:
        Trace.now.error(
            KernelError(
                "psum", f"dst of {api} starts at byte {view.start * view.dtype.itemsize} of PSUM; slots are aligned to 4 bytes.", "begin at an even element of a 16-bit tile"
            )
        )


# Transfers.


def dma(op, api, dst, src, args, engine="any", mask=None, fresh=False, swapped=False):
    """A transfer between HBM and SBUF, or within one of them. `swapped`: a transpose, whose sides share no rows."""
    trace = Trace.now
    if trace is None or trace.kernel is None:
        now()
    key = None
    if mask is None and dst.edge is None and src.edge is None:
        key = (op, dst.storage.memory, dst.shape, dst.strides, dst.p0, dst.pdim, src.storage.memory, src.shape, src.strides, src.p0, src.pdim)
        patterns = trace.transfers.get(key)
        if patterns is not None:
            emit(op, api, ("dst", "src"), (dst, src), patterns, 1, args, engine, None, fresh)
            return dst
    views = shrunk([dst, src], mask)
    if views is None:
        return nothing(dst, fresh)
    dst_part, src_part = views
    for role, view in (("dst", dst_part), ("src", src_part)):
        if view.storage.memory == "p":
            fix = "copy it to SBUF with nisa.tensor_copy first" if role == "src" else "load into SBUF"
            raise KernelError("memory", f"{role} of {api} is in PSUM, which DMA does not reach.", fix)
        if view.edge:
            view.check_edge({})
    if dst_part.size != src_part.size:
        raise KernelError(
            "size",
            f"dst of {api} has {times(dst_part.shape)} elements ({dst_part.size}), src has {times(src_part.shape)} ({src_part.size}).",
            "index both so that they have the same number of elements",
        )
    patterns = []
    for view, other in ((dst_part, src_part), (src_part, dst_part)):
        if view.pdim != -2:
            patterns.append(view.pattern())
        else:
            patterns.append(view.hbm_pattern(other.partitions if other.pdim != -2 and not swapped else 0))
    if key is not None:
        trace.transfers[key] = patterns
    emit(op, api, ("dst", "src"), views, patterns, 1, args, engine, mask, fresh)
    return dst


def dma_copy(dst, src, priority=None, oob_mode=None, dge_mode=None, engine=None, name=None, dtype=None, mask=None, dst_rmw_op=None, unique_indices=True):
    args = []
    mode = plain(dge_mode)
    if mode not in (None, "unknown"):
        args.append(("dge_mode", mode))
    if dst_rmw_op is not None:
        args.append(("dst_op", label(dst_rmw_op)))
    if priority is not None:
        args.append(("priority", plain(priority)))
    dst = operand(dst, "dst", "nisa.dma_copy")
    if not isinstance(src, (View, Blocks)) and isinstance(src, (int, float)):
        raise KernelError("signature", "src of nisa.dma_copy is a number, not a tensor.", "use nisa.memset to fill a tile")
    dma("dma_copy", "nisa.dma_copy", dst, operand(src, "src", "nisa.dma_copy"), tuple(args), engine_name(engine), mask)
    return dst


def dma_transpose(dst, src=None, axes=None, priority=None, dge_mode=None, oob_mode=None, name=None, dtype=None, mask=None, engine=None):
    api = "nisa.dma_transpose"
    fresh = dst is None
    src = operand(src, "src", api)
    order = axes or {2: (1, 0), 3: (2, 1, 0), 4: (3, 1, 2, 0)}.get(src.ndim)
    if order is None or tuple(order) not in ((1, 0), (2, 1, 0), (3, 1, 2, 0)):
        raise KernelError("value", f"{api} does not have the axes {order}.", "use (1, 0), (2, 1, 0) or (3, 1, 2, 0)")
    if fresh:
        dst = result([src.shape[at] for at in order], src.dtype)
    dst = operand(dst, "dst", api)
    row = dst.storage.elements * dst.storage.dtype.itemsize
    if dst.on_chip and row % 32:
        Trace.now.error(KernelError("value", f"dst of {api} has rows of {row} bytes; they must be a multiple of 32.", "pad the free dimension of the tile"))
    dma("dma_transpose", api, dst, src, (("axes", tuple(order)),), "any", mask, fresh, True)
    return dst


def dma_compute(dst, srcs, reduce_op, scales=None, unique_indices=True, oob_mode=None, name=None, mask=None):
    api = "nisa.dma_compute"
    now()
    views = [operand(dst, "dst", api), *(operand(one, f"srcs[{at}]", api) for at, one in enumerate(srcs))]
    for at, view in enumerate(views[1:]):
        if view.size != views[0].size:
            raise KernelError("size", f"dst of {api} has {views[0].size} elements, srcs[{at}] has {view.size}.", "give all the same number of elements")
    count = max([view.partitions for view in views if view.pdim >= 0] or [0])
    patterns = [view.pattern() if view.pdim != -2 else view.hbm_pattern(count) for view in views]
    roles = ("dst", *(f"src{at}" for at in range(len(srcs))))
    emit("dma_compute", api, roles, views, patterns, 1, (("reduce_op", label(reduce_op)),), "any")
    return dst


# Products.


def nc_matmul(
    dst,
    stationary,
    moving,
    is_stationary_onezero=False,
    is_moving_onezero=False,
    is_transpose=False,
    accumulate=None,
    tile_position=(),
    tile_size=(),
    perf_mode=None,
    name=None,
    dtype=None,
    mask=None,
    psum_accumulate_flags=None,
    api="nisa.nc_matmul",
    op="nc_matmul",
    scales=(),
):
    trace = Trace.now
    if trace is None or trace.kernel is None:
        now()
    if type(stationary) is not View or type(moving) is not View:
        stationary, moving = operand(stationary, "stationary", api), operand(moving, "moving", api)
    fresh = dst is None
    mode = None if perf_mode is None else plain(perf_mode)
    half = 2 if mode not in (None, "none") else 1
    if fresh:
        kind = element_type(dtype) if dtype is not None else (stationary.dtype if is_transpose else FLOAT32)
        dst = result((stationary.free // half, moving.free // half), kind, "p")
    elif type(dst) is not View:
        dst = operand(dst, "dst", api)
    views = [dst, stationary, moving, *scales]
    if mask is not None:
        # A mask of the first dialect speaks of the operands.
        parts = shrunk([stationary, moving], mask)
        if parts is None:
            return nothing(dst, fresh)
        views[1:3] = parts
        if views[1].free < stationary.free or views[2].free < moving.free:
            views[0] = dst[: views[1].free, : views[2].free]
    goal, left, right = views[:3]
    patterns = places(views)
    key = (api, half, goal.start, *patterns, goal.storage.memory, left.storage.memory, right.storage.memory, id(goal.dtype), id(left.dtype), id(right.dtype))
    if key not in trace.right:
        patterns = []
        _product_fits(trace, op, api, goal, left, right, scales, half, patterns)
        if -1 not in key[3:]:
            trace.right.add(key)
    if accumulate is None:
        accumulate = False if fresh else _was_written(goal, patterns[0])
    args = (("accumulate", bool(accumulate)),)
    if is_transpose:
        args += (("is_transpose", True),)
    if is_stationary_onezero:
        args += (("is_stationary_onezero", True),)
    if is_moving_onezero:
        args += (("is_moving_onezero", True),)
    if half == 2:
        args += (("perf_mode", mode),)
    if tile_position or tile_size:
        args += (("tile_position", plain(tile_position)), ("tile_size", plain(tile_size)))
    roles = ("dst", "stationary", "moving", *("stationary_scale", "moving_scale")[: len(scales)]) if scales else ("dst", "stationary", "moving")
    emit(op, api, roles, views, patterns, 1, args, "any", mask, fresh)
    return dst


def _product_fits(trace, op, api, goal, left, right, scales, half, patterns):
    for role, view in (("dst", goal), ("stationary", left), ("moving", right), *(("scale", one) for one in scales)):
        on_chip(view, role, api, patterns)
    if left.storage.memory == "p" or right.storage.memory == "p":
        role = "stationary" if left.storage.memory == "p" else "moving"
        raise KernelError("memory", f"{role} of {api} is in PSUM; the tensor engine reads SBUF.", "copy it to SBUF with nisa.tensor_copy first")
    if goal.storage.memory != "p":
        raise KernelError("memory", f"dst of {api} is in SBUF; the tensor engine writes PSUM.", "declare it with buffer=nl.psum and copy the result with nisa.tensor_copy")
    for role, view in (("stationary", left), ("moving", right)):
        if view.dtype.startswith(("int", "uint", "bool")):
            raise KernelError("dtype", f"{role} of {api} is {view.dtype}; the tensor engine multiplies floating point only.", "copy it to nl.bfloat16 with nisa.tensor_copy")
    rows, m, n = left.partitions, left.free // half, right.free // half
    if rows != right.partitions:
        raise KernelError("size", f"stationary of {api} has {rows} partitions, moving has {right.partitions}; both are the contraction.", "load the same rows of both")
    if m > chips.STATIONARY:
        raise KernelError("size", f"stationary of {api} has {m} columns; {trace.chip.name} allows {chips.STATIONARY}.", "take nl.tile_size.gemm_stationary_fmax columns at a time")
    if n > trace.chip.moving:
        raise KernelError("size", f"moving of {api} has {n} columns; {trace.chip.name} allows {trace.chip.moving}.", "take nl.tile_size.gemm_moving_fmax columns at a time")
    if goal.partitions != m or goal.free != n:
        raise KernelError(
            "size",
            f"dst of {api} has {_spoken(goal)} elements (partitions x free); the product has {m}x{n}.",
            "give dst the columns of stationary as partitions and those of moving as free size",
        )
    if op == "nc_matmul" and (left.dtype.itemsize == 4) != (right.dtype.itemsize == 4) and left.dtype.startswith(("f", "t", "b")) and right.dtype.startswith(("f", "t", "b")):
        raise KernelError(
            "dtype", f"{api} has a {left.dtype} stationary and a {right.dtype} moving; fp32 goes with fp32 only.", "copy one to the other's type with nisa.tensor_copy"
        )
    size = goal.dtype.itemsize
    first, last = goal.start * size, (goal.start + _reach(patterns[0])) * size
    if first // chips.PSUM_BANK_BYTES != last // chips.PSUM_BANK_BYTES:
        raise KernelError(
            "psum",
            f"dst of {api} covers bytes {first} to {last + size - 1} of a PSUM partition, which is more than one bank of {chips.PSUM_BANK_BYTES}.",
            "write one bank at a time: 512 elements of fp32",
        )
    _aligned(goal, api)


def nc_matmul_mx(dst, stationary, moving, stationary_scale, moving_scale, tile_position=None, tile_size=None, accumulate=None, name=None):
    api = "nisa.nc_matmul_mx"
    if now().chip.core < 4:
        raise KernelError("value", f"{api} is on trn3 only; this is {Trace.now.chip.name}.", "use platform_target='trn3', an instance of trn3, or nisa.nc_matmul")
    scales = (operand(stationary_scale, "stationary_scale", api), operand(moving_scale, "moving_scale", api))
    return nc_matmul(dst, stationary, moving, accumulate=accumulate, tile_position=tile_position, tile_size=tile_size, api=api, op="nc_matmul_mx", scales=scales)


def _reach(pattern):
    """The last element of a pattern that starts at 0."""
    row = Trace.now.patterns.rows[pattern]
    return sum(row[at] * (row[at + 1] - 1) for at in range(2, len(row), 2))


def _was_written(view, pattern):
    storage = view.storage
    written = storage.written
    if written is None or written is True:
        return written is True
    key = view.start << 24 | pattern
    if written == key or type(written) is set and key in written:
        return True
    return _missing(storage, key) < 2


def nc_transpose(dst, data, engine=None, name=None, dtype=None, mask=None):
    api = "nisa.nc_transpose"
    trace = now()
    data = operand(data, "data", api)
    kind, fresh = engine_name(engine), dst is None
    if fresh:
        dst = result((data.free, data.partitions), element_type(dtype) if dtype is not None else data.dtype, "s" if kind == "vector" else "p")
    dst = operand(dst, "dst", api)
    goal, source = dst, data
    if mask is not None:
        parts = shrunk([data], mask)
        if parts is None:
            return nothing(dst, fresh)
        source = parts[0]
        goal = dst[: source.free, : source.partitions]
    patterns = []
    on_chip(goal, "dst", api, patterns)
    on_chip(source, "data", api, patterns)
    if goal.partitions != source.free or goal.free != source.partitions:
        raise KernelError(
            "size",
            f"dst of {api} has {_spoken(goal)} elements (partitions x free); the transpose of {_spoken(source)} has {source.free}x{source.partitions}.",
            "swap the two sizes of dst",
        )
    if not fresh and trace.dialect == 2 and goal.dtype != source.dtype:
        raise KernelError("dtype", f"dst of {api} is {goal.dtype}, data is {source.dtype}; a transpose keeps the type.", "declare dst with the type of data, and convert when it is copied out")
    if kind == "tensor" and goal.storage.memory == "s":
        raise KernelError("memory", f"dst of {api} is in SBUF; the tensor engine writes PSUM.", "declare it with buffer=nl.psum, or use engine=nisa.engine.vector")
    emit("nc_transpose", api, ("dst", "data"), [goal, source], patterns, 1, (), kind, mask, fresh)
    return dst


def over_partitions(view, count, api="broadcast_to"):
    """A tile of one partition copied to `count`: a product with a column of ones, where the compiler wants it."""
    now()
    if count > chips.PARTITIONS:
        raise KernelError("partition", f"A tile is broadcast to {count} partitions; the chip has {chips.PARTITIONS}.", f"broadcast to {chips.PARTITIONS}")
    shape = tuple(count if at == view.pdim else one for at, one in enumerate(view.shape))
    dst = tile((count, view.free), view.dtype, "a")
    patterns = []
    on_chip(dst, "dst", api, patterns)
    on_chip(view, "data", api, patterns)
    emit("partition_broadcast", api, ("dst", "data"), [dst, view], patterns, 1, (), "any", None, True)
    return dst if len(shape) == 2 else dst.reshape(shape)


# Instructions of the vector, scalar and GpSimd engines, as rows.


def tensor_copy(dst, src, engine=None, name=None, dtype=None, mask=None, api="nisa.tensor_copy"):
    return compute("tensor_copy", api, dst, [("src", operand(src, "src", api))], (), (), (), engine_name(engine), dtype, mask)


def memset(dst, value=0, engine=None, name=None, mask=None, api="nisa.memset", fresh=False):
    args = (("value", plain(value)), ("zero", True)) if value == 0 else (("value", plain(value)),)
    if isinstance(dst, Blocks):
        for one in dst.tiles():
            memset(one, value, engine, name, mask, api)
        return dst
    return compute("memset", api, dst, (), (), (), args, engine_name(engine), None, mask, fresh=fresh)


# Parameters after dst: `name:kind=default`. t: a tile of dst's size; u: a tile of another size; v: a number or one element per partition;
# a: a number or a tile of dst's size; w: one element per partition, written; o: an operator; e: the engine; n: anything else.
# The result of the first dialect: that of the first tile, or [partitions, n], or `reduce`, `row`, `none` (there is no dst).
ROWS = {
    "tensor_tensor": ("data1:t data2:t op:o engine:e=", ""),
    "tensor_scalar": ("data:t op0:o operand0:v reverse0:n=False op1:o= operand1:v= reverse1:n=False engine:e=", ""),
    "scalar_tensor_tensor": ("data:t op0:o operand0:v op1:o operand1:t reverse0:n=False reverse1:n=False", ""),
    "tensor_tensor_scan": ("data0:t data1:t initial:v op0:o op1:o reverse0:n=False reverse1:n=False", ""),
    "activation": ("op:o data:t bias:v= scale:v=1.0 reduce_op:o= reduce_res:w= reduce_cmd:n= engine:e=", ""),
    "activation_reduce": ("op:o data:t reduce_op:o reduce_res:w bias:v= scale:v=1.0", ""),
    "activate2": ("op:o data:t imm0:v imm1:v op0:o op1:o relu_param:v=0.0 reverse0:n=False reverse1:n=False reduce_op:o= reduce_res:w= reduce_cmd:n=", ""),
    "tensor_scalar_reduce": ("data:t op0:o operand0:v reduce_op:o reduce_res:w reverse0:n=False reduce_cmd:n= reduce_init:v=", ""),
    "tensor_scalar_cumulative": ("src:t op0:o op1:o imm0:v imm1:v= reduce_cmd:n=", ""),
    "tensor_reduce": ("op:o data:u axis:n negate:n=False keepdims:n=False", "reduce"),
    "tensor_partition_reduce": ("op:o data:u", "row"),
    "tensor_copy_predicated": ("src:a predicate:t reverse_pred:n=False", ""),
    "reciprocal": ("data:t engine:e=", ""),
    "exponential": ("src:t max_value:v=0.0 reduce_res:w= reduce_cmd:n= reduce_init:v=0.0", ""),
    "select_reduce": ("predicate:t on_true:t on_false:v reduce_res:w= reduce_cmd:n= reduce_op:o= reverse_pred:n=False", ""),
    "range_select": ("on_true_tile:t comp_op0:o comp_op1:o bound0:v bound1:v reduce_cmd:n= reduce_res:w= reduce_op:o= range_start:n=0 on_false_value:n=", ""),
    "affine_select": ("pattern:n channel_multiplier:n on_true_tile:t on_false_value:n cmp_op:o= offset:n=0", ""),
    "iota": ("pattern:n offset:n=0 channel_multiplier:n=0", ""),
    "local_gather": ("src_buffer:u index:u num_elem_per_idx:n=1 num_valid_indices:n=", "gather"),
    "nc_n_gather": ("data:u indices:u", "gather"),
    "bn_stats": ("data:u", 6),
    "bn_aggr": ("data:u", 2),
    "nc_stream_shuffle": ("src:t shuffle_mask:n", ""),
    "rng": ("engine:e=", ""),
    "rand2": ("min:v max:v", ""),
    "rand_get_state": ("engine:e=", ""),
    "dropout": ("data:t prob:v", ""),
    "max8": ("src:u", 8),
    "nc_find_index8": ("data:u vals:u", 8),
    "nc_match_replace8": ("data:t vals:u imm:n dst_idx:n=", ""),
    "sequence_bounds": ("segment_ids:u", "pair"),
    "nonzero_with_count": ("src:u index_offset:n=0 padding_val:n=-1", ""),
    "quantize_mx": ("src:u dst_scale:n", ""),
    "tensor_copy_dynamic_src": ("src:u engine:e=", ""),
    "tensor_copy_dynamic_dst": ("src:u engine:e=", ""),
}
# Chips before these cores do not have an instruction.
SINCE = {"activate2": 4, "exponential": 4, "quantize_mx": 4, "rand2": 4, "range_select": 3, "nonzero_with_count": 3, "rand_get_state": 3}
_NOTHING = object()
_DEFAULTS = {"": None, "False": False, "1.0": 1.0, "0.0": 0.0, "0": 0, "1": 1, "-1": -1}


def signature(name):
    """The parameters of an instruction as an author writes them."""
    parameters = [one.split(":")[0] + (f"={_DEFAULTS[one.split('=')[1]]}" if "=" in one else "") for one in ROWS[name][0].split()]
    return ", ".join(["dst", *parameters])


def _instruction(name):
    """The function of a row. Python itself binds its arguments, so that its errors read as usual."""
    spec, shape_rule = ROWS[name]
    rows = []
    for one in spec.split():
        head, equals, default = one.partition("=")
        rows.append((*head.split(":"), _DEFAULTS[default] if equals else _NOTHING))
    names = [row[0] for row in rows]
    api = f"nisa.{name}"
    since = SINCE.get(name, 2)

    def run(dst, values, dtype, mask):
        if since > 2 and now().chip.core < since:
            raise KernelError("value", f"{api} is not on {Trace.now.chip.name}.", "use another instruction, or a newer --chip")
        tiles, others, vectors, outs, args, engine = [], [], [], [], (), "any"
        for (parameter, kind, default), value in zip(rows, values):
            if kind == "t":
                tiles.append((parameter, value if type(value) is View else operand(value, parameter, api)))
            elif value is default:
                continue
            elif kind == "o":
                args += ((parameter, label(value)),)
            elif kind == "e":
                engine = engine_name(value)
            elif isinstance(value, View) or kind in "uw":
                pair = (parameter, operand(value, parameter, api))
                if kind == "v":
                    vectors.append(pair)
                elif kind == "a":
                    tiles.append(pair)
                elif kind == "u":
                    others.append(pair)
                elif kind == "w" or parameter.startswith("dst"):
                    outs.append(pair)
                else:
                    raise KernelError("signature", f"{parameter} of {api} is a tensor.", f"its parameters are ({signature(name)})")
            elif value != default:
                args += ((parameter, number(value, parameter, api) if kind in "va" else plain(value)),)
        if shape_rule or name in _SPECIAL:
            return _finish(name, api, dst, tiles, others, vectors, outs, args, engine, dict(zip(names, values)), dtype, mask, shape_rule)
        if dst is None and not tiles and not others:
            raise KernelError("signature", f"{api} has no dst.", f"its parameters are ({signature(name)})")
        return compute(name, api, dst, tiles, vectors, outs, args, engine, dtype, mask, None, others)

    space = {"run": run}
    source = f"def {name}({signature(name)}, name=None, dtype=None, mask=None): return run(dst, ({', '.join(names)},), dtype, mask)"
    exec(compile(source, __file__, "exec"), space)
    return space[name]


# An output of another size than one element per partition.
_LOOSE = {"nc_match_replace8", "quantize_mx"}
_SPECIAL = {*_LOOSE, "tensor_copy_predicated"}


def _finish(name, api, dst, tiles, others, vectors, outs, args, engine, values, dtype, mask, shape_rule):
    shape = None
    data = others[0][1] if others else None
    if shape_rule == "reduce":
        axis = values["axis"]
        axes = {one + data.ndim if one < 0 else one for one in (axis if isinstance(axis, (list, tuple)) else (axis,))}
        if data.pdim in axes:
            raise KernelError("dimension", f"{api} reduces the partition dimension (axis {data.pdim}).", "transpose first, or multiply with a column of ones on the tensor engine")
        if any(one >= data.ndim for one in axes):
            raise KernelError("bounds", f"axis {sorted(axes)} of {api} is out of the {data.ndim} dimensions of data.", "reduce free dimensions")
        shape = [1 if at in axes else count for at, count in enumerate(data.shape) if at not in axes or values["keepdims"]]
        args = (*((key, value) for key, value in args if key != "axis"), ("axis", tuple(sorted(axes))))
    elif shape_rule == "row":
        shape = (1, *data.shape[1:])
    elif shape_rule == "gather":
        shape = others[1][1].shape
        if name == "local_gather":
            # Each core of GpSimd reads the indices of its 16 partitions.
            each, every = values["num_elem_per_idx"], 16 * product(shape[1:])
            rules.gather(Trace.now, api, data, others[1][1], each)
            valid = every if values["num_valid_indices"] is None else values["num_valid_indices"]
            if valid > every:
                raise KernelError("value", f"num_valid_indices of {api} is {valid}; 16 partitions of index hold {every}.", "give at most as many")
            shape = (*shape, 16, each) if valid == every else (shape[0], valid, each)
    elif shape_rule == "pair":
        shape = (1, 2, data.free)
    elif shape_rule:
        if name == "bn_stats" and data.free > chips.BN_STATS:
            raise KernelError("size", f"data of {api} has {data.free} elements per partition; it takes {chips.BN_STATS} at most.", "take nl.tile_size.bn_stats_fmax at a time, and join them with nisa.bn_aggr")
        shape = (data.partitions, shape_rule)
    if isinstance(dst, Blocks):
        dst = dst.merge()
    if shape is not None and dst is not None and mask is None:
        want = (shape[0], product(shape[1:]))
        goal = operand(dst, "dst", api)
        if (goal.partitions, goal.free) != want:
            raise KernelError(
                "size", f"dst of {api} has {_spoken(goal)} elements (partitions x free); the result has {want[0]}x{want[1]}.", "declare dst in the size of the result"
            )
    if name == "tensor_copy_predicated":
        # What the predicate does not select stays.
        others = [("old", operand(dst, "dst", api)), *others] if dst is not None and dst.storage.written is not None else others
    if name in _LOOSE and outs:
        # An output of its own size is checked as any tile, and written.
        return _with_extra(name, api, dst, tiles, others, outs, args, engine, shape)
    return compute(name, api, dst, tiles, vectors, outs, args, engine, dtype, mask, shape, others)


def _with_extra(name, api, dst, tiles, others, outs, args, engine, shape):
    now()
    fresh = dst is None
    if fresh:
        dst = result(shape or (tiles or others)[0][1].shape, (tiles or others)[0][1].dtype)
    pairs = [("dst", dst), *outs, *tiles, *others]
    patterns = []
    for role, view in pairs:
        on_chip(view, role, api, patterns)
    emit(name, api, tuple(role for role, _ in pairs), [view for _, view in pairs], patterns, 1 + len(outs), args, engine, None, fresh)
    return dst


TABLE = {name: _instruction(name) for name in ROWS}


# Registers and other cores.


def register_alloc(x=None):
    """A register. One that holds a constant counts as that constant."""
    now()
    return Register(x if isinstance(x, int) else None)


class Register(Dynamic):
    def __init__(self, value=None):
        super().__init__(now().unknown_turns)
        self.value = value

    def __index__(self):
        return self.value if self.value is not None else super().__index__()

    __int__ = __index__


def register_move(dst, src=None, imm=None):
    value = src if imm is None else imm
    dst.value = value.value if isinstance(value, Register) else value if isinstance(value, int) else None


def register_load(dst, src):
    api = "nisa.register_load"
    now()
    view = operand(src, "src", api)
    if view.size != 1:
        raise KernelError("size", f"src of {api} has {view.size} elements; a register holds one.", "index one element")
    dst.value = None
    patterns = [view.pattern() if view.on_chip else view.hbm_pattern()]
    emit("register_load", api, ("src",), [view], patterns, 0, (), "any")


def register_store(dst, src):
    api = "nisa.register_store"
    now()
    view = operand(dst, "dst", api)
    patterns = [view.pattern() if view.on_chip else view.hbm_pattern()]
    emit("register_store", api, ("dst",), [view], patterns, 1, (), "any")


def sendrecv(src, dst, send_to_rank=0, recv_from_rank=0, pipe_id=0, dma_engine=None, name=None, mask=None):
    api = "nisa.sendrecv"
    return dma("sendrecv", api, operand(dst, "dst", api), operand(src, "src", api), (("pipe_id", plain(pipe_id)),))


def core_barrier(data, cores, engine=None, name=None):
    api = "nisa.core_barrier"
    now()
    view = operand(data, "data", api)
    # It orders what the cores write, so it counts as a write.
    emit("core_barrier", api, ("data",), [view], [view.pattern() if view.on_chip else view.hbm_pattern()], 1, (("cores", plain(cores)),), engine_name(engine))


def _seed(name):
    def call(src_seeds, engine=None, name=None):
        api = f"nisa.{call.__name__}"
        now()
        view, patterns = operand(src_seeds, "src_seeds", api), []
        on_chip(view, "src_seeds", api, patterns)
        emit(call.__name__, api, ("src_seeds",), [view], patterns, 0, (), engine_name(engine))

    call.__name__ = call.__qualname__ = name
    return call


set_rng_seed, rand_set_state = _seed("set_rng_seed"), _seed("rand_set_state")
