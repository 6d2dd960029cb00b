"""What values use of NumPy, where Python has none: arrays of the page, whose loops are JavaScript (www/recorder_arrays.js)."""

import contextlib
import functools
import math
import operator
import types

import nki_arrays as js
from pyodide.ffi import JsException, to_js

pi, e, inf, nan, newaxis = math.pi, math.e, math.inf, math.nan, None


class DType(str):
    """`np.float32`: the name of a type, and what makes arrays of it."""

    def __call__(self, value):
        return asarray(value, self)


float64, float32, int32, uint32, int16, uint16, int8, uint8, bool_ = map(DType, "float64 float32 int32 uint32 int16 uint16 int8 uint8 bool".split())
float16, int64, double = float32, int32, float64
_KINDS = {float: float64, int: int32, bool: bool_}


def errstate(**_):
    return contextlib.nullcontext()


def _list(values):
    return to_js([int(value) for value in values])


def _call(function, *args):
    try:
        return Array(function(*args))
    except JsException as error:
        raise ValueError(error.message) from None


def _shape(shape):
    return (shape,) if isinstance(shape, int) else tuple(shape)


def asarray(value, dtype=None):
    """An array of an array, a number, or lists of them."""
    if isinstance(value, (list, tuple)):
        value = stack([asarray(one) for one in value]) if value else Array(js.ofList(to_js([])))
    elif not isinstance(value, Array):
        kind = bool_ if isinstance(value, bool) else int32 if isinstance(value, int) and abs(value) < 1 << 31 else float64
        value = Array(js.make(_list(()), kind, value))
    dtype = _KINDS.get(dtype, dtype)
    return value if dtype in (None, value.dtype) else Array(js.cast(value.js, dtype))


def array(value, dtype=None):
    return asarray(value, dtype).copy()


asanyarray = ascontiguousarray = asarray


def full(shape, fill_value, dtype=float64):
    return Array(js.make(_list(_shape(shape)), _KINDS.get(dtype, dtype), fill_value))


def zeros(shape, dtype=float64):
    return full(shape, 0, dtype)


def ones(shape, dtype=float64):
    return full(shape, 1, dtype)


def full_like(a, fill_value, dtype=None):
    return full(a.shape, fill_value, dtype or a.dtype)


def zeros_like(a, dtype=None):
    return full_like(a, 0, dtype)


def ones_like(a, dtype=None):
    return full_like(a, 1, dtype)


empty, empty_like = zeros, zeros_like


def arange(start, stop=None, step=1, dtype=None):
    start, stop = (0, start) if stop is None else (start, stop)
    count = max(0, math.ceil((stop - start) / step))
    kind = dtype or (int32 if all(isinstance(one, int) for one in (start, step)) else float64)
    return asarray(Array(js.ofList(to_js(range(count)))) * step + start, kind)


def linspace(start, stop, num=50):
    return arange(num) * ((stop - start) / (num - 1)) + start


def eye(N, M=None, k=0, dtype=float64):  # noqa: N803
    return asarray(arange(N)[:, None] + k == arange(M or N), dtype)


identity = eye


def tri(N, M=None, k=0, dtype=float64):  # noqa: N803
    return asarray(arange(N)[:, None] + k >= arange(M or N), dtype)


def tril(m, k=0):
    return where(tri(*m.shape[-2:], k), m, 0)


def triu(m, k=0):
    return where(tri(*m.shape[-2:], k - 1), 0, m)


def frombuffer(data, dtype):
    """Whole numbers of 16 bits."""
    return Array(js.pairs(to_js(data)))


def vectorize(function, otypes):
    return _unary(function.__name__)


def rounded(values, bits, low, top, beyond):
    return Array(js.rounded(values.js, bits, low, top, beyond))


