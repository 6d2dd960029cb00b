"""The values of an instruction list, with the rounding of each type on the device. This alone needs NumPy, or what the page has instead."""

import math
import random

from .errors import KernelError, times

_FORMATS = {
    # Bits of the mantissa, the smallest normal exponent, the largest finite value.
    "bfloat16": (7, -126, 3.3895313892515355e38),
    "float16": (10, -14, 65504.0),
    "tfloat32": (10, -126, 3.4028234663852886e38),
    "float8_e4m3": (3, -6, 240.0),
    "float8_e4m3fn": (3, -6, 448.0),
    "float8_e5m2": (2, -14, 57344.0),
    "float8_e3m4": (4, -2, 15.5),
}


# The elements of inputs and outputs that a browser has room for, and what a page hears of the instructions that are computed.
_MOST_IN_PAGE = 1 << 25
tell = None


def _numpy():
    try:
        import numpy
    except ImportError:
        try:
            from . import arrays as numpy
        except ImportError:
            raise KernelError("import", "Values need NumPy, which is not installed.", "install numpy, or leave --check out") from None
    return numpy


def rounded(np, kind, values):
    """Values of fp32 as a type holds them: to the nearest, ties to even."""
    if kind in _FORMATS:
        bits, low, top = _FORMATS[kind]
        # Beyond the largest value comes infinity, or, without one, the largest value.
        beyond = top if kind == "float8_e4m3fn" else np.inf
        values = np.asarray(values, dtype=np.float32)
        if hasattr(np, "rounded"):
            return np.rounded(values, bits, low, top, beyond)
        with np.errstate(all="ignore"):
            _, exponent = np.frexp(values)
            step = np.maximum(exponent - 1, low) - bits
            near = np.ldexp(np.rint(np.ldexp(values.astype(np.float64), -step)), step)
        return np.where(np.abs(near) > top, np.copysign(beyond, values), near).astype(np.float32)
    if "int" in kind or kind == "bool":
        return np.rint(values).astype(np.float64).astype({"bool": "bool"}.get(kind, kind)).astype(np.float32)
    return np.asarray(values, dtype=np.float32)


def _operators(np):
    return {
        "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide, "power": lambda a, b: np.power(np.asarray(a, dtype=np.float64), b).astype(np.float32), "maximum": np.maximum,
        "max": np.maximum, "minimum": np.minimum, "min": np.minimum, "equal": np.equal, "not_equal": np.not_equal, "greater": np.greater,
        "greater_equal": np.greater_equal, "less": np.less, "less_equal": np.less_equal, "logical_and": np.logical_and,
        "logical_or": np.logical_or, "abs_max": lambda a, b: np.maximum(np.abs(a), np.abs(b)), "bypass": lambda a, b: a,
        "abs": lambda a, b: np.abs(a), "rsqrt": lambda a, b: 1 / np.sqrt(a), "floor": lambda a, b: np.floor(a), "ceil": lambda a, b: np.ceil(a),
        "trunc": lambda a, b: np.trunc(a), "logical_not": lambda a, b: a == 0,
    }  # fmt: skip


def _functions(np):
    """Functions of numbers with fp64: its errors are far below the last bit of fp32, whose functions differ from library to library."""
    erf = np.vectorize(math.erf, otypes=[np.float64])

    def sigmoid(x):
        return 1 / (1 + np.exp(-x))

    return {
        "copy": lambda x: x, "identity": lambda x: x, "exp": np.exp, "log": np.log, "sqrt": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x), "square": np.square,
        "tanh": np.tanh, "sin": np.sin, "cos": np.cos, "tan": np.tan, "arctan": np.arctan, "abs": np.abs, "sign": np.sign, "sigmoid": sigmoid,
        "silu": lambda x: x * sigmoid(x), "relu": lambda x: np.maximum(x, 0), "reciprocal": lambda x: 1 / x, "erf": erf,
        "gelu": lambda x: 0.5 * x * (1 + erf(x / math.sqrt(2))), "gelu_apprx_sigmoid": lambda x: x * sigmoid(1.702 * x),
        "gelu_apprx_tanh": lambda x: 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
        "softplus": lambda x: np.log1p(np.exp(x)), "mish": lambda x: x * np.tanh(np.log1p(np.exp(x))),
    }  # fmt: skip


class _Boxes:
    """Parts of flat arrays of NumPy, by their shape and steps."""

    def __init__(self, np):
        self.strided = np.lib.stride_tricks.as_strided

    def read(self, a, shape, steps, offset):
        return self.strided(a[offset:], shape, [a.itemsize * step for step in steps]).copy()

    def write(self, a, shape, steps, offset, values):
        self.strided(a[offset:], shape, [a.itemsize * step for step in steps])[...] = values


