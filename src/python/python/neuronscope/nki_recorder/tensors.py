"""Tensors in HBM and tiles on the chip, and views of them.

A view is a start and a stride for each dimension, in elements. On the chip one dimension is the partition (`pdim`): its start is `p0`.
"""

from .dtypes import dtype as as_dtype
from .errors import KernelError, no_such_name, times
from .indices import Index, Moved
from .trace import Trace, now

ON_CHIP = "spa"
SPOKEN = {"s": "SBUF", "p": "PSUM", "a": "the chip", "i": "HBM", "o": "HBM", "h": "HBM"}


class Group:
    """The tiles of one declaration with block dimensions."""

    __slots__ = ("first", "make", "merged", "shape", "tiles", "views")

    def __init__(self, shape, make):
        self.shape, self.make, self.first, self.tiles, self.views, self.merged = shape, make, -1, {}, {}, None

    def tile(self, number):
        tile = self.tiles.get(number)
        if tile is None:
            tile = self.tiles[number] = self.make(self, number, 1)
        return tile


class Storage:
    """What a row of the list's tensors is. `written` is None, True, or what was written: keys `start << 24 | pattern`."""

    # Most tiles have nothing else.
    id = address = bank = -1
    group = of = written = made = None
    zeroed = False

    def __init__(self, memory, dtype, partitions, elements, name="", depth=3, whole=-1, site=-1):
        trace = Trace.now
        self.memory, self.dtype, self.partitions, self.elements, self.name = memory, dtype, partitions, elements, name
        scope = trace.scope
        self.scope = scope if scope >= 0 else trace.open_scope()
        self.site = site if site >= 0 else trace.site(depth)
        self.declared = trace.count
        # The pattern that is all of it.
        self.whole = whole if whole >= 0 or memory not in ON_CHIP else trace.pattern((0, partitions, 1, elements))

    @property
    def bytes(self):
        """Bytes in a partition."""
        return self.elements * self.dtype.itemsize


def row_strides(shape):
    strides, step = [], 1
    for count in reversed(shape):
        strides.append(step)
        step *= count
    return tuple(reversed(strides))


def product(counts):
    total = 1
    for count in counts:
        total *= count
    return total


def merged(dims):
    """Pairs (stride, count), outermost first, with neighbours joined where one continues the other; flat."""
    flat = []
    for stride, count in dims:
        if count == 1:
            continue
        if flat and flat[-2] == stride * count:
            flat[-2] = stride
            flat[-1] *= count
        else:
            flat += (stride, count)
    return flat


