"""Runs a kernel's file under the stubs and returns the instruction list."""

import ast
import builtins
import contextlib
import functools
import gc
import inspect
import io
import itertools
import os
import re
import sys
import tokenize
import types

from . import chips, instructions, language
from .dtypes import FLOAT32, DType
from .dtypes import dtype as as_dtype
from .errors import End, KernelError, nearest
from .host import MAKERS, Absent, HostArray
from .packages import Installed, build
from .tensors import View, product
from .trace import OWN, Trace


class Kernel:
    """A function with @nki.jit, and how it was launched."""

    def __init__(self, function, dialect, grid=(), run=None, target=None):
        functools.update_wrapper(self, function)
        self.function, self.dialect, self.grid, self.run, self.target = function, dialect, grid, run, target
        self.func = function

    def __getitem__(self, grid):
        return Kernel(self.function, self.dialect, grid if isinstance(grid, tuple) else (grid,), self.run, self.target)

    def __call__(self, *args, **named):
        trace = Trace.now
        if trace is not None and trace.kernel is not None:
            # A kernel that calls another one.
            return self.function(*args, **named)
        return self.run(self, args, named)

    def __get__(self, instance, _=None):
        return self if instance is None else functools.partial(self, instance)


class _Numpy(types.ModuleType):
    """NumPy as installed, which takes the chip's types too: an array of a type that NumPy has not is known by its shape."""

    def __init__(self, numpy):
        super().__init__("numpy")
        self.__dict__["_numpy"] = numpy

        class Array(numpy.ndarray):
            def astype(self, dtype, *rest, **named):
                return HostArray(self.shape, dtype) if _is_foreign(numpy, dtype) else super().astype(dtype, *rest, **named)

        self.__dict__["_array"] = Array

    def __getattr__(self, name):
        value = getattr(self._numpy, name)
        if name == "random":
            return _Making(value, self._made)
        return functools.partial(self._made, value, MAKERS[name]) if name in MAKERS else value

    def _made(self, make, instead, *args, **named):
        if instead and any(_is_foreign(self._numpy, one) for one in (*args, named.get("dtype"))):
            return instead(*args, **named)
        value = make(*args, **named)
        if isinstance(value, self._numpy.ndarray):
            return value.view(self._array)
        return _Making(value, self._made) if isinstance(value, (self._numpy.random.Generator, self._numpy.random.RandomState)) else value

    def dtype(self, kind, *rest, **named):
        return kind if isinstance(kind, DType) else self._numpy.dtype(kind, *rest, **named)


class _Making:
    """What makes random arrays: numpy.random and its generators."""

    def __init__(self, of, made):
        self._of, self._made = of, made

    def __getattr__(self, name):
        value = getattr(self._of, name)
        return functools.partial(self._made, value, None) if callable(value) else value


def _is_foreign(numpy, kind):
    """Whether a type of the chip is none of NumPy."""
    if not isinstance(kind, DType):
        return False
    try:
        numpy.dtype(str(kind))
    except TypeError:
        return True
    return False


def _text(value):
    """An argument that is no tensor: types of NumPy read as those of its stand-in."""
    kind = None if value is None or isinstance(value, (int, float, tuple, list, dict)) else as_dtype(value)
    return str(kind or value)


def _import(name, *rest):
    module = builtins.__import__(name, *rest)
    return _Numpy(module) if name == "numpy" and hasattr(module, "__version__") and not (len(rest) > 2 and rest[2]) else module


def _decoded(source):
    """The text of a file, in the encoding that it names, else UTF-8."""
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(source).readline)
        return source.decode(encoding)
    except (SyntaxError, UnicodeDecodeError) as error:
        at = getattr(error, "start", 0)
        line = source[:at].count(b"\n") + 1
        raise KernelError("syntax", f"The file is no text: byte {at} (line {line}) is not UTF-8.", "save it as UTF-8") from None


def _unwrap(function):
    return _unwrap(function.function) if isinstance(function, Kernel) else function


def _in_reach(traceback):
    """The names that the line of an exception can use."""
    while traceback.tb_next is not None:
        traceback = traceback.tb_next
    frame = traceback.tb_frame
    known = [name for name, value in vars(builtins).items() if isinstance(value, (type, types.BuiltinFunctionType))]
    return [name for name in (*known, *frame.f_globals, *frame.f_locals) if not name.startswith("_")]