def _pair(a, b):
    """Two operands: a number takes the type of the array beside it, unless it is a fraction and that whole."""
    a, b = (asarray(one) if isinstance(one, (list, tuple)) else one for one in (a, b))
    kind = next((one.dtype for one in (a, b) if isinstance(one, Array)), None)
    weak = [one if isinstance(one, Array) else asarray(one, kind if kind and (kind.startswith("float") or isinstance(one, int)) else None) for one in (a, b)]
    return weak[0].js, weak[1].js


def _binary(name):
    def function(a, b):
        found = _call(js.binary, name, *_pair(a, b))
        return found if isinstance(a, (Array, list, tuple)) or isinstance(b, (Array, list, tuple)) else found.item()

    return function


def _unary(name):
    def function(a, dtype=None):
        found = _call(js.unary, name, asarray(a, dtype).js)
        return found if isinstance(a, (Array, list, tuple)) else found.item()

    return function


def where(condition, x, y):
    return _call(js.where, asarray(condition).js, *_pair(x, y))


def broadcast_to(a, shape):
    a = asarray(a)
    return _call(js.strided, a.js, _list(shape), js.stepsIn(_list(a.shape), _list(shape)), 0)


def transpose(a, axes=None):
    axes = [axis % a.ndim for axis in axes] if axes else range(a.ndim)[::-1]
    steps = a.steps()
    return Array(js.strided(a.js, _list(a.shape[axis] for axis in axes), _list(steps[axis] for axis in axes), 0))


permute_dims = transpose


def moveaxis(a, source, destination):
    axes = [axis for axis in range(a.ndim) if axis != source % a.ndim]
    axes.insert(destination % a.ndim, source % a.ndim)
    return transpose(a, axes)


def swapaxes(a, axis1, axis2):
    axes = list(range(a.ndim))
    axes[axis1], axes[axis2] = axes[axis2], axes[axis1]
    return transpose(a, axes)