class Machine:
    """Runs a list on arrays. Tiles and tensors that nothing wrote hold NaN."""

    def __init__(self, document, arrays):
        self.np = np = _numpy()
        self.document, self.tensors = document, document["tensors"]
        self.kinds = [document["dtypes"][at][0] for at in self.tensors["dtype"]]
        self.operators, self.functions = _operators(np), _functions(np)
        self.memory, self.boxes = {}, np if hasattr(np, "write") else _Boxes(np)
        # Tiles by the instruction after which nothing touches them.
        self.ends = {}
        for number, last in enumerate(self.tensors["last"]):
            if self.tensors["partitions"][number] and self.tensors["of"][number] < 0:
                self.ends.setdefault(last, []).append(number)
        for number, array in arrays.items():
            self.memory[number] = rounded(np, self.kinds[number], np.asarray(array, dtype=np.float32).reshape(-1))

    def _store(self, number):
        if self.tensors["of"][number] >= 0:
            raise self._refuse("A view with another type")
        if number not in self.memory:
            count = self.tensors["elements"][number] * max(1, self.tensors["partitions"][number])
            self.memory[number] = self.np.full(count, self.np.nan, self.np.float32)
        return self.memory[number]

    def _box(self, number, start, pattern):
        """Where the elements of an operand lie in its flat array: shape, steps, the first one."""
        row, chip = self.document["patterns"][pattern], self.tensors["partitions"][number] > 0
        shape, steps = list(row[3 if chip else 1 :: 2]), list(row[2 if chip else 0 :: 2])
        elements = self.tensors["elements"][number]
        if chip:
            shape, steps, start = [row[1], *shape], [elements, *steps], start + row[0] * elements
        spans = [(count - 1) * step for count, step in zip(shape, steps)]
        if start + sum(min(0, span) for span in spans) < 0 or start + sum(max(0, span) for span in spans) >= elements * max(1, self.tensors["partitions"][number]):
            raise self._refuse("An access outside of its tensor")
        return shape, steps, start

    def shape(self, operand):
        """Partitions and elements of each, or elements in HBM."""
        shape = self._box(*operand)[0]
        return (shape[0], math.prod(shape[1:])) if self.tensors["partitions"][operand[0]] else (math.prod(shape),)

    def read_all(self, number):
        return self._store(number)

    def read(self, operand):
        return self.boxes.read(self._store(operand[0]), *self._box(*operand)).reshape(self.shape(operand))

    def write(self, operand, values, source=None):
        """Puts values into an operand; what another operand of the same type has needs no rounding."""
        box, kind = self._box(*operand), self.kinds[operand[0]]
        if source is None or self.kinds[source[0]] != kind:
            values = rounded(self.np, kind, values)
        self.boxes.write(self._store(operand[0]), *box, values if values.size == 1 else values.reshape(box[0]))

    def run(self):
        code, at, done = self.document["instructions"], 0, 0
        forms, sites = self.document["forms"], self.document["sites"]
        with self.np.errstate(all="ignore"):
            while at < len(code):
                if tell and done % 64 == 0:
                    tell(done, self.document["count"])
                form = forms[code[at]]
                self.site, self.op = sites[code[at + 1]], form["op"]
                operands, at = {}, at + 3
                for role in form["operands"]:
                    operands[role] = tuple(code[at : at + 3])
                    at += 3
                method = getattr(self, f"_{form['op']}", None)
                if method is None or "dynamic" in form:
                    raise self._refuse("An address that the device computes" if method else f"{form['op']}")
                method(form["args"], operands)
                for number in self.ends.get(done, ()):
                    self.memory.pop(number, None)
                done += 1

    def _refuse(self, what):
        error = KernelError("value", f"{what} is not computed.", "leave --check out")
        error.place = self.site
        return error

    def _apply(self, name, a, b, reverse=False):
        if name not in self.operators:
            raise self._refuse(f"The operator {name}")
        return self.operators[name](b, a) if reverse else self.operators[name](a, b)

    def _scalar(self, args, operands, role, default=None):
        return self.read(operands[role]) if role in operands else args.get(role, default)

    def _reduced(self, op, values):
        return self._fold({"add": "sum", "max": "max", "maximum": "max", "min": "min", "minimum": "min", "multiply": "prod"}.get(op), op, values)

    def _fold(self, name, op, values):
        if name is None:
            raise self._refuse(f"A reduction with {op}")
        return getattr(self.np, name)(self._wide(values), axis=-1, keepdims=True)

    def _wide(self, values):
        """Sums in fp64: fp32 has another last bit in each order of its terms."""
        return values.astype(self.np.float64)

    # One method for each instruction.

    def _dma_copy(self, args, operands):
        values = self.read(operands["src"]).reshape(-1)
        if "dst_op" in args:
            values = self._apply(args["dst_op"], self.read(operands["dst"]).reshape(-1), values)
        self.write(operands["dst"], values, None if "dst_op" in args else operands["src"])

    def _tensor_copy(self, args, operands):
        self.write(operands["dst"], self.read(operands["src"]), operands["src"])

    def _dma_transpose(self, args, operands):
        if args["axes"] not in ([1, 0], (1, 0)):
            raise self._refuse("A transpose of three dimensions")
        rows = self.shape(operands["dst"])[0]
        self.write(operands["dst"], self.read(operands["src"]).reshape(-1, rows).T, operands["src"])

    def _nc_transpose(self, args, operands):
        self.write(operands["dst"], self.read(operands["data"]).T, operands["data"])

    def _partition_broadcast(self, args, operands):
        self.write(operands["dst"], self.np.broadcast_to(self.read(operands["data"]), self.shape(operands["dst"])))

    def _nc_matmul(self, args, operands):
        if "perf_mode" in args:
            raise self._refuse("A product with a perf_mode")
        values = (self._wide(self.read(operands["stationary"]).T) @ self._wide(self.read(operands["moving"]))).astype(self.np.float32)
        if args["accumulate"]:
            values = values + self.read(operands["dst"])
        self.write(operands["dst"], values)

    def _memset(self, args, operands):
        self.write(operands["dst"], self.np.full((1,), args["value"], dtype=self.np.float32))

    def _reciprocal(self, args, operands):
        self.write(operands["dst"], 1 / self.read(operands["data"]))

    def _activation(self, args, operands):
        name = args["op"]
        if name not in self.functions:
            raise self._refuse(f"The function {name}")
        values = self.read(operands["data"]) * self._scalar(args, operands, "scale", 1.0)
        values = self.functions[name](self._wide(values + self._scalar(args, operands, "bias", 0.0))).astype(self.np.float32)
        if "reduce_res" in operands:
            if args.get("reduce_cmd") not in (None, "reset_reduce"):
                raise self._refuse("A sum over several instructions")
            self.write(operands["reduce_res"], self._reduced(args.get("reduce_op", "add"), values))
        self.write(operands["dst"], values)

    _activation_reduce = _activation

    def _tensor_tensor(self, args, operands):
        self.write(operands["dst"], self._apply(args["op"], self.read(operands["data1"]), self.read(operands["data2"])))

    def _tensor_scalar(self, args, operands):
        values = self._apply(args["op0"], self.read(operands["data"]), self._scalar(args, operands, "operand0", 0), args.get("reverse0", False))
        if "op1" in args:
            values = self._apply(args["op1"], values, self._scalar(args, operands, "operand1", 0), args.get("reverse1", False))
        if "reduce_res" in operands:
            self.write(operands["reduce_res"], self._reduced(args["reduce_op"], values))
        self.write(operands["dst"], values)

    _scalar_tensor_tensor = _tensor_scalar_reduce = _tensor_scalar

    def _tensor_reduce(self, args, operands):
        data = self.read(operands["data"])
        kept = self.shape(operands["dst"])[1]
        values = self._reduced(args["op"], data.reshape(data.shape[0], kept, -1))[..., 0]
        self.write(operands["dst"], -values if args.get("negate") else values)

    def _tensor_tensor_scan(self, args, operands):
        a, b = self.read(operands["data0"]), self.read(operands["data1"])
        state = self.np.broadcast_to(self.np.asarray(self._scalar(args, operands, "initial", 0), dtype=self.np.float32), (a.shape[0], 1))[:, 0]
        out = self.np.empty_like(a)
        for at in range(a.shape[1]):
            state = self._apply(args["op1"], self._apply(args["op0"], a[:, at], state, args.get("reverse0", False)), b[:, at], args.get("reverse1", False))
            out[:, at] = state
        self.write(operands["dst"], out)

    def _select(self, args, operands):
        x, y = (self._scalar(args, operands, role) for role in ("x", "y"))
        self.write(operands["dst"], self.np.where(self.read(operands["predicate"]) != 0, x, y))

    def _affine(self, args, rows):
        values = self.np.zeros(1)
        for step, count in args["pattern"]:
            values = (values[:, None] + step * self.np.arange(count)).reshape(-1)
        return args.get("offset", 0) + args.get("channel_multiplier", 0) * self.np.arange(rows)[:, None] + values

    def _iota(self, args, operands):
        self.write(operands["dst"], self._affine(args, self.shape(operands["dst"])[0]))

    def _affine_select(self, args, operands):
        data = self.read(operands["on_true_tile"])
        chosen = self._apply(args.get("cmp_op", "equal"), self._affine(args, data.shape[0]), 0)
        self.write(operands["dst"], self.np.where(chosen, data, args["on_false_value"]))

    def _bn_stats(self, args, operands):
        data = self._wide(self.read(operands["data"]))
        parts = []
        for half in (data[:, 0::2], data[:, 1::2]):
            count = self.np.full((data.shape[0], 1), half.shape[1])
            parts += [count, half.mean(1, keepdims=True), half.var(1, keepdims=True) * half.shape[1]]
        self.write(operands["dst"], self.np.concatenate(parts, 1))

    def _bn_aggr(self, args, operands):
        data = self._wide(self.read(operands["data"]))
        data = data.reshape(data.shape[0], -1, 3)
        count, mean, spread = data[..., 0], data[..., 1], data[..., 2]
        total = count.sum(1, keepdims=True)
        middle = (count * mean).sum(1, keepdims=True) / total
        variance = (spread + count * (mean - middle) ** 2).sum(1, keepdims=True) / total
        self.write(operands["dst"], self.np.concatenate([middle, variance], 1))