class View:
    """A tensor as authors hold it."""

    # The row of its pattern; whether its address is known on the device only; where it may leave its tensor.
    pat, dynamic, edge = -1, None, None
    # Operators and methods of the first dialect, which nki_recorder.language sets.
    operators = None

    def __init__(self, storage, shape, strides, start, p0, pdim, dtype):
        self.storage, self.shape, self.strides, self.start, self.p0, self.pdim, self.dtype = storage, shape, strides, start, p0, pdim, dtype

    # Shape.

    @property
    def ndim(self):
        return len(self.shape)

    @property
    def size(self):
        return product(self.shape)

    @property
    def itemsize(self):
        return self.dtype.itemsize

    @property
    def offset(self):
        return self.start

    @property
    def name(self):
        return self.storage.name

    @property
    def buffer(self):
        return self.operators.buffers[self.storage.memory]

    @property
    def par_dim(self):
        return self.shape[self.pdim]

    def __len__(self):
        return self.shape[0]

    def __repr__(self):
        return f"<{self.storage.name or 'tensor'} {times(self.shape)} {self.dtype} in {SPOKEN[self.storage.memory]}>"

    def __hash__(self):
        return id(self)

    def __bool__(self):
        raise KernelError("value", "The value of a tensor is not known while a kernel is recorded.", "decide by shapes and constants, or use nl.where")

    def __iter__(self):
        if self.on_chip and self.pdim == 0:
            raise KernelError("value", "A tile is taken apart in Python: its partitions are no values.", "use nl.max, nl.sum or another instruction, or slices")
        return (self[at] for at in range(self.shape[0]))

    @property
    def on_chip(self):
        return self.storage.memory in ON_CHIP

    @property
    def partitions(self):
        return self.shape[self.pdim] if self.pdim >= 0 else 1

    @property
    def free(self):
        """Elements per partition."""
        if self.pdim == 0 and len(self.shape) == 2:
            return self.shape[1]
        total = 1
        for axis, count in enumerate(self.shape):
            if axis != self.pdim:
                total *= count
        return total

    def pattern(self):
        """The row of its pattern on the chip."""
        place = self.pat
        if place >= 0:
            return place
        pdim, shape, strides = self.pdim, self.shape, self.strides
        if pdim < 0:
            raise KernelError(
                "dimension",
                f"A tile of shape {tuple(shape)} has no partition dimension: an index removed it.",
                "keep it with a slice, as in t[5:6, 0:512]",
            )
        if strides[pdim] != 1 and shape[pdim] != 1:
            if strides[pdim] == 0:
                raise KernelError("broadcast", "An operand repeats one partition.", "copy the row to every partition first (nl.broadcast_to, or a matmul with ones)")
            raise KernelError("partition", f"Partitions are taken in steps of {strides[pdim]}.", "take a contiguous range of partitions")
        if len(shape) == 2 and pdim == 0:
            count = shape[1]
            key = (self.p0, shape[0], strides[1] if count != 1 else 1, count)
        else:
            flat = merged((strides[axis], shape[axis]) for axis in range(len(shape)) if axis != pdim)
            key = (self.p0, shape[pdim], *(flat or (1, 1)))
        trace = Trace.now
        place = trace.patterns.places.get(key)
        self.pat = place = trace.pattern(key) if place is None else place
        return place

    def hbm_pattern(self, partitions=0):
        """The row of its pattern in HBM; the leading pairs make up the partitions of the other side, if there is one."""
        shape, strides = self.shape, self.strides
        if partitions and len(shape) == 2 and shape[0] == partitions:
            return Trace.now.pattern((strides[0], shape[0], strides[1] if shape[1] != 1 else 1, shape[1]))
        dims = [(stride, count) for stride, count in zip(strides, shape) if count != 1]
        head = []
        if partitions > 1:
            left = partitions
            while left > 1 and dims:
                stride, count = dims[0]
                if left % count == 0:
                    left //= count
                    head.append(dims.pop(0))
                elif count % left == 0:
                    head.append((stride * (count // left), left))
                    dims[0] = (stride, count // left)
                    left = 1
                else:
                    break
            if left > 1:
                head, dims = [], [(stride, count) for stride, count in zip(strides, shape) if count != 1]
        elif partitions:
            head = [(1, 1)]
        flat = merged(head) or ([1, 1] if partitions else [])
        return Trace.now.pattern((*flat, *(merged(dims) or (1, 1))))

    # Views.

    def like(self, shape, strides, start=None, p0=None, pdim=None, dtype=None):
        view = View(
            self.storage,
            tuple(shape),
            tuple(strides),
            self.start if start is None else start,
            self.p0 if p0 is None else p0,
            self.pdim if pdim is None else pdim,
            dtype or self.dtype,
        )
        view.dynamic, view.edge = self.dynamic, self.edge
        return view

    def __getitem__(self, index):
        if type(index) is not tuple:
            index = (index,)
        if len(index) == 1 and index[0] is Ellipsis:
            return self
        shape, strides = self.shape, self.strides
        if len(index) != len(shape):
            return self._index(index)
        start, p0, pdim = self.start, self.p0, self.pdim
        counts, steps, keeps, axis = (), (), -1, 0
        for one, size, stride in zip(index, shape, strides):
            if type(one) is slice:
                low, high = one.start, one.stop
                if one.step is not None:
                    return self._index(index)
                if low is None and high is None:
                    if axis == pdim:
                        keeps = len(counts)
                    counts += (size,)
                    steps += (stride,)
                    axis += 1
                    continue
                if low is None:
                    low = 0
                if high is None:
                    high = size
                if type(low) is not int or type(high) is not int or low < 0 or high > size or high <= low:
                    return self._index(index)
                if axis == pdim:
                    p0 += low
                    keeps = len(counts)
                else:
                    start += low * stride
                counts += (high - low,)
                steps += (stride,)
            elif type(one) is int and 0 <= one < size:
                if axis == pdim:
                    p0 += one
                else:
                    start += one * stride
            else:
                return self._index(index)
            axis += 1
        view = View(self.storage, counts, steps, start, p0, keeps if pdim >= 0 else pdim, self.dtype)
        if self.dynamic is not None:
            view.dynamic = self.dynamic
        return view

    def _index(self, index):
        shape, strides, pdim = self.shape, self.strides, self.pdim
        # Indices of the first dialect differ from turn to turn by their constants only.
        key = None
        if len(index) == len(shape):
            key = (shape, strides, pdim, *[one.key if type(one) is Index else None if type(one) is int else 0 for one in index])
            plan = Trace.now.plans.get(key)
            if plan is not None:
                counts, steps, place, spans = plan
                start, p0 = self.start, self.p0
                for axis, one in enumerate(index):
                    low = one if type(one) is int else one.const
                    least, most = spans[axis]
                    if low + least < 0 or low + most >= shape[axis]:
                        break
                    if axis == pdim:
                        p0 += low
                    else:
                        start += low * strides[axis]
                else:
                    view = View(self.storage, counts, steps, start, p0, place, self.dtype)
                    if self.dynamic is not None:
                        view.dynamic = self.dynamic
                    return view
            if 0 in key[3:] or not any(key[3:]) or len({one.ndim for one in index if type(one) is Index}) > 1:
                key = None
        index = self._filled(index)
        ndim = max([one.ndim for one in index if isinstance(one, (Index, View))] or [0])
        # Dimensions of the result: [count, stride, is the partition, has a term].
        axes = [[1, 0, False, False] for _ in range(ndim)]
        start, p0, edge, dynamic = self.start, self.p0, [], self.dynamic
        slices, axis = [], 0
        for one in index:
            if one is None:
                slices.append([1, 0, False, True])
                continue
            size, stride = shape[axis], strides[axis]
            is_partition = axis == pdim
            if isinstance(one, slice):
                low, count, step, is_dynamic = self._slice(one, size, axis)
                slices.append([count, stride * step, is_partition, True])
                if low + (count - 1) * step >= size:
                    edge.append(([(slices[-1], step)], low, size, axis))
                if is_dynamic:
                    dynamic = True
            elif isinstance(one, Index):
                low = one.const
                if isinstance(one, Moved):
                    dynamic = one.tile.offsets()
                shift = ndim - one.ndim
                terms = []
                for at, count, step in one.terms:
                    target = axes[at + shift]
                    if target[3] and target[0] != count and 1 not in (target[0], count):
                        raise KernelError("broadcast", f"Indices of {target[0]} and {count} elements meet on one axis.", "make both of the same length")
                    target[0], target[3] = max(target[0], count), True
                    target[1] += step * stride
                    target[2] = target[2] or is_partition
                    terms.append((target, step))
                least, most = one.ends
                if (least < 0 or most >= size) and not isinstance(one, Moved):
                    edge.append((terms, low, size, axis))
            elif isinstance(one, View):
                # A tile of indices: one row for each partition.
                dynamic, low = one.offsets(), 0
                shift = ndim - one.ndim
                for at, count in enumerate(one.shape):
                    target = axes[at + shift]
                    if count > 1 or at == one.pdim:
                        target[0], target[3] = max(target[0], count), True
                        target[1] += stride
            else:
                low, is_dynamic = self._point(one, size, axis)
                if is_dynamic:
                    dynamic = True
            if is_partition:
                p0 += low
            else:
                start += low * stride
            axis += 1
        if ndim:
            # Slices beside indices take the axes that no index uses.
            for target in slices:
                empty = next((at for at, one in enumerate(axes) if not one[3]), None)
                if empty is None:
                    axes.append(target)
                else:
                    axes[empty] = target
        else:
            axes = slices
        place = -1
        if pdim >= 0:
            place = next((at for at, one in enumerate(axes) if one[2]), -1)
            if place < 0 and ndim:
                place = next((at for at, one in enumerate(axes) if one[0] == 1 and not one[1]), -1)
                if place >= 0:
                    axes[place][1] = 1
        view = View(self.storage, tuple(one[0] for one in axes), tuple(one[1] for one in axes), start, p0, place if pdim >= 0 else pdim, self.dtype)
        view.dynamic = dynamic
        if key is not None and not edge:
            spans = [(0, 0) if type(one) is int else (one.ends[0] - one.const, one.ends[1] - one.const) for one in index]
            Trace.now.plans[key] = (view.shape, view.strides, view.pdim, spans)
        if edge:
            number = {id(target): at for at, target in enumerate(axes)}
            view.edge = [([(number[id(target)], step) for target, step in terms], *rest) for terms, *rest in edge]
            if Trace.now.dialect == 2:
                view.check_edge({})
        return view

    def _filled(self, index):
        """The index without `...`, one entry for each dimension and for each None."""
        if len(index) == len(self.shape) and all(one is not None and one is not Ellipsis for one in index):
            return index
        given = sum(1 for one in index if one is not None and one is not Ellipsis)
        if given > len(self.shape):
            raise KernelError("bounds", f"{given} indices are too many for a tensor of {len(self.shape)} dimensions ({times(self.shape)}).", "index it with one for each dimension")
        full, rest = [], len(self.shape) - given
        for one in index:
            if one is Ellipsis:
                full += [slice(None)] * rest
                rest = 0
            else:
                full.append(one)
        return tuple(full + [slice(None)] * rest)

    def _slice(self, one, size, axis):
        low, high, step = one.start, one.stop, 1 if one.step is None else one.step
        if isinstance(low, Dynamic):
            return 0, one.stop, 1, True
        try:
            low = 0 if low is None else low.__index__()
            high = size if high is None else high.__index__()
        except (AttributeError, TypeError):
            raise KernelError("value", f"Dimension {axis} of a tensor is sliced with {low!r}:{high!r}.", "use integers: // instead of /") from None
        if low < 0:
            low += size
        if high < 0:
            high += size
        count = -(-(high - low) // step)
        if count <= 0:
            raise KernelError("bounds", f"The slice {low}:{high} of dimension {axis} ({size} elements) is empty.", "take at least one element")
        if low < 0:
            raise KernelError("bounds", f"Index {low - size} is out of dimension {axis}, which has {size} elements.", "stay within the tensor")
        return low, count, step, False

    def _point(self, one, size, axis):
        if isinstance(one, Dynamic):
            return 0, True
        try:
            at = one.__index__()
        except (AttributeError, TypeError):
            raise KernelError("value", f"A tensor is indexed with {type(one).__name__}.", "use integers, slices, nl.ds or nl.arange") from None
        if at < 0:
            at += size
        if not 0 <= at < size:
            raise KernelError("bounds", f"Index {at} is out of dimension {axis}, which has {size} elements.", f"use 0 to {size - 1}")
        return at, False

    def offsets(self):
        """The tile as an instruction reads it to find an address."""
        if not self.on_chip:
            raise KernelError("memory", f"A tensor is indexed with one in {SPOKEN[self.storage.memory]}.", "load the indices into a tile first")
        # Where indices took the partition away, it is one.
        return self if self.pdim >= 0 else View(self.storage, (1, *self.shape), (1, *self.strides), self.start, self.p0, 0, self.dtype)

    def check_edge(self, box):
        """Fails where the view leaves its tensor, apart from what a mask (`box`) takes away."""
        for terms, low, size, axis in self.edge or ():
            least = most = low
            for at, step in terms:
                first, end = box.get(at, (0, self.shape[at]))
                least += min(first * step, (end - 1) * step)
                most += max(first * step, (end - 1) * step)
            if least < 0 or most >= size:
                raise KernelError(
                    "bounds",
                    f"Elements {least} to {most} of dimension {axis} are used, which has {size}.",
                    "shorten the last tile (min(size, ...))" + (" or add mask=" if Trace.now.dialect == 1 else ""),
                )

    def valid(self, mask):
        """The part that a mask leaves, or None if nothing is left."""
        box, exact = mask.ranges(self.shape)
        if not exact:
            now().warn("mask", "A mask that is no box is charged for the box around it.")
        if box is None:
            return None
        self.check_edge(box)
        shape, start, p0 = list(self.shape), self.start, self.p0
        for axis, (low, high) in box.items():
            if axis < len(shape) and shape[axis] != 1:
                high = min(high, shape[axis])
                if high <= low:
                    return None
                shape[axis] = high - low
                if axis == self.pdim:
                    p0 += low * self.strides[axis]
                else:
                    start += low * self.strides[axis]
        view = self.like(shape, self.strides, start, p0)
        view.edge = None
        return view

    # The methods of the present dialect.

    def reshape(self, *sizes, shape=None):
        shape = sizes if shape is None else shape
        shape = tuple(shape[0]) if len(shape) == 1 and not isinstance(shape[0], int) else tuple(shape)
        if -1 in shape:
            rest = -product(shape)
            shape = tuple(self.size // rest if one == -1 else one for one in shape)
        if product(shape) != self.size:
            raise KernelError(
                "reshape",
                f"A tensor of {times(self.shape)} ({self.size} elements) cannot become {times(shape)} ({product(shape)} elements).",
                "give the new shape as many elements as the tensor has",
            )
        pdim = self.pdim
        if pdim >= 0:
            if not shape or shape[0] != self.partitions:
                raise KernelError(
                    "reshape",
                    f"A tile of {times(self.shape)} cannot become {times(shape)}: its {self.partitions} partitions must stay the first dimension.",
                    "reshape the free dimensions only, or reshape in HBM before the load",
                )
            strides = self._split([(stride, count) for at, (stride, count) in enumerate(zip(self.strides, self.shape)) if at != pdim], shape[1:])
            return self.like(shape, (1, *strides), pdim=0)
        return self.like(shape, self._split(list(zip(self.strides, self.shape)), shape))

    def _split(self, dims, shape):
        flat = merged(dims) or [1, 1]
        pairs = [[flat[at], flat[at + 1]] for at in range(0, len(flat), 2)]
        strides = []
        for count in reversed(shape):
            if count == 1:
                strides.append(0 if not pairs else pairs[-1][0])
                continue
            while pairs and pairs[-1][1] == 1:
                pairs.pop()
            stride, have = pairs[-1]
            if have % count:
                raise KernelError("reshape", f"A view with gaps of {times(self.shape)} cannot become {times(shape)}.", "copy it to a tile without gaps first")
            strides.append(stride)
            pairs[-1] = [stride * count, have // count]
        return tuple(reversed(strides))

    def ap(self, pattern, offset=0, scalar_offset=None, vector_offset=None, indirect_dim=0, dtype=None):
        pairs = [(int(stride), int(count)) for stride, count in pattern]
        shape = [count for _, count in pairs]
        bad = next((count for count in shape if count < 1), None)
        if bad is not None:
            raise KernelError("bounds", f"An access pattern has a count of {bad}.", "use counts of at least 1")
        if self.on_chip:
            row = self.storage.elements
            stride, count = pairs[0]
            if count > 1 and stride != row:
                if stride == 0:
                    raise KernelError("broadcast", "The partition step of an access pattern is 0.", "copy the row to every partition first")
                if stride % row:
                    raise KernelError("reshape", f"The partition step {stride} is no multiple of the {row} elements of a partition.", f"use {row}")
            view = self.like(shape, [max(1, stride // row), *(stride for stride, _ in pairs[1:])], self.start + offset % row, self.p0 + offset // row, 0)
            last = view.start + sum(max(0, stride * (count - 1)) for stride, count in pairs[1:])
            if last >= row or view.p0 + (count - 1) * view.strides[0] >= self.storage.partitions:
                raise KernelError("bounds", f"An access pattern reaches element {last} of a partition that has {row}.", "keep offset and pattern within the tile")
        else:
            view = self.like(shape, [stride for stride, _ in pairs], self.start + offset)
            last = view.start + sum(max(0, stride * (count - 1)) for stride, count in pairs)
            if last >= self.storage.elements and scalar_offset is None and vector_offset is None:
                raise KernelError("bounds", f"An access pattern reaches element {last} of a tensor that has {self.storage.elements}.", "keep offset and pattern within the tensor")
        if dtype is not None:
            view = view.view(dtype)
        offset = vector_offset if vector_offset is not None else scalar_offset
        if isinstance(offset, View):
            view.dynamic = offset
        elif offset is not None and not isinstance(offset, int):
            view.dynamic = True
        elif offset:
            view.start += int(offset) * view.strides[indirect_dim]
        return view

    def indirect(self, *args, **named):
        view = self.like(self.shape, self.strides)
        view.dynamic = next((one for one in (*args, *named.values()) if isinstance(one, View)), True)
        return view

    vector_select = indirect

    def get_pattern(self):
        row = self.storage.elements if self.on_chip else 1
        return [[stride * row if at == self.pdim else stride, count] for at, (stride, count) in enumerate(zip(self.strides, self.shape))]

    def is_contiguous(self):
        return self.strides == row_strides(self.shape) or len(merged([p for at, p in enumerate(zip(self.strides, self.shape)) if at != self.pdim])) <= 2

    def is_indirect(self):
        return self.dynamic is not None

    def slice(self, dim, start, end, step=1):
        return self[(slice(None),) * dim + (slice(start, end, step if step != 1 else None),)]

    def select(self, dim, index):
        return self[(slice(None),) * dim + (index,)]

    def permute(self, *dims):
        dims = tuple(dims[0]) if len(dims) == 1 and not isinstance(dims[0], int) else dims
        if sorted(dims) != list(range(self.ndim)):
            raise KernelError("reshape", f"permute of {self.ndim} dimensions got {dims}.", "name every dimension once")
        if self.pdim >= 0 and dims[0] != self.pdim:
            raise KernelError("reshape", "permute cannot move the partition dimension of a tile.", "use nisa.nc_transpose, or nisa.dma_transpose")
        return self.like([self.shape[at] for at in dims], [self.strides[at] for at in dims], pdim=dims.index(self.pdim) if self.pdim >= 0 else self.pdim)

    def transpose(self, *dims):
        return self.permute(*(dims or reversed(range(self.ndim))))

    @property
    def T(self):
        return self.operators.transpose(self) if self.on_chip else self.permute(*reversed(range(self.ndim)))

    def expand_dim(self, dim):
        dim += self.ndim + 1 if dim < 0 else 0
        pdim = self.pdim + (0 <= dim <= self.pdim) if self.pdim >= 0 else self.pdim
        return self.like((*self.shape[:dim], 1, *self.shape[dim:]), (*self.strides[:dim], 0, *self.strides[dim:]), pdim=pdim)

    expand_dims = expand_dim

    def squeeze_dim(self, dim):
        dim += self.ndim if dim < 0 else 0
        if self.shape[dim] != 1:
            raise KernelError("reshape", f"Dimension {dim} has {self.shape[dim]} elements and cannot be squeezed.", "squeeze dimensions of one element")
        return self.select(dim, 0)

    squeeze = squeeze_dim

    def flatten_dims(self, start_dim, end_dim):
        shape = self.shape
        return self.reshape(*shape[:start_dim], product(shape[start_dim : end_dim + 1]), *shape[end_dim + 1 :])

    def reshape_dim(self, dim, shape):
        return self.reshape(*self.shape[:dim], *shape, *self.shape[dim + 1 :])

    def broadcast(self, dim, size):
        if self.shape[dim] != 1:
            raise KernelError("broadcast", f"Dimension {dim} has {self.shape[dim]} elements; only one element can be repeated.", "broadcast dimensions of one element")
        return self.broadcast_to((*self.shape[:dim], size, *self.shape[dim + 1 :]))

    def broadcast_to(self, *sizes, shape=None):
        shape = sizes if shape is None else shape
        shape = tuple(shape[0]) if len(shape) == 1 and not isinstance(shape[0], int) else tuple(shape)
        view = self
        while view.ndim < len(shape):
            view = view.expand_dim(0 if view.pdim < 0 else 1)
        strides = list(view.strides)
        for at, (have, want) in enumerate(zip(view.shape, shape)):
            if have == want:
                continue
            if have != 1:
                raise KernelError("broadcast", f"A tensor of {times(self.shape)} cannot be broadcast to {times(shape)}.", "only dimensions of one element can be repeated")
            if at == view.pdim:
                view = self.operators.over_partitions(view, want)
                return view.broadcast_to(shape)
            strides[at] = 0
        return view.like(shape, strides)

    def rearrange(self, pattern, fixed=None, **sizes):
        return self.operators.rearrange(self, pattern, {**(fixed or {}), **sizes})

    def view(self, dtype):
        dtype = element_type(dtype)
        if dtype == self.dtype:
            return self
        was, size = self.dtype.itemsize, dtype.itemsize
        base = self.storage
        other = Storage(base.memory, dtype, base.partitions, base.elements * base.dtype.itemsize // size, base.name, 2)
        other.of, other.declared, other.scope, other.site = base, base.declared, base.scope, base.site
        other.written = True if base.written is not None else None
        if not self.on_chip:
            Trace.now.tensor(other)
        shape, strides = list(self.shape), [stride * was / size for stride in self.strides]
        if strides and len(shape) - 1 != self.pdim:
            if self.strides[-1] not in (0, 1) or shape[-1] * was % size:
                raise KernelError("dtype", f"A view of {self.dtype} as {dtype} needs a contiguous last dimension.", "view the whole tile")
            shape[-1], strides[-1] = shape[-1] * was // size, 1
        if self.pdim >= 0:
            strides[self.pdim] = self.strides[self.pdim]
        return View(other, tuple(shape), tuple(int(one) for one in strides), self.start * was // size, self.p0, self.pdim, dtype)

    reinterpret_cast = view

    def astype(self, dtype):
        return self.operators.copy(self, dtype=dtype)

    def assert_shape(self, shape):
        if tuple(shape) != tuple(self.shape):
            raise KernelError("value", f"A tensor of {times(self.shape)} is asserted to have {times(shape)}.", "give the kernel the shapes that it asks for")
        return self

    def to(self, *_, **__):
        return self

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        raise no_such_name("a tensor", name, [one for one in dir(View) if not one.startswith("_")])

    # What the first dialect writes: x[index] = tile, a + b.

    def __setitem__(self, index, value):
        self.operators.assign(self[index], value)

    def __iadd__(self, other):
        return self.operators.in_place(self, other, "add")

    def __isub__(self, other):
        return self.operators.in_place(self, other, "subtract")

    def __imul__(self, other):
        return self.operators.in_place(self, other, "multiply")

    def __itruediv__(self, other):
        return self.operators.in_place(self, other, "divide")

    def __neg__(self):
        return self.operators.binary("multiply", self, -1.0)

    __array_ufunc__ = None


def _operator(name, reverse):
    def method(self, other):
        return self.operators.binary(name, other, self) if reverse else self.operators.binary(name, self, other)

    return method


for _name, _method in (
    ("add", "add"), ("subtract", "sub"), ("multiply", "mul"), ("divide", "truediv"), ("power", "pow"), ("bitwise_and", "and"), ("bitwise_or", "or"),
    ("bitwise_xor", "xor"), ("left_shift", "lshift"), ("right_shift", "rshift"),
):  # fmt: skip
    setattr(View, f"__{_method}__", _operator(_name, False))
    setattr(View, f"__r{_method}__", _operator(_name, True))
for _name, _method in (("equal", "eq"), ("not_equal", "ne"), ("less", "lt"), ("less_equal", "le"), ("greater", "gt"), ("greater_equal", "ge")):
    setattr(View, f"__{_method}__", _operator(_name, False))


class Blocks(View):
    """A tensor with block dimensions: indices of all of them give a tile."""

    def __init__(self, group, base, steps, shape, dtype):
        View.__init__(self, None, shape, None, 0, 0, len(steps), dtype)
        self.group, self.base, self.steps = group, base, steps

    def __getitem__(self, index):
        index = index if type(index) is tuple else (index,)
        steps, left = self.steps, len(self.steps)
        if len(index) >= left:
            base, shape = self.base, self.shape
            for axis in range(left):
                one = index[axis]
                if type(one) is not int or not 0 <= one < shape[axis]:
                    break
                base += one * steps[axis]
            else:
                view = self.group.views.get(base)
                if view is None:
                    view = self.group.views[base] = whole(self.group.tile(base), shape[left:])
                return view[index[left:]] if len(index) > left else view
        full = self._filled(index)
        base, at = self.base, 0
        while at < len(full) and at < left and isinstance(full[at], int):
            base += self._point(full[at], self.shape[at], at)[0] * self.steps[at]
            at += 1
        if at < left and all(isinstance(one, slice) and one == slice(None) for one in full[at:]):
            return Blocks(self.group, base, self.steps[at:], self.shape[at:], self.dtype)
        if at < left and all(isinstance(one, int) or (isinstance(one, Index) and not one.terms) for one in full[at:left]):
            return self[tuple(one if isinstance(one, int) else one.const for one in full[:left])][tuple(full[left:])]
        if at < left:
            return self.merge()[index]
        return whole(self.group.tile(base), self.shape[left:])[tuple(full[at:])]

    def merge(self):
        """All of it as one tile: blocks lie side by side in a partition."""
        group = self.group
        blocks = product(group.shape)
        if group.merged is None:
            if group.tiles:
                raise KernelError("value", "A tensor with block dimensions is used block by block and across blocks.", "index every block dimension with an integer")
            group.merged = group.make(group, 0, blocks)
        row = group.merged.elements // blocks
        free = self.shape[len(self.steps) + 1 :]
        strides = (*(step * row for step in self.steps), 1, *row_strides(free))
        return View(group.merged, self.shape, strides, self.base * row, 0, len(self.steps), self.dtype)

    def tiles(self):
        """Every tile, as a view."""
        count = product(self.shape[: len(self.steps)])
        return [whole(self.group.tile(self.base + at), self.shape[len(self.steps) :]) for at in range(count)]

    @property
    def on_chip(self):
        return True

    @property
    def buffer(self):
        return self.tiles()[0].buffer

    @property
    def name(self):
        return ""

    def reshape(self, *sizes, shape=None):
        return self.merge().reshape(*sizes, shape=shape)


def whole(storage, shape, pdim=0):
    """The view that is all of a tensor."""
    if len(shape) == 2 and storage.whole >= 0 and pdim == 0:
        view = View(storage, shape, (1, 1), 0, 0, 0, storage.dtype)
        view.pat = storage.whole
        return view
    if storage.memory in ON_CHIP:
        free = row_strides(shape[:pdim] + shape[pdim + 1 :])
        strides = (*free[:pdim], 1, *free[pdim:])
        view = View(storage, shape, strides, 0, 0, pdim, storage.dtype)
        view.pat = storage.whole
        return view
    return View(storage, shape, row_strides(shape), 0, 0, -2, storage.dtype)


def element_type(value):
    found = as_dtype(value)
    if found is None:
        raise KernelError("dtype", f"{value!r} is not a type of elements.", "use one of nl.float32, nl.bfloat16, nl.float16, nl.float8_e4m3, nl.int32 or another of the reference")
    return found


class Dynamic:
    """A number that is known on the device only: a register, or what is computed of one."""

    def __init__(self, turns=0):
        # How often `while register:` is true while it is recorded.
        self.turns = turns

    def _other(self, *_):
        return Dynamic(self.turns)

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __floordiv__ = __mod__ = __neg__ = _other
    __lt__ = __le__ = __gt__ = __ge__ = _other

    def __bool__(self):
        self.turns -= 1
        if self.turns == 0:
            now().warn("loop", "The number of turns of this loop is known on the device only: it is recorded once.")
        return self.turns >= 0

    def __index__(self):
        raise KernelError("value", "The value of a register is not known while a kernel is recorded.", "use it as a scalar_offset, in nl.ds, or as a bound of nl.fori_loop")

    __int__ = __index__