def _called(traceback):
    """The function of this package that the author's last line called, if an exception comes from inside it."""
    inside = None
    while traceback is not None:
        frame = traceback.tb_frame
        if not frame.f_code.co_filename.startswith((OWN, "<string>")) or frame.f_globals.get("__name__") == __name__:
            inside = None
        elif inside is None:
            inside = frame
        traceback = traceback.tb_next
    if inside is None:
        return None
    known = inside.f_locals
    function = known.get("self") if inside.f_code.co_name == "__call__" else known.get("function") if inside.f_code.co_name == "call" else None
    return getattr(function, "__name__", None) or inside.f_code.co_name


def record(path, source=None, function=None, shapes=None, dtype=None, chip=None, lnc=1, settings=None, grid=None, budget=None, turns=1, constants=None):
    """The list of one kernel as a dictionary.

    `shapes`: pairs (name or None, sizes, type or None) for the arguments in order, or None for the file's own calls. `settings`: values of
    parameters and constants by name. Without a `chip`, the kernel's own `platform_target` counts, else trn2. `constants` is a dictionary that gets the arrays of nl.shared_constant by their tensor.
    """
    path = os.path.abspath(path)
    folder = os.path.join(os.path.dirname(path), "")
    known = chips.chip(chip or "trn2")
    if known is None:
        raise ValueError(f"there is no chip {chip!r}; there are {', '.join(chips.CHIPS)}")
    trace = Trace(known.name, budget, folder, lnc, turns)
    if source is None:
        with open(path, "rb") as file:
            source = file.read()
    # The author's file is the first of the list.
    trace.file(path)
    _Run(trace, path, source, function, shapes, as_dtype(dtype) or FLOAT32, dict(settings or {}), grid, chip is None).go()
    if constants is not None:
        constants.update(trace.constants)
    return trace.document()