def machine(document, arguments, constants):
    """A list ready to run: arrays of its arguments by name, and of its constants by their tensor."""
    np = _numpy()
    arrays = {value: arguments[name] for name, value in document["kernel"]["arguments"] if isinstance(value, int)}
    for number, constant in constants.items():
        arrays[number] = np.eye(constant.shape[0]) if getattr(constant, "__name__", "") == "Identity" else constant
    return Machine(document, arrays)


def check(document, expression, constants, seed=0):
    """What a kernel computes of random inputs beside what a NumPy expression of its arguments says.

    `{"expression", "largest_error", "relative_error", "worst", "got", "wanted"}`; the relative error is the largest one over the largest value wanted.
    """
    np = _numpy()
    numbers = random.Random(seed)
    tensors, shapes = document["tensors"], document["shapes"]
    size = sum(count for count, partitions in zip(tensors["elements"], tensors["partitions"]) if not partitions)
    if hasattr(np, "write") and size > _MOST_IN_PAGE:
        raise KernelError("argument", f"The tensors have {size:,} elements, and the page computes with {_MOST_IN_PAGE:,} at most.", "use smaller shapes, or the command line")
    # A file of NumPy: arrays with the name of an argument are given, the others are wanted.
    kept = dict(np.load(expression)) if expression.endswith(".npz") else {}
    names = {}
    for name, value in document["kernel"]["arguments"]:
        if isinstance(value, int):
            kind, given = document["dtypes"][tensors["dtype"][value]][0], kept.pop(name, None)
            if given is not None and list(given.shape) != list(shapes[str(value)]):
                raise KernelError("argument", f"{name} of {expression} is {times(given.shape)}, and the kernel is called with {times(shapes[str(value)])}.", "give its shape with --shapes")
            given = _random(np, numbers, shapes[str(value)]) if given is None else given
            names[name] = rounded(np, kind, given.astype(np.float32)).astype(np.int64 if "int" in kind else np.float64)
    device = machine(document, names, constants)
    device.run()
    wanted = list(kept.values()) if expression.endswith(".npz") else eval(expression, {"np": np, **names})
    wanted = wanted if isinstance(wanted, (list, tuple)) else [wanted]
    if len(wanted) != len(document["results"]):
        raise KernelError("argument", f"The kernel returns {len(document['results'])} tensors, and --check gives {len(wanted)}.", "give one expression for each, as a tuple")
    found = None
    for number, want in zip(document["results"], wanted):
        shape = shapes[str(number)]
        got, want = device.read_all(number), np.asarray(want, dtype=np.float64)
        if list(want.shape) != list(shape):
            raise KernelError("argument", f"The kernel returns {shape}, and --check gives {list(want.shape)}.", "correct the expression")
        want = want.reshape(-1)
        error = np.abs(got - want)
        error = np.where(np.isnan(error), np.inf, error)
        worst = int(error.argmax())
        row = {
            "expression": expression,
            "largest_error": _plain(error[worst]),
            "relative_error": _plain(error[worst] / max(float(np.abs(want).max()), 1e-30)),
            "worst": [worst // math.prod(shape[at + 1 :]) % shape[at] for at in range(len(shape))],
            "got": _plain(got[worst]),
            "wanted": _plain(want[worst]),
        }
        if found is None or float(row["relative_error"]) > float(found["relative_error"]):
            found = row
    return found


def _random(np, numbers, shape):
    """About normal: sums of four whole numbers, which are the same everywhere."""
    pieces = np.frombuffer(numbers.randbytes(8 * math.prod(shape)), dtype=np.uint16).astype(np.float64).reshape(-1, 4)
    return ((pieces.sum(axis=1) - 2 * 65535) / (65536 / math.sqrt(3))).reshape(shape)


def _plain(number):
    """JSON has no infinity and no NaN."""
    number = float(number)
    return number if math.isfinite(number) else str(number)
