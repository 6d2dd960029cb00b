"""The types of elements. A type is its name, as in the present dialect, and compares equal to NumPy's, if that is there."""

_BYTES = {
    "float32": 4,
    "tfloat32": 4,
    "bfloat16": 2,
    "float16": 2,
    "float8_e4m3": 1,
    "float8_e4m3fn": 1,
    "float8_e5m2": 1,
    "float8_e3m4": 1,
    "float8_e5m2_x4": 4,
    "float8_e4m3fn_x4": 4,
    "float4_e2m1fn_x4": 2,
    "int64": 8,
    "uint64": 8,
    "float64": 8,
    "int32": 4,
    "uint32": 4,
    "int16": 2,
    "uint16": 2,
    "int8": 1,
    "uint8": 1,
    "bool": 1,
}
_ALIASES = {
    "f32": "float32",
    "fp32": "float32",
    "float": "float32",
    "bf16": "bfloat16",
    "f16": "float16",
    "fp16": "float16",
    "half": "float16",
    "fp8": "float8_e4m3",
    "fp8_e4m3": "float8_e4m3",
    "fp8_e5m2": "float8_e5m2",
    "i32": "int32",
    "u32": "uint32",
    "i16": "int16",
    "u16": "uint16",
    "i8": "int8",
    "u8": "uint8",
    "int": "int32",
    "long": "int64",
    "bool_": "bool",
    "float8_e4m3b11fnuz": "float8_e4m3",
}


class DType(str):
    """`nl.float32` and the like: a string with a size, so `x.dtype == nl.float32` and `x.dtype == np.float32` both hold."""

    def __init__(self, name):
        self.itemsize = _BYTES[name]

    @property
    def name(self):
        return str(self)

    # np.dtype(x).type(v) and nl.float32(v): a number is all that a recorder needs of it.
    def __call__(self, value=0):
        return value

    @property
    def type(self):
        return self

    def __eq__(self, other):
        if isinstance(other, str):
            return str.__eq__(self, other) or str.__eq__(self, _ALIASES.get(other, other))
        return other is not None and str.__eq__(self, dtype_name(other) or "")

    def __ne__(self, other):
        return not self == other

    __hash__ = str.__hash__


DTYPES = {name: DType(name) for name in _BYTES}
FLOAT32 = DTYPES["float32"]


def dtype_name(value):
    """The name of what may be a type of NumPy, torch, jax or of this package, or None."""
    if isinstance(value, str):
        name = str(value)
    else:
        # np.float32 and jnp.float32 have __name__, np.dtype has name, torch.float32 has neither.
        name = getattr(value, "__name__", None) or getattr(value, "name", None) or str(value).rsplit(".", 1)[-1]
    if not isinstance(name, str):
        return None
    name = _ALIASES.get(name, name)
    return name if name in _BYTES else None


def dtype(value):
    """The type of a name or of another package's type, or None."""
    if type(value) is DType:
        return value
    name = dtype_name(value)
    return DTYPES[name] if name else None
