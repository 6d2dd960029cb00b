"""Arrays of the host, and stand-ins for numpy, torch and jax where they are not installed: shapes and types, hardly any values."""

import math
import types

from .dtypes import DTYPES, FLOAT32
from .dtypes import dtype as as_dtype
from .errors import KernelError
from .tensors import View, product
from .trace import Trace


class HostArray:
    """An array of which only the shape and the type are known. Small ones made by zeros, eye, arange keep no values either."""

    __array_priority__ = 100

    def __init__(self, shape, dtype=FLOAT32):
        self.shape, self.dtype = tuple(int(n) for n in shape), as_dtype(dtype) or FLOAT32

    @property
    def ndim(self):
        return len(self.shape)

    @property
    def size(self):
        return product(self.shape)

    @property
    def T(self):
        return HostArray(self.shape[::-1], self.dtype)

    def __len__(self):
        return self.shape[0]

    def __getitem__(self, index):
        index = index if type(index) is tuple else (index,)
        shape, axis = [], 0
        given = sum(1 for one in index if one is not None and one is not Ellipsis)
        for one in index:
            if one is None:
                shape.append(1)
            elif one is Ellipsis:
                rest = self.ndim - given
                shape += self.shape[axis : axis + rest]
                axis += rest
            else:
                if isinstance(one, slice):
                    shape.append(len(range(*one.indices(self.shape[axis]))))
                axis += 1
        return HostArray((*shape, *self.shape[axis:]), self.dtype)

    def __setitem__(self, index, value):
        pass

    def reshape(self, *shape):
        shape = tuple(shape[0]) if len(shape) == 1 and not isinstance(shape[0], int) else shape
        if -1 in shape:
            rest = -product(shape)
            shape = tuple(self.size // rest if n == -1 else n for n in shape)
        return HostArray(shape, self.dtype)

    view = reshape

    def astype(self, dtype, *_, **__):
        return HostArray(self.shape, as_dtype(dtype) or self.dtype)

    def to(self, *args, dtype=None, **_):
        kind = next((as_dtype(one) for one in (dtype, *args) if one is not None and as_dtype(one) is not None), None)
        return HostArray(self.shape, kind or self.dtype)

    def transpose(self, *axes):
        axes = tuple(axes[0]) if len(axes) == 1 and not isinstance(axes[0], int) else axes
        if len(axes) == 2 and self.ndim > 2:
            axes = tuple(axes[1] if at == axes[0] else axes[0] if at == axes[1] else at for at in range(self.ndim))
        return HostArray([self.shape[at] for at in axes or reversed(range(self.ndim))], self.dtype)

    permute = transpose

    def _same(self, *_, **__):
        return HostArray(self.shape, self.dtype)

    cpu = cuda = numpy = contiguous = copy = detach = clone = requires_grad_ = _same
    __neg__ = __abs__ = _same

    def squeeze(self, axis=None, dim=None):
        gone = axis if dim is None else dim
        gone = range(self.ndim) if gone is None else (gone % max(1, self.ndim),)
        return HostArray([n for at, n in enumerate(self.shape) if n != 1 or at not in gone], self.dtype)

    def unsqueeze(self, dim):
        at = dim % (self.ndim + 1)
        return HostArray((*self.shape[:at], 1, *self.shape[at:]), self.dtype)

    def expand(self, *shape):
        shape = tuple(shape[0]) if len(shape) == 1 and not isinstance(shape[0], int) else shape
        own = (1,) * (len(shape) - self.ndim) + self.shape
        return HostArray([have if want == -1 else want for have, want in zip(own, shape)], self.dtype)

    def flatten(self, *_, **__):
        return HostArray((self.size,), self.dtype)

    ravel = flatten

    def bfloat16(self):
        return self.astype("bfloat16")

    def half(self):
        return self.astype("float16")

    def float(self):
        return self.astype(FLOAT32)

    def __matmul__(self, other):
        columns = getattr(other, "shape", ())
        return HostArray((*self.shape[:-1], *(columns[-1:] if len(columns) > 1 else ())), self.dtype)

    def _with(self, other, *_):
        shape = getattr(other, "shape", ())
        return HostArray(shape if len(shape) > self.ndim else self.shape, self.dtype)

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __pow__ = _with

    def _value(self, *_):
        raise KernelError("value", "The values of an array are not known while a kernel is recorded.", "decide by shapes")

    __float__ = __int__ = __index__ = __bool__ = item = tolist = _value

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Absent(f"an array's {name}", "numpy")


class Absent:
    """A name of a package that is not installed. It may be passed on; it fails where its value is needed."""

    def __init__(self, name, package):
        self.__dict__["_name"], self.__dict__["_package"] = name, package

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Absent(f"{self._name}.{name}", self._package)

    def __call__(self, *args, **_):
        # A decorator leaves its function as it is.
        if len(args) == 1 and isinstance(args[0], types.FunctionType):
            return args[0]
        if any(isinstance(one, View) for one in args):
            raise KernelError("import", f"{self._name} is called with a tensor of the kernel, and {self._package} is not installed.", "use nki.language and nki.isa inside a kernel")
        if self._package in ("nki", "neuronxcc"):
            raise KernelError("import", f"{self._name} is not recorded: collectives and the kernels of the SDK are not.", "leave it out, or time the kernel around it")
        return Absent(f"{self._name}(...)", self._package)

    # A class of it as a base does what a module of torch does: a call is one of forward.
    def __mro_entries__(self, bases):
        return () if AbsentBase in bases else (AbsentBase,)

    def _need(self, *_, **__):
        raise KernelError("import", f"{self._name} is needed, but {self._package} is not installed.", f"install {self._package}, or give the kernel's arguments with --shapes")

    __bool__ = __int__ = __float__ = __index__ = __iter__ = __len__ = _need

    # What a file computes of it before its kernel may never be needed: the expected result of a test.
    def _unknown(self, *_):
        if Trace.now is None or Trace.now.kernel:
            self._need()
        return Absent(f"a value of {self._name}", self._package)

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __pow__ = __matmul__ = __rmatmul__ = __neg__ = _unknown
    __lt__ = __gt__ = __le__ = __ge__ = _unknown

    # torch.no_grad() and the like.
    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    def __getitem__(self, _):
        return Absent(f"{self._name}[...]", self._package)


class AbsentBase:
    def __init__(self, *_, **__):
        pass

    def __call__(self, *args, **named):
        return self.forward(*args, **named)

    def _self(self, *_, **__):
        return self

    to = cpu = cuda = eval = train = half = bfloat16 = float = requires_grad_ = _self

    def register_buffer(self, name, value, **_):
        setattr(self, name, value)

    @classmethod
    def apply(cls, *args):
        """A function of torch.autograd."""
        return cls.forward(types.SimpleNamespace(save_for_backward=lambda *_: None), *args)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Absent(name, "the package of its class")


class Stub(types.ModuleType):
    """A package that is not installed, with the few names that make arrays."""

    # What torch_neuronx and jax_neuronx have of kernels, by name; the run sets it.
    kernels = {}

    def __init__(self, name, **names):
        super().__init__(name)
        self.__dict__.update(names)
        # Anything below it can be imported.
        self.__path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        package = self.__name__.split(".")[0]
        if name in self.kernels and package.endswith("neuronx"):
            return self.kernels[name]
        return Absent(f"{self.__name__}.{name}", package)


def _make(shape, *rest, dtype=FLOAT32, **_):
    shape = (shape,) if isinstance(shape, int) else shape
    # torch.rand(4, 8) and np.random.rand(4, 8) name the sizes one by one.
    sizes = [one for one in rest if isinstance(one, int)]
    kind = next((as_dtype(one) for one in rest if not isinstance(one, (int, float)) and as_dtype(one)), None)
    return HostArray((*shape, *sizes), kind or as_dtype(dtype) or FLOAT32)


def _full(shape, value=0, dtype=FLOAT32, **_):
    return _make(shape, dtype=dtype)


def _randint(low, high=None, size=(), dtype="int32", **_):
    return HostArray((size,) if isinstance(size, int) else size, dtype)


def _uniform(low=0.0, high=1.0, size=(), **_):
    return HostArray((size,) if isinstance(size, int) else size, FLOAT32)


def _like(array, *_, dtype=None, **__):
    return HostArray(array.shape, dtype or array.dtype)


def _square(n, m=None, dtype=FLOAT32, **_):
    return HostArray((n, m or n), dtype)


def _arange(*bounds, dtype="int32", **_):
    return HostArray((len(range(*(int(one) for one in bounds))),), dtype)


def _keyed(_, shape=(), dtype=FLOAT32, **__):
    return HostArray(shape, dtype)


def _array(values, dtype=FLOAT32, **_):
    shape, inner = [], values
    while isinstance(inner, (list, tuple)):
        shape.append(len(inner))
        inner = inner[0] if inner else 0
    return HostArray(getattr(values, "shape", shape), dtype or FLOAT32)


MAKERS = {
    "zeros": _make, "ones": _make, "empty": _make, "full": _full, "zeros_like": _like, "ones_like": _like, "empty_like": _like, "eye": _square,
    "identity": _square, "arange": _arange, "array": _array, "asarray": _array, "tensor": _array, "ascontiguousarray": _array,
}  # fmt: skip


class Number(float):
    """What np.ceil and the like give for a number."""

    def astype(self, kind, *_, **__):
        kind = str(as_dtype(kind) or kind)
        return int(self) if "int" in kind else self

    def item(self):
        return float(self)


class _Operator:
    """np.add and the like: the name of an operator, and the function on numbers."""

    def __init__(self, name, call=None):
        self.__name__, self._call = name, call

    def __call__(self, *args, **_):
        array = next((one for one in args if isinstance(one, HostArray)), None)
        if array is not None or self._call is None:
            return array if array is not None else Absent(f"numpy.{self.__name__}(...)", "numpy")
        value = self._call(*args)
        return Number(value) if self.__name__ in _ROUNDING else value


# They give a number with a fraction, also of a whole one.
_ROUNDING = {"ceil", "floor", "round", "sqrt", "log2", "exp", "log"}
_NUMPY = {
    name: _Operator(name, call)
    for name, call in {
        "add": lambda a, b: a + b, "subtract": lambda a, b: a - b, "multiply": lambda a, b: a * b, "divide": lambda a, b: a / b, "power": pow,
        "maximum": max, "minimum": min, "max": max, "min": min, "sum": sum, "prod": math.prod, "sqrt": math.sqrt, "exp": math.exp, "log": math.log,
        "log2": math.log2, "tanh": math.tanh, "abs": abs, "ceil": math.ceil, "floor": math.floor, "square": lambda a: a * a, "mod": math.fmod,
        "logical_and": None, "logical_or": None, "equal": None, "not_equal": None, "greater": None, "greater_equal": None, "less": None,
        "less_equal": None, "bitwise_and": None, "bitwise_or": None, "sin": math.sin, "cos": math.cos, "invert": None, "left_shift": None,
        "right_shift": None, "mean": None, "cumsum": None, "clip": None, "round": round, "negative": lambda a: -a,
    }.items()
}  # fmt: skip


class FInfo:
    def __init__(self, kind):
        kind = str(as_dtype(kind) or FLOAT32)
        self.max = {"float16": 65504.0, "bfloat16": 3.3895313892515355e38}.get(kind, 3.4028234663852886e38)
        self.min, self.eps = -self.max, {"float16": 2.0**-10, "bfloat16": 2.0**-7}.get(kind, 2.0**-23)


def numpy_stub():
    random = {"rand": _make, "randn": _make, "random": _make, "random_sample": _make, "normal": _uniform, "uniform": _uniform, "randint": _randint, "seed": lambda *_: None}
    generator = types.SimpleNamespace(**{**random, "standard_normal": _make, "integers": _randint})
    random = Stub("numpy.random", default_rng=lambda *_: generator, **random)
    numbers = {"pi": math.pi, "inf": math.inf, "nan": math.nan, "newaxis": None, "e": math.e, "ndarray": HostArray, "generic": HostArray}
    kinds = {name: kind for name, kind in DTYPES.items() if "float8" not in name and "bfloat" not in name and "x4" not in name and name != "bool"}
    return Stub("numpy", random=random, dtype=lambda kind: as_dtype(kind), bool_=DTYPES["bool"], finfo=FInfo, **kinds, **numbers, **_NUMPY, **MAKERS)


def torch_stub():
    kinds = {**DTYPES, "half": DTYPES["float16"], "float": FLOAT32, "long": DTYPES["int64"], "int": DTYPES["int32"], "float8_e4m3fn": DTYPES["float8_e4m3"]}
    more = {"rand": _make, "randn": _make, "randint": _randint, "rand_like": _like, "randn_like": _like, "Tensor": HostArray, "manual_seed": lambda *_: None}
    more["nn"] = Stub("torch.nn", Parameter=lambda value, *_, **__: value)
    return Stub("torch", finfo=FInfo, **kinds, **{**MAKERS, **more})


def jax_stub():
    random = Stub("jax.random", PRNGKey=lambda *_: 0, key=lambda *_: 0, normal=_keyed, uniform=_keyed, split=lambda key, n=2: [0] * n)
    return Stub("jax", numpy=Stub("jax.numpy", **DTYPES, **MAKERS), random=random, ShapeDtypeStruct=HostArray)


def torch_xla_stub():
    """Its device is the host's: torch itself may be installed, whose tensors go there."""
    place = {"xla_device": lambda *_: "cpu", "device": lambda *_: "cpu"}
    return Stub("torch_xla", core=Stub("torch_xla.core", xla_model=Stub("torch_xla.core.xla_model", **place)), **place)


STUBS = {"numpy": numpy_stub, "torch": torch_stub, "torch_xla": torch_xla_stub, "jax": jax_stub, "ml_dtypes": lambda: Stub("ml_dtypes", **DTYPES)}
