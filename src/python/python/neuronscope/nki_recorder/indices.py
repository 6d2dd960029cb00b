"""Indices of the first dialect: affine expressions of `nl.arange`, and masks of them.

An expression is a constant and terms `(axis, count, stride)`; axes are those of NumPy's broadcast, counted from the left of `ndim`.
"""

from .errors import KernelError


def _refuse(what):
    raise KernelError("value", f"{what} of an index made by nl.arange is not affine.", "build the index from sums and products with integers")


class Index:
    __slots__ = ("const", "key", "ndim", "terms")

    def __init__(self, ndim, const, terms, key=None):
        self.ndim, self.const, self.terms = ndim, const, terms
        # What two indices that differ by a constant share.
        self.key = key or (ndim, terms)

    @property
    def shape(self):
        counts = [1] * self.ndim
        for axis, count, _ in self.terms:
            counts[axis] = count
        return tuple(counts)

    @property
    def ends(self):
        """The smallest and the largest value."""
        low = high = self.const
        for _, count, stride in self.terms:
            if stride < 0:
                low += (count - 1) * stride
            else:
                high += (count - 1) * stride
        return low, high

    def __getitem__(self, index):
        index = index if type(index) is tuple else (index,)
        if Ellipsis in index:
            at = index.index(Ellipsis)
            given = sum(1 for one in index if one is not None) - 1
            index = index[:at] + (slice(None),) * (self.ndim - given) + index[at + 1 :]
        axes = dict((axis, (count, stride)) for axis, count, stride in self.terms)
        const, terms, old, new = self.const, [], 0, 0
        for one in index:
            if one is None:
                new += 1
                continue
            if old >= self.ndim:
                raise KernelError("bounds", f"An index with {self.ndim} dimensions is indexed with more.", "use [:, None] or [None, :]")
            count, stride = axes.get(old, (1, 0))
            if isinstance(one, slice):
                low, high, step = one.indices(count)
                const += low * stride
                terms.append((new, max(0, -(-(high - low) // step)), stride * step))
                new += 1
            else:
                const += (one + count if one < 0 else one) * stride
            old += 1
        for rest in range(old, self.ndim):
            if rest in axes:
                terms.append((new, *axes[rest]))
            new += 1
        return Index(new, const, tuple(terms))

    def __add__(self, other):
        if type(other) is int:
            return Index(self.ndim, self.const + other, self.terms, self.key)
        if not isinstance(other, Index):
            try:
                return Index(self.ndim, self.const + other.__index__(), self.terms, self.key)
            except (AttributeError, TypeError):
                return NotImplemented
        if type(self) is Index and isinstance(other, Moved):
            return other + self
        ndim = max(self.ndim, other.ndim)
        terms = {}
        for one in (self, other):
            shift = ndim - one.ndim
            for axis, count, stride in one.terms:
                axis += shift
                was = terms.get(axis)
                if was is None or was[0] == 1:
                    terms[axis] = (count, stride)
                elif count in (was[0], 1):
                    terms[axis] = (was[0], was[1] + (stride if count == was[0] else 0))
                else:
                    raise KernelError("broadcast", f"Indices of {was[0]} and {count} elements meet on one axis.", "make both of the same length")
        return Index(ndim, self.const + other.const, tuple((axis, *terms[axis]) for axis in sorted(terms)))

    __radd__ = __add__

    def __mul__(self, other):
        if type(other) is not int:
            if isinstance(other, Index):
                _refuse("A product with another index")
            other = other.__index__()
        return Index(self.ndim, self.const * other, tuple((axis, count, stride * other) for axis, count, stride in self.terms))

    __rmul__ = __mul__

    def __neg__(self):
        return self * -1

    def __sub__(self, other):
        return self + (other * -1 if isinstance(other, Index) else -other.__index__())

    def __rsub__(self, other):
        return self * -1 + other

    def __floordiv__(self, other):
        if self.const % other == 0 and all(stride % other == 0 for _, _, stride in self.terms):
            return Index(self.ndim, self.const // other, tuple((axis, count, stride // other) for axis, count, stride in self.terms))
        return _refuse("A quotient")

    def __mod__(self, other):
        low, high = self.ends
        if low // other == high // other:
            return self - low // other * other
        return _refuse("A remainder")

    def __bool__(self):
        return _refuse("The truth")

    def __ge__(self, other):
        return Mask((self - other,))

    def __gt__(self, other):
        return Mask((self - other - 1,))

    def __le__(self, other):
        return Mask((-self + other,))

    def __lt__(self, other):
        return Mask((-self + other - 1,))

    def __eq__(self, other):
        return Mask((self - other, -self + other))

    def __ne__(self, other):
        return Mask((), exact=False)

    __hash__ = None


class Moved(Index):
    """An index plus numbers of a tile, which the device alone knows."""

    __slots__ = ("tile",)

    def __init__(self, index, tile):
        super().__init__(index.ndim, index.const, index.terms)
        self.tile = tile

    def __getitem__(self, index):
        return Moved(super().__getitem__(index), self.tile)

    def __add__(self, other):
        return Moved(super().__add__(other), self.tile)

    __radd__ = __add__

    def __mul__(self, other):
        return Moved(super().__mul__(other), self.tile)

    __rmul__ = __mul__


class Mask:
    """Conditions `expression >= 0` that all hold. `exact` is false if some condition is no such expression."""

    __slots__ = ("conditions", "exact")

    def __init__(self, conditions, exact=True):
        self.conditions, self.exact = conditions, exact

    @property
    def shape(self):
        total = Index(1, 0, ())
        for one in self.conditions:
            total = total + one
        return total.shape

    def __and__(self, other):
        if isinstance(other, bool):
            return self if other else Mask((Index(1, -1, ()),))
        return Mask(self.conditions + other.conditions, self.exact and other.exact)

    __rand__ = __and__

    def __or__(self, other):
        return Mask((), exact=False)

    __ror__ = __or__

    def __invert__(self):
        if len(self.conditions) == 1:
            return Mask((-self.conditions[0] - 1,), self.exact)
        return Mask((), exact=False)

    def __bool__(self):
        raise KernelError("value", "A condition of indices made by nl.arange differs from element to element; Python asks for one answer.", "pass it as mask=, or use nisa.affine_select")

    def ranges(self, shape):
        """`{axis: (first, end)}` of the box around what the mask leaves of a shape, and whether the box is all of it; None: nothing."""
        box, exact = {}, self.exact
        for one in self.conditions:
            shift = len(shape) - one.ndim
            if not one.terms:
                if one.const < 0:
                    return None, True
                continue
            exact = exact and len(one.terms) == 1
            best = sum(max(0, (count - 1) * stride) for _, count, stride in one.terms)
            for axis, count, stride in one.terms:
                if stride == 0:
                    continue
                rest = one.const + best - max(0, (count - 1) * stride)
                low, high = box.get(axis + shift, (0, count))
                if stride > 0:
                    low = max(low, -(rest // stride))
                else:
                    high = min(high, rest // -stride + 1)
                if low >= high:
                    return None, True
                box[axis + shift] = (low, high)
        return box, exact


def arange(*args):
    if not all(hasattr(one, "__index__") for one in args):
        raise KernelError("value", f"nl.arange gets {', '.join(repr(one) for one in args)}.", "use integers: // instead of /")
    low, high, step = (0, args[0], 1) if len(args) == 1 else (*args, 1)[:3]
    return Index(1, low, ((0, max(0, -(-(high - low) // step)), step),))


class _Grid:
    """`nl.mgrid[0:128, 0:512]`: its parts are `.p`, `.x`, `.y`, `.z`, or by number."""

    def __init__(self, parts):
        self.parts = parts

    def __getitem__(self, at):
        return self.parts[at]

    def __iter__(self):
        return iter(self.parts)

    def __getattr__(self, name):
        names = "px" if len(self.parts) == 2 else "pyx" if len(self.parts) == 3 else "pzyx"
        if len(self.parts) == 1:
            names = "p"
        if len(name) == 1 and name in names:
            return self.parts[names.index(name)]
        raise KernelError("name", f"nl.mgrid of {len(self.parts)} ranges has no part {name!r}.", f"its parts are {', '.join(names)}")


class MGrid:
    def __getitem__(self, ranges):
        ranges = ranges if type(ranges) is tuple else (ranges,)
        parts = []
        for at, one in enumerate(ranges):
            low, step = one.start or 0, one.step or 1
            parts.append(Index(len(ranges), low, ((at, -(-(one.stop - low) // step), step),)))
        return _Grid(parts)