class _Run:
    def __init__(self, trace, path, source, function, shapes, dtype, settings, grid, follows):
        self.follows = follows
        self.trace, self.path, self.source, self.function = trace, path, source, function
        self.shapes, self.dtype, self.settings, self.grid = shapes, dtype, settings, grid
        self.kernels = []
        # Settings that something has taken, and what could take one.
        self.used, self.known = set(), set()
        # Whether the kernel is recorded: what the file does afterwards is no part of it. A runner of tests catches what ends the file.
        self.is_over = False

    def go(self):
        trace, before = self.trace, Trace.now
        out, argv, read, collects = sys.stdout, sys.argv, sys.stdin, gc.isenabled()
        try:
            # A recording makes many objects and drops few: looking for dropped ones takes a third of the time.
            gc.disable()
            # What the file prints is no part of the list, and lines of settings are not for it.
            sys.stdout, sys.argv, sys.stdin = sys.stderr, [self.path], io.StringIO()
            Trace.now = trace
            with Installed(build(self._names), self.trace.root):
                self._go()
        except End:
            pass
        except KernelError as error:
            self._fail(error, error.__traceback__)
        except (SystemExit, KeyboardInterrupt) as error:
            if isinstance(error, KeyboardInterrupt) and not getattr(trace, "late", False):
                raise
            if not self.is_over:
                self._fail(self._late() if isinstance(error, KeyboardInterrupt) else self._left(error), error.__traceback__)
        except BaseException as error:  # noqa: BLE001
            self._fail(self._python(error), error.__traceback__, error)
        finally:
            sys.stdout, sys.argv, sys.stdin = out, argv, read
            Trace.now = before
            if collects:
                gc.enable()
        for name in self.settings:
            if name not in self.used:
                near = nearest(name, sorted(self.known))
                trace.warn("setting", f"Nothing is called {name}: --set {name} changed nothing{f'; there is {near}' if near else ''}.", self._head())

    def _left(self, error):
        if self.trace.kernel:
            return KernelError("python", f"The kernel calls sys.exit({error.code}).", "return instead")
        return KernelError("argument", f"The file calls sys.exit({error.code}) before it calls a kernel.", "give the kernel's arguments with --shapes")

    def _late(self):
        return KernelError("budget", f"The recording takes more than {self.trace.budget.seconds:g} s.", "use smaller shapes, or end its loops")

    # The decorators of the packages.

    def _names(self, dialect):
        def wrap(function, target=None):
            kernel = Kernel(_unwrap(function), dialect, run=self._record_call, target=target)
            self.kernels.append(kernel)
            return kernel

        def jit(func=None, *_, platform_target=None, **__):
            return wrap(func, platform_target) if callable(func) else lambda function: wrap(function, platform_target)

        def call(kernel, *args, grid=(), out_shape=(), platform_target=None, **named):
            # Results are arguments of the kernel.
            results = out_shape if isinstance(out_shape, (list, tuple)) else [out_shape]
            kernel = kernel if isinstance(kernel, Kernel) else wrap(kernel)
            kernel.target = platform_target or kernel.target
            return (kernel[grid] if grid else kernel)(*args, *results, **named)

        def simulate(kernel=None, *args, **named):
            # nki.simulate(kernel)(x) and nki.simulate_kernel(kernel, x).
            if not args and not named:
                return kernel if isinstance(kernel, Kernel) else wrap(kernel)
            return call(kernel, *args, **named)

        names = {"jit": jit, "simulate": simulate, "simulate_kernel": simulate, "baremetal": jit, "benchmark": jit, "profile": jit, "__version__": "0.7"}
        if dialect == 1:
            names.update(trace=jit, spmd_dim=language.spmd_dim, nki_call=call)
        return names

    # The file.

    def _go(self):
        if isinstance(self.source, bytes):
            self.source = _decoded(self.source)
        tree = ast.parse(self.source, self.path)
        self._set_constants(tree)
        space = types.ModuleType("__main__" if self.shapes is None else os.path.splitext(os.path.basename(self.path))[0])
        space.__file__ = self.path
        # Turns of a plain range are turns of the list too.
        space.__dict__["__builtins__"] = {**vars(builtins), "range": language.Loop, "__import__": _import}
        known = sys.modules.get(space.__name__)
        sys.modules[space.__name__] = space
        try:
            exec(compile(tree, self.path, "exec"), space.__dict__)
            if self.shapes is not None:
                self._call(space)
            if not self.kernels:
                raise KernelError("argument", "The file has no function with @nki.jit, and calls none.", "write @nki.jit above the kernel")
            raise KernelError("argument", "The file calls no kernel.", "give the arguments with --shapes, or call the kernel under if __name__ == '__main__'")
        finally:
            if known is not None:
                sys.modules[space.__name__] = known
            else:
                sys.modules.pop(space.__name__, None)

    def _set_constants(self, tree):
        """Settings replace the values of constants of the module, and of constants that functions assign."""
        module = {target.id for node in tree.body if isinstance(node, ast.Assign) for target in node.targets if isinstance(target, ast.Name)}
        settings, used = self.settings, self.used
        self.known |= module

        class Constants(ast.NodeTransformer):
            hidden = frozenset()

            def visit_FunctionDef(self, node):
                outside, arguments = self.hidden, node.args
                self.hidden = outside | {one.arg for one in (*arguments.args, *arguments.kwonlyargs)} | module
                self.generic_visit(node)
                self.hidden = outside
                return node

            def visit_Assign(self, node):
                for target in node.targets:
                    name = target.id if isinstance(target, ast.Name) else None
                    # Where a function computes a value, the setting is none of it.
                    if name in settings and name not in self.hidden and (name in module or isinstance(node.value, ast.Constant)):
                        used.add(name)
                        node.value = ast.copy_location(ast.parse(repr(settings[name]), mode="eval").body, node.value)
                        ast.fix_missing_locations(node)
                return node

        if settings:
            Constants().visit(tree)

    def _chosen(self, space):
        """The function to record: the one that was named, the only kernel, or the one called kernel."""
        if self.function:
            found = space.__dict__.get(self.function)
            if found is None:
                names = [name for name, value in space.__dict__.items() if isinstance(value, (Kernel, types.FunctionType))]
                near = nearest(self.function, names)
                raise KernelError(
                    "argument", f"{os.path.basename(self.path)} has no function {self.function!r}.", f"use ::{near}" if near else f"it has {', '.join(names) or 'none'}"
                )
            return found
        own = {name: value for name, value in space.__dict__.items() if isinstance(value, Kernel) and value.__module__ == space.__name__}
        if "kernel" in space.__dict__ and ("kernel" in own or not own):
            return space.__dict__["kernel"]
        if len(own) == 1:
            return next(iter(own.values()))
        if not own:
            raise KernelError("argument", "The file has no function with @nki.jit.", "name one as FILE.py::FUNCTION")
        raise KernelError("argument", f"The file has {len(own)} kernels: {', '.join(own)}.", f"name one, as in {os.path.basename(self.path)}::{next(iter(own))}")

    def _call(self, space):
        kernel = self._chosen(space)
        if not isinstance(kernel, Kernel):
            old = "neuronxcc" in self.source
            kernel = Kernel(kernel, 1 if old else 2, run=self._record_call)
        if self.grid:
            kernel = kernel[tuple(self.grid)]
        parameters = inspect.signature(kernel.function).parameters
        # Shapes without a name go to the parameters in order; a setting of a parameter takes it.
        free = [name for name in parameters if name not in self.settings and name not in {name for name, _, _ in self.shapes}]
        given = {}
        for name, sizes, kind in self.shapes:
            if name is None:
                if not free:
                    raise KernelError("argument", f"{kernel.__name__} has {len(parameters)} parameters, and there are more shapes.", f"it takes ({', '.join(parameters)})")
                name = free.pop(0)
            elif name not in parameters and not any(one.kind is one.VAR_KEYWORD for one in parameters.values()):
                near = nearest(name, list(parameters))
                raise KernelError("argument", f"{kernel.__name__} has no parameter {name!r}.", f"use {near}" if near else f"it takes ({', '.join(parameters)})")
            given[name] = HostArray(sizes, kind or self.dtype)
        for name, value in self.settings.items():
            if name in parameters:
                self.used.add(name)
                given[name] = value
        lacking = [name for name, one in parameters.items() if name not in given and one.default is one.empty and one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)]
        if lacking:
            raise KernelError("argument", f"{kernel.__name__} needs {', '.join(lacking)}.", f'add --shapes "{lacking[0]}=128x512:f32", or --set {lacking[0]}=VALUE for a number')
        kernel(**given)

    # One kernel.

    def _record_call(self, kernel, args, named):
        if self.is_over:
            raise End
        if self.function and self.shapes is None and kernel.__name__ != self.function:
            # The file calls another kernel first; its result is not known.
            return Absent(f"the result of {kernel.__name__}", "nki")
        trace = self.trace
        code = kernel.function.__code__
        trace.dialect = kernel.dialect
        target = chips.chip(str(kernel.target))
        if target is not None and self.follows:
            trace.chip, trace.chip_name = target, target.name
        trace.kernel = {"file": trace.file(code.co_filename), "line": code.co_firstlineno, "function": kernel.__name__, "arguments": []}
        if target not in (None, trace.chip):
            trace.warn("chip", f"The file names {target.name} as platform_target; limits and times are those of {trace.chip.name}, which was chosen.", (trace.kernel["file"], trace.kernel["line"]))
        if code.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
            raise KernelError("value", f"{kernel.__name__} is a generator or a coroutine, whose body does not run when it is called.", "make it a plain function")
        self.site = trace.sites.place(("kernel",), [trace.kernel["file"], trace.kernel["line"], kernel.__name__])
        try:
            bound = inspect.signature(kernel.function).bind(*args, **named)
        except TypeError as error:
            raise KernelError("signature", f"{kernel.__name__} is called with other arguments: {error}.", f"its parameters are {inspect.signature(kernel.function)}") from None
        bound.apply_defaults()
        for name, value in bound.arguments.items():
            bound.arguments[name] = self._argument(name, value)
        # A kernel's settings by name come with its call.
        kinds = inspect.signature(kernel.function).parameters
        self.known |= set(kinds)
        for name, value in self.settings.items():
            if name in kinds:
                self.used.add(name)
                bound.arguments[name] = value
        rows = trace.kernel["arguments"]
        for name, value in bound.arguments.items():
            rows.append([name, value.storage.id if isinstance(value, View) else _text(value)])
        grid = tuple(kernel.grid) or ((trace.lnc,) if trace.lnc > 1 else (1,))
        trace.programs = tuple(int(one) for one in grid)
        first = kernel.dialect == 1
        programs = list(itertools.product(*(range(one) for one in trace.programs))) if first else [(0,) * len(trace.programs)]
        results = None
        turns = trace.turns("grid", programs, len(programs), self.site) if len(programs) > 1 else programs
        for program in turns:
            trace.program, trace.shared_next = program, 0
            results = kernel.function(*bound.args, **bound.kwargs)
        self._results(results)
        self.is_over = True
        raise End

    def _argument(self, name, value):
        if isinstance(value, (list, tuple)):
            return type(value)(self._argument(f"{name}[{at}]", one) for at, one in enumerate(value))
        if isinstance(value, dict):
            return {key: self._argument(f"{name}[{key!r}]", one) for key, one in value.items()}
        if isinstance(value, (HostArray,)) or (hasattr(value, "shape") and hasattr(value, "dtype") and not isinstance(value, (View, Absent, type))):
            shape = tuple(int(one) for one in value.shape)
            if not shape:
                return value
            kind = as_dtype(value.dtype)
            if kind is None:
                raise KernelError("dtype", f"The argument {name} has the type {value.dtype}, which the chip has not.", "use float32, bfloat16, float16 or int32")
            return language.hbm_tensor(shape, kind, "i", name, self.site)
        return value

    def _results(self, results):
        trace = self.trace
        results = results if isinstance(results, (list, tuple)) else [results]
        for one in results:
            if isinstance(one, View):
                if one.storage.memory in "spa":
                    raise KernelError("memory", "The kernel returns a tile that is on the chip.", "store it to a tensor with buffer=nl.shared_hbm and return that")
                if one.storage.memory == "h":
                    one.storage.memory = "o"
                trace.results.append(one.storage.id)
                if one.storage.memory != "i" and one.storage.written is None:
                    trace.error(KernelError("uninitialised", "The kernel returns a tensor that nothing has written.", "store the result to it"), self._head())
        if trace.count and not trace.errors:
            self._check_outputs()
        if not trace.count:
            trace.error(KernelError("value", "The kernel has no instruction.", "load, compute and store something"), self._head())

    def _writes(self):
        """Where each result and each argument is written: pairs (start, pattern), or None where the device alone knows."""
        trace, at, found = self.trace, 0, {}
        goals = {number for number, storage in enumerate(trace.storages) if number in trace.results or storage.memory == "i"}
        code, forms = trace.code, [(form["writes"], 3 * len(form["operands"]), form.get("dynamic", ())) for form in trace.forms.rows]
        while at < len(code):
            writes, size, dynamic = forms[code[at]]
            at += 3
            for place in range(writes):
                tensor = code[at + 3 * place]
                if tensor in goals:
                    found.setdefault(tensor, set()).add(None if place in dynamic else (code[at + 3 * place + 1], code[at + 3 * place + 2]))
            at += size
        return found

    def _check_outputs(self):
        """Remarks if nothing leaves the kernel, or less than a result holds: its shape may not divide by the tiles."""
        trace, writes = self.trace, self._writes()
        if not writes:
            own = next((storage for storage in trace.storages if storage.memory in "ho" and storage.written is not None), None)
            what = f"does not return {own.name or 'the tensor'} that it writes" if own else "stores nothing to a tensor that it returns"
            trace.warn("output", f"{trace.kernel['function']} has no output: it {what}.", self._head())
        # Of several programs, or turns that the device alone counts, a part is recorded.
        is_whole = (trace.dialect == 1 or product(trace.programs) == 1) and not any(kind == "loop" for kind, *_ in trace.warnings)
        for tensor, places in writes.items() if is_whole else ():
            storage = trace.storages[tensor]
            if storage.memory == "i" or None in places or any(one.of is storage for one in trace.storages):
                continue
            most = sum(product(trace.patterns.rows[pattern][1::2]) for _, pattern in places)
            if most < storage.elements:
                name = storage.name or "A result"
                trace.warn("output", f"{name} has {storage.elements:,} elements, of which the kernel writes {most:,} at most: its shape may not divide by the tiles.", self._head())

    # Errors.

    def _head(self):
        """The place of what concerns a whole kernel."""
        kernel = self.trace.kernel
        return (kernel["file"], kernel["line"], "") if kernel else (0, 0, "")

    def _place(self, traceback):
        """The author's innermost line."""
        place = None
        while traceback is not None:
            code = traceback.tb_frame.f_code
            name = code.co_filename
            if not name.startswith(OWN) and not name.startswith("<") and (name == self.path or os.path.abspath(name).startswith(self.trace.root) or place is None):
                place = (self.trace.file(name), traceback.tb_lineno, code.co_name)
            traceback = traceback.tb_next
        return place

    def _fail(self, error, traceback, cause=None):
        place = self._place(traceback)
        if isinstance(cause, SyntaxError) and cause.lineno:
            place = (self.trace.file(cause.filename or self.path), cause.lineno, "")
        with contextlib.suppress(KernelError):
            self.trace.error(error, place or self._head())

    def _python(self, error):
        """An exception of Python as an error of the kernel."""
        kind = type(error).__name__
        try:
            text = str(error)
        except Exception:  # noqa: BLE001
            text = ""
        if isinstance(error, SyntaxError):
            return KernelError("syntax", f"The file does not parse: {error.msg}.", "correct the line")
        if isinstance(error, ImportError):
            module = self._module(error.name)
            wrong = re.search(r"cannot import name '(\w+)'", text)
            if module is not None and wrong:
                return module.missing(wrong.group(1))
            return KernelError("import", f"{text}.", "install the package, or remove the import")
        name = _called(error.__traceback__)
        if isinstance(error, TypeError):
            call = re.match(r"(?:_?\w+\.)*(\w+)\(\) (.*)", text)
            called = name or (call and call.group(1))
            if call and self._of_stub(called):
                return KernelError("signature", f"{called}() {call.group(2)}.", f"its parameters are {self._of_stub(called)}")
            if re.search(r"operand 'View' does not support ufuncs|of type View which|real number, not View", text):
                return KernelError("value", "A function of NumPy or Python computes with numbers and arrays; it gets a tensor of the kernel.", "use that of nki.language (nl.exp), or an instruction of nki.isa")
        if isinstance(error, RecursionError):
            return KernelError("budget", "The kernel calls itself without end.", "end the recursion")
        if isinstance(error, MemoryError):
            return KernelError("budget", "The recording needs more memory than it may have.", "use smaller shapes")
        if name is not None:
            if name.startswith("__"):
                return KernelError("value", f"A tensor or an index is used with what it cannot be used with: {text}.", "use tiles, numbers, slices, nl.ds or nl.arange")
            return KernelError("signature", f"{name}() cannot use what it is given: {text}.", f"its parameters are {self._of_stub(name) or 'those of its reference'}")
        unknown = isinstance(error, NameError) and re.match(r"name '(\w+)'", text)
        if unknown:
            near = nearest(unknown.group(1), _in_reach(error.__traceback__))
            return KernelError("name", f"There is no {unknown.group(1)!r} here.", f"use {near}, or define it first" if near else "define or import it first")
        if isinstance(error, AssertionError):
            return KernelError("python", f"An assertion of the kernel fails{': ' + text if text else ''}.", "give the kernel the shapes that it asks for")
        return KernelError("python", f"The kernel raises {kind}{': ' + text if text else ''}.", "correct the line")

    def _module(self, name):
        modules = build(self._names) if name else {}
        return modules.get(name)

    def _of_stub(self, name):
        if name in instructions.ROWS:
            return f"({instructions.signature(name)})"
        found = getattr(instructions, name, None) or getattr(language, name, None) or language.NAMES.get(name)
        found = found.call if isinstance(found, language.Function) else found
        if isinstance(found, types.FunctionType) and not name.startswith("_"):
            # What callers inside this package add is no parameter of the author's.
            own = ("api", "op", "scales", "dtype", "mask", "psum_accumulate_flags", "fresh") if found.__module__ == instructions.__name__ else ("_",)
            own += ("name",) if name in language.NAMES else ()
            return f"({', '.join(str(one) for one in inspect.signature(found).parameters.values() if one.name not in own)})"
        return "those of its reference" if name in language.NAMES else None