def reshape(a, *shape):
    shape = _shape(shape[0]) if len(shape) == 1 else shape
    known = math.prod(one for one in shape if one >= 0)
    shape = [a.size // known if one < 0 else one for one in shape]
    if math.prod(shape) != a.size:
        raise ValueError(f"cannot reshape array of size {a.size} into shape {tuple(shape)}")
    return Array(js.reshape(a.js, _list(shape)))


def ravel(a):
    return reshape(asarray(a), -1)


def read(a, shape, steps, offset):
    """A copy of what these steps reach in a flat array."""
    return Array(js.strided(a.js, _list(shape), _list(steps), offset))


def write(a, shape, steps, offset, values):
    js.put(a.js, _list(shape), _list(steps), offset, broadcast_to(values, shape).js if values.size == 1 else values.js)


def squeeze(a, axis=None):
    return reshape(a, [one for at, one in enumerate(a.shape) if one != 1 or axis not in (None, at, at - a.ndim)])


def expand_dims(a, axis):
    shape = list(a.shape)
    shape.insert(axis if axis >= 0 else a.ndim + 1 + axis, 1)
    return reshape(a, shape)


def _reduce(name):
    def function(a, axis=None, keepdims=False, dtype=None):
        a = asarray(a, dtype)
        chosen = range(a.ndim) if axis is None else sorted(one % a.ndim for one in ((axis,) if isinstance(axis, int) else axis))
        if name in ("argmax", "argmin") and axis is None:
            a, chosen = ravel(a), [0]
        kept = [one for one in range(a.ndim) if one not in chosen]
        shape = [1 if at in chosen else one for at, one in enumerate(a.shape) if keepdims or at not in chosen]
        rows = reshape(transpose(a, [*kept, *chosen]), [a.shape[one] for one in kept] + [math.prod(a.shape[one] for one in chosen)])
        found = reshape(_call(js.reduce, name, rows.js), shape)
        return found if shape else found.item()

    return function


# By name, because Python has functions of most of these names too.
_REDUCTIONS = {name: _reduce(name) for name in "sum prod max min any all argmax argmin".split()}
_sum = _REDUCTIONS["sum"]


def mean(a, axis=None, keepdims=False, dtype=None):
    total = _sum(asarray(a) * 1.0, axis, keepdims, dtype)
    return total * (getattr(total, "size", 1) / a.size)


def var(a, axis=None, keepdims=False, ddof=0):
    count = a.size / getattr(_sum(a, axis), "size", 1)
    return _sum((a - mean(a, axis, True)) ** 2, axis, keepdims) / (count - ddof)


def std(a, axis=None, keepdims=False, ddof=0):
    return sqrt(var(a, axis, keepdims, ddof))


def _along(name):
    def function(a, axis=None if name.startswith("cum") else -1):
        a, axis = (ravel(a), 0) if axis is None else (asarray(a), axis)
        return moveaxis(_call(js.along, name, moveaxis(a, axis, -1).js), -1, axis)

    return function


cumsum, cumprod, sort, argsort = map(_along, "cumsum cumprod sort argsort".split())


def clip(a, a_min=None, a_max=None):
    a = a if a_min is None else maximum(a, a_min)
    return a if a_max is None else minimum(a, a_max)


def count_nonzero(a, axis=None):
    return _sum(a != 0, axis)


def concatenate(arrays, axis=0):
    arrays = [asarray(one) for one in arrays]
    return _call(js.concatenate, to_js([one.js for one in arrays]), axis % arrays[0].ndim)


concat = concatenate


def stack(arrays, axis=0):
    return concatenate([expand_dims(asarray(one), axis) for one in arrays], axis)


def vstack(arrays):
    return concatenate([one if one.ndim > 1 else one[None] for one in arrays])


def hstack(arrays):
    return concatenate(arrays, 1 if arrays[0].ndim > 1 else 0)


def split(a, count, axis=0):
    size = a.shape[axis] // count
    return [take(a, arange(size) + at * size, axis) for at in range(count)]


def take(a, indices, axis=None):
    a, axis = (ravel(a), 0) if axis is None else (a, axis)
    return _call(js.take, a.js, asarray(indices).js, axis % a.ndim)


def take_along_axis(a, indices, axis):
    rows, places = moveaxis(a, axis, -1), moveaxis(indices, axis, -1)
    at = arange(rows.size // rows.shape[-1]).reshape(*rows.shape[:-1], 1) * rows.shape[-1] + places
    return moveaxis(take(rows, at), -1, axis)


def repeat(a, repeats, axis=None):
    a, axis = (ravel(a), 0) if axis is None else (a, axis)
    return take(a, arange(a.shape[axis] * repeats) // repeats, axis)


def tile(a, reps):
    for axis, count in enumerate(_shape(reps)[::-1]):
        a = concatenate([a] * count, -1 - axis)
    return a


def flip(a, axis=None):
    for one in range(a.ndim) if axis is None else _shape(axis):
        a = take(a, arange(a.shape[one])[::-1], one)
    return a


def roll(a, shift, axis=None):
    if axis is None:
        return reshape(roll(ravel(a), shift, 0), a.shape)
    return take(a, (arange(a.shape[axis]) - shift) % a.shape[axis], axis)


def pad(a, pad_width, mode="constant", constant_values=0):
    if mode != "constant":
        raise ValueError(f"the page pads with one value, not with mode={mode!r}")
    pairs = [pad_width] * a.ndim if isinstance(pad_width, int) or isinstance(pad_width[0], int) else pad_width
    for axis, pair in enumerate(pairs):
        before, after = (pair, pair) if isinstance(pair, int) else pair
        sides = [full([count if at == axis else one for at, one in enumerate(a.shape)], constant_values, a.dtype) for count in (before, after)]
        a = concatenate([sides[0], a, sides[1]], axis)
    return a


def matmul(a, b):
    a, b = asarray(a), asarray(b)
    if a.ndim == 1:
        return matmul(a[None], b)[..., 0, :]
    if b.ndim == 1:
        return matmul(a, b[:, None])[..., 0]
    lead = (zeros(a.shape[:-2]) + zeros(b.shape[:-2])).shape
    return _call(js.matmul, *(broadcast_to(one, (*lead, *one.shape[-2:])).js for one in (a, b)))


def dot(a, b):
    a, b = asarray(a), asarray(b)
    return a * b if 0 in (a.ndim, b.ndim) else _sum(a * b) if a.ndim == b.ndim == 1 else matmul(a, b)


def outer(a, b):
    return ravel(a)[:, None] * ravel(b)


def inner(a, b):
    return dot(a, b.T)


def einsum(subscripts, *arrays):
    """By products of two with letters in order: those of both and of the result, those of the first, those that are summed, those of the second."""
    terms, _, result = subscripts.replace(" ", "").partition("->")
    terms = terms.split(",")
    if "." in subscripts or any(len(set(term)) < len(term) for term in (*terms, result)):
        raise ValueError("the page has np.einsum with different letters in each term, without ...")
    if not _:
        letters = "".join(terms)
        result = "".join(sorted(one for one in set(letters) if letters.count(one) == 1))
    term, found = terms[0], asarray(arrays[0])
    for at, (other, right) in enumerate(zip(terms[1:], arrays[1:]), 2):
        later = set(result).union(*terms[at:])
        sizes = {**dict(zip(term, found.shape)), **dict(zip(other, right.shape))}
        both, left = [one for one in term if one in other and one in later], [one for one in term if one not in other]
        gone, new = [one for one in term if one in other and one not in later], [one for one in other if one not in term]
        lead = [sizes[one] for one in both]
        m, k, n = (math.prod(sizes[one] for one in part) for part in (left, gone, new))
        x = transpose(found, [term.index(one) for one in both + left + gone]).reshape(*lead, m, k)
        y = transpose(right, [other.index(one) for one in both + gone + new]).reshape(*lead, k, n)
        term = "".join(both + left + new)
        found = matmul(x, y).reshape([sizes[one] for one in term])
    gone = tuple(at for at, one in enumerate(term) if one not in result)
    found, term = (_sum(found, gone), "".join(one for one in term if one in result)) if gone else (found, term)
    return transpose(found, [term.index(one) for one in result]) if result else found


def _norm(x, axis=None, keepdims=False):
    return sqrt(_sum(x * x, axis, keepdims))


linalg = types.SimpleNamespace(norm=_norm)
_NAMES = {"amax": "max", "amin": "min", "abs": "absolute", "fabs": "absolute", "true_divide": "divide", "invert": "bitwise_not", "remainder": "mod"}


@functools.lru_cache(None)
def __getattr__(name):
    own = _NAMES.get(name, name)
    if own in _REDUCTIONS:
        return _REDUCTIONS[own]
    if js.hasUnary(own) or js.hasBinary(own):
        return _unary(own) if js.hasUnary(own) else _binary(own)
    raise AttributeError(f"the page has no np.{name}; the command line has all of NumPy")


sqrt, maximum, minimum = _unary("sqrt"), _binary("maximum"), _binary("minimum")


class Array:
    """An array. What it has not itself is a function of this module with it as the first argument."""

    def __init__(self, own):
        self.js = own

    @functools.cached_property
    def shape(self):
        return tuple(self.js.shape)

    @functools.cached_property
    def dtype(self):
        return DType(js.kindOf(self.js))

    ndim = property(lambda self: len(self.shape))
    size = property(lambda self: math.prod(self.shape))
    T = property(transpose)

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return functools.partial(globals().get(name) or __getattr__(name), self)

    def steps(self):
        return [math.prod(self.shape[at + 1 :]) for at in range(self.ndim)]

    def astype(self, dtype):
        return asarray(self, dtype)

    def copy(self):
        return Array(js.cast(self.js, self.dtype))

    def flatten(self):
        return ravel(self.copy())

    def item(self):
        if self.size != 1:
            raise ValueError("an array of several elements is no number")
        return bool(js.first(self.js)) if self.dtype == "bool" else js.first(self.js)

    def tolist(self):
        return [one.tolist() for one in self] if self.ndim > 1 else list(js.toList(self.js))

    def transpose(self, *axes):
        return transpose(self, axes[0] if axes and not isinstance(axes[0], int) else axes)

    def dot(self, other):
        return dot(self, other)

    def _basic(self, key):
        """What numbers, slices, ... and None choose: shape, steps and the first element."""
        if ... in key:
            at = key.index(...)
            key = key[:at] + (slice(None),) * (self.ndim - len([one for one in key if one is not None]) + 1) + key[at + 1 :]
        axes, shape, steps, offset = iter(zip(self.shape, self.steps())), [], [], 0
        for one in key:
            if one is None:
                shape, steps = [*shape, 1], [*steps, 0]
                continue
            size, step = next(axes, (0, 0))
            if isinstance(one, slice):
                part = range(size)[one]
                shape, steps, offset = [*shape, len(part)], [*steps, step * part.step], offset + step * (part.start if part else 0)
            else:
                offset += step * range(size)[operator.index(one)]
        for size, step in axes:
            shape, steps = [*shape, size], [*steps, step]
        return shape, steps, offset

    def __getitem__(self, key):
        if isinstance(key, Array) and key.dtype != "bool":
            return take(self, key, 0)
        keys = tuple(asarray(one) if isinstance(one, list) else one for one in (key if isinstance(key, tuple) else (key,)))
        chosen = [at for at, one in enumerate(keys) if isinstance(one, Array)]
        if not chosen:
            shape, steps, offset = self._basic(keys)
            found = Array(js.strided(self.js, _list(shape), _list(steps), offset))
            return found if shape else found.item()
        if keys[chosen[0]].dtype == "bool":
            places = [at for at, one in enumerate(ravel(keys[0]).tolist()) if one]
            return take(reshape(self, -1, *self.shape[keys[0].ndim :]), asarray(places), 0)
        if len(chosen) == len(keys):
            at = functools.reduce(lambda all, one: all * one[1] + one[0] % one[1], zip(keys, self.shape), 0)
            return take(reshape(self, -1, *self.shape[len(keys) :]), at, 0)
        if len(chosen) > 1 or any(not isinstance(one, slice) or one != slice(None) for one in keys if not isinstance(one, Array)):
            raise IndexError("the page indexes with arrays alone, or with one between whole slices")
        return take(self, keys[chosen[0]], chosen[0])

    def __setitem__(self, key, values):
        """By numbers and slices."""
        shape, steps, offset = self._basic(key if isinstance(key, tuple) else (key,))
        js.put(self.js, _list(shape), _list(steps), offset, broadcast_to(values, shape).js)

    def __invert__(self):
        return _unary("logical_not" if self.dtype == "bool" else "bitwise_not")(self)

    def __len__(self):
        return self.shape[0]

    def __iter__(self):
        return (self[at] for at in range(len(self)))

    def __float__(self):
        return float(self.item())

    def __int__(self):
        return int(self.item())

    def __bool__(self):
        return bool(self.item())

    __hash__ = None


def _operators():
    names = {"add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "floordiv": "floor_divide", "mod": "mod", "pow": "power"}
    names |= {"and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor"}
    calls = {**{sign: _binary(name) for sign, name in names.items()}, "matmul": matmul}
    for sign, call in calls.items():
        setattr(Array, f"__{sign}__", call)
        setattr(Array, f"__r{sign}__", lambda self, other, call=call: call(other, self))
    for sign, name in {"lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal", "eq": "equal", "ne": "not_equal"}.items():
        setattr(Array, f"__{sign}__", _binary(name))
    for sign, name in {"neg": "negative", "abs": "absolute"}.items():
        setattr(Array, f"__{sign}__", _unary(name))


_operators()
