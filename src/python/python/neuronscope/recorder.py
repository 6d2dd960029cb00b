"""The lazy device: what is done with a tensor on it is recorded, and is one program of the device at the end of the step.

A tensor on the device is one of the host that is marked. Its numbers are torch's own, and of a custom operator its kernel's. A module that is
called without gradients is a part of the step by itself; its results are computed with the casts of the device, when somebody looks at them.
"""

from __future__ import annotations

import contextlib
import copy
import operator
import threading
import weakref
from collections import Counter

import torch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.nn.utils.rnn import PackedSequence
from torch.utils import _pytree
from torch.utils._mode_utils import no_dispatch
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes

from . import clock, device, fused, kernels
from ._core import Error
from .device import Computed, Program, Results
from .lazy import LazyTensor, host
from .missing import is_asked_by_script, is_of_script, place, placed, remark
from .model import ModelError, casts, script_error

PLACE = "xla:1"
# What a weight has that an optimiser updates.
OPTIMISED = "_neuronscope_optimised"
_aten = torch.ops.aten
# Operators whose result is a value of the host: the step ends, and the script waits for it.
_LOOKS = {_aten._local_scalar_dense.default, _aten.equal.default, _aten.is_nonzero.default, _aten.allclose.default}
# Operators of which the lengths of a batch say what they do, without torch's word for it.
_BY_LENGTHS = {_aten._pack_padded_sequence.default, _aten._ctc_loss.default, _aten._ctc_loss.Tensor, _aten._ctc_loss_backward.default, _aten._ctc_loss_backward.Tensor}
# Operators that compute nothing of a tensor.
_COPIES = {_aten.clone.default, _aten.copy_.default, _aten._to_copy.default, _aten.detach.default, _aten.alias.default}
# Operators that look at the shape of a tensor only.
_OF_SHAPES = {_aten.ones_like.default, _aten.zeros_like.default, _aten.full_like.default, _aten.new_ones.default, _aten.new_zeros.default, _aten.new_full.default}
# Operators whose indices may be a mask: it decides how many numbers there are, but where all become one number.
_BY_MASKS = {_aten.index.Tensor, _aten.index_put.default, _aten.index_put_.default}
# Operators that give a tensor itself other sizes or another memory.
_BECOMES = {"aten::resize_", "aten::resize_as_", "aten::set_"}
# Operators that give a view, and with another name the tensor itself, the shape of one.
_VIEWS = {f"aten::{name}" for name in ("squeeze", "unsqueeze", "t", "transpose", "swapaxes", "swapdims", "as_strided")}
_SIMPLE = (type(None), bool, int, float, str, torch.dtype, torch.device, torch.memory_format, torch.layout)

# Storages of tensors on the device: the reference keeps the number of a storage from being given to another one.
_on_device = {}
_sent = set()
# How often was written to each of them; torch itself does not count writes to ``tensor.data``.
_writes = Counter()


def _storage(tensor):
    try:
        return tensor.untyped_storage()
    except (NotImplementedError, RuntimeError):
        return None


def mark(tensor, sent=False):
    """Puts a tensor on the device; one that was ``sent`` there is an input of its step."""
    storage = _storage(tensor)
    if storage is not None:
        mark_storage(storage)
        if sent:
            _sent.add(storage._cdata)
    return tensor


def mark_storage(storage):
    _on_device[storage._cdata] = StorageWeakRef(storage)
    return storage


def is_on_device(tensor):
    if isinstance(tensor, LazyTensor):
        return tensor.place is not None
    storage = _storage(tensor) if type(tensor) in (torch.Tensor, torch.nn.Parameter, torch.nn.Buffer) else None
    return storage is not None and storage._cdata in _on_device


def is_named(name):
    """Whether a device is the simulated one."""
    return isinstance(name, torch.device) and name.type in ("xla", "neuron") or isinstance(name, str) and name.partition(":")[0] in ("xla", "neuron")


def _forget_the_dead():
    for of in [of for of, reference in _on_device.items() if reference.expired()]:
        del _on_device[of]
        _sent.discard(of)
        _writes.pop(of, None)


def _version(tensor):
    """Where the numbers of a tensor are, and how often they have changed."""
    return tensor.data_ptr(), 0 if tensor.is_inference() else tensor._version, _writes[tensor.untyped_storage()._cdata]


def _alias(tensor):
    """What two tensors have in common that are the same numbers: autograd makes new objects of what it keeps."""
    return (tensor.untyped_storage()._cdata, tensor.storage_offset(), tuple(tensor.shape), tensor.stride(), tensor.dtype)


def _at_present(tensor):
    """The numbers that a tensor has now, whatever ``tensor.data`` makes of it."""
    return tensor.at_present() if isinstance(tensor, LazyTensor) else tensor.detach()


def _word(value):
    """An argument in the key of a program. Real numbers other than 0 and 1 are data: a new learning rate is no new program."""
    if isinstance(value, torch.fx.Node):
        return value.name
    return "real" if isinstance(value, float) and value not in (0.0, 1.0) else value


class Step:
    """What was recorded since the last step."""

    def __init__(self):
        self._graph, self._root = torch.fx.Graph(), torch.nn.Module()
        # Nodes by alias; the storages are kept from giving their numbers to others.
        self._nodes, self._kept, self._storages = {}, [], set()
        self._inputs, self._state, self._created, self._words = [], [], [], []
        self._loss = self._last = self._alone = None
        # Lazy results, by node. Those of modules are computed even if nobody looks.
        self._pending, self._called = [], []
        self.writes = False

    @property
    def has_pending(self):
        return bool(self._pending)

    def node_of(self, value):
        """What the step reads: an input if it was sent to the device, else what is there already."""
        if not isinstance(value, torch.Tensor):
            return value
        if isinstance(value, LazyTensor):
            if value.is_pending:
                return value.node
            value = host(value)
        key = _alias(value)
        if key not in self._nodes:
            if key[0] in _sent or key[0] not in _on_device:
                node = self._input(value.detach().clone())
                _sent.discard(key[0])
            else:
                name = f"w{len(self._state)}"
                self._root.register_buffer(name, value.detach())
                node = self._graph.get_attr(name)
                # A parameter may be given another tensor before the step ends.
                self._state.append(value.detach())
            self._words.append((node.name, tuple(value.shape), value.stride(), value.dtype))
            self._know(key, node, value)
        return self._nodes[key]

    def _input(self, value):
        """The node of one more input. The device knows inputs by their names, which have their order."""
        first = next((node for node in self._graph.nodes if node.op != "placeholder"), None)
        with self._graph.inserting_before(first) if first else contextlib.nullcontext():
            node = self._graph.placeholder(f"in{len(self._inputs)}")
        self._inputs.append(value)
        return node

    def nodes_of(self, tree):
        return _pytree.tree_map(self.node_of, tree)

    def call(self, function, args, kwargs):
        """A node of an operator, whose arguments are nodes."""
        if function is _aten.copy_.default and args[1].op == "get_attr":
            # torch.export loses count of two weights with the same new value.
            args = (args[0], self._graph.call_function(_aten.clone.default, (args[1],)), *args[2:])
        if function is _aten.view.default:
            # The core operators give other orders in memory than torch's own, in which there may be no such view.
            function = _aten.reshape.default
        leaves, spec = _pytree.tree_flatten((args, kwargs))
        self._words.append((str(function), spec, tuple(map(_word, leaves))))
        self._alone = None
        return self._graph.call_function(function, args, kwargs)

    def keep(self, results, node):
        """The nodes of an operator's results."""
        for n, (tensor, of) in enumerate(_parts(results, node, self._graph)):
            mark(tensor)
            key = _alias(tensor)
            is_new = key[0] not in self._storages
            self._know(key, of, tensor)
            self._last = of
            # Of bags of embeddings the reader of programs knows the sums only.
            if is_new and not (n and node.target is _aten._embedding_bag.default):
                self._created.append((StorageWeakRef(tensor.untyped_storage()), of, tuple(tensor.shape), tensor.dtype))
                if self._loss is None and tensor.dim() == 0 and tensor.is_floating_point() and of.target not in _COPIES:
                    self._loss = of

    def _know(self, key, node, tensor):
        self._nodes.setdefault(key, node)
        self._storages.add(key[0])
        # Whoever holds a gradient itself makes autograd copy it.
        self._kept.append(StorageWeakRef(tensor.untyped_storage()))

    def promise(self, results, node):
        """Lazy tensors for an operator's results, of which the shapes are known."""
        made = {}
        for tensor, of in _parts(results, node, self._graph):
            lazy = made[id(tensor)] = LazyTensor.of(tuple(tensor.shape), tensor.dtype, place=PLACE)
            self.promise_also(lazy, of)
        return _pytree.tree_map(lambda x: made.get(id(x), x), results)

    def promise_also(self, lazy, node):
        lazy.node = node
        self._pending.append(weakref.ref(lazy))

    def module(self, call, inputs):
        """A module's call, whose results are lazy."""
        self._alone = call if not self._pending and not self._created else None
        name = f"m{len(self._called)}"
        self._root.add_module(name, _Flat(call.module))
        args = tuple(map(self.node_of, inputs))
        self._words.append((call.key, tuple(node.name for node in args)))
        node = self._graph.call_module(name, args)
        leaves = []
        for n, (shape, dtype) in enumerate(call.program.about["outputs"]):
            lazy = LazyTensor.of(shape, dtype, place=PLACE)
            self.promise_also(lazy, self._graph.call_function(operator.getitem, (node, n)))
            leaves.append(lazy)
        self._called.append((call, [(x, _at_present(x)) for x in inputs], leaves))
        return leaves

    def run(self):
        """Compiles it, if no earlier step was the same, and executes it."""
        self._nodes.clear()
        self._kept.clear()
        pending = [lazy for lazy in (reference() for reference in self._pending) if lazy is not None and lazy.is_pending]
        if self._alone is not None:
            ((call, given, pending),) = self._called
            # The tensors themselves, by which the program knows that it has computed them before, or what they were.
            program, inputs = call.program, tuple(was if isinstance(x, LazyTensor) or _alias(x) != _alias(was) else x for x, was in given)
        else:
            try:
                program, inputs = self._program(pending), tuple(self._inputs)
            except ModelError as error:
                remark(f"this takes no time of the device: {error}")
                return self._on_processor(pending)
        if program is None:
            return
        results = Results(program, host(inputs))
        for n, lazy in enumerate(pending):
            if lazy.is_pending:
                lazy.results, lazy.n = results, n
        try:
            program.execute(host(inputs))
        except Error as error:
            remark(f"this takes no time of the device: {error}")

    def _program(self, pending):
        live = [(of, shape, dtype) for reference, of, shape, dtype in self._created if not reference.expired()]
        if not (pending or self.writes or self._loss or live):
            return None
        if all(node.target in _COPIES for node in self._graph.nodes if node.op == "call_function"):
            remark("this step copies tensors only, for which the device's time is not counted")
            return None
        outputs = tuple(lazy.node for lazy in pending)
        if not outputs:
            # Of what depends on no number there is nothing to compute.
            candidates = (self._loss, *(of for of, _, _ in live), self._last)
            found = next((of for of in candidates if of is not None and self._sources(of)), None)
            if found is None:
                return None
            outputs = (found,)
        self._read(outputs)
        # What is alive stays in the device's memory.
        for n, (of, shape, dtype) in enumerate(live):
            if of not in outputs:
                self._root.register_buffer(f"live{n}", torch.empty(shape, dtype=dtype))
                self._graph.call_function(_aten.copy_.default, (self._graph.get_attr(f"live{n}"), of))
        self._graph.output(outputs)
        values = tuple((_version(x), device.version(x)) for x in self._state) if pending else ()
        key = (tuple(self._words), tuple(of.name for of in outputs), tuple(of.name for of, _, _ in live), values)
        if key not in _programs:
            if not pending:
                self._part()
            module = torch.fx.GraphModule(self._root, self._graph, "Step" if pending else "TrainingStep")
            program = Program.of_module(module, tuple(self._inputs), "mark_step", decompose=True, has_numbers=bool(pending))
            _programs[key] = (program, self._state if pending else None)
        return _programs[key][0]

    def _part(self):
        """Gives each weight of a step whose numbers are torch's its own memory: torch.export knows no two that share theirs."""
        seen = set()
        for name, value in self._root.named_buffers():
            of = value.untyped_storage()._cdata
            if of in seen:
                setattr(self._root, name, value.clone())
            seen.add(of)

    def _on_processor(self, pending):
        """The lazy results of a step that is no program of the device."""
        if pending:
            with torch.no_grad():
                results = Computed(torch.fx.GraphModule(self._root, self._graph)(*host(tuple(self._inputs))))
            for n, lazy in enumerate(pending):
                lazy.results, lazy.n = results, n

    def _sources(self, *nodes):
        """The inputs and weights that nodes depend on."""
        above, rest = {}, list(nodes)
        while rest:
            node = rest.pop()
            if node not in above:
                above[node] = node.op in ("placeholder", "get_attr")
                rest.extend(() if node.target in _OF_SHAPES else node.all_input_nodes)
        return [node for node, is_source in above.items() if is_source]

    def _read(self, outputs):
        """A program reads an input: without one, something that is there already is the input, if it can be what nothing is written to."""
        sources = self._sources(*outputs)
        if not sources or any(node.op == "placeholder" for node in sources):
            return
        source = next((node for node in sources if not any(_written(user.target._schema, user.args, user.kwargs) is node for user in node.users if hasattr(user.target, "_schema"))), sources[0])
        put = self._input(getattr(self._root, source.target))
        delattr(self._root, source.target)
        source.replace_all_uses_with(put)
        self._graph.erase_node(source)


# Programs of steps, with the tensors whose places are part of their keys.
_programs = {}
_step = None
_thread = threading.local()
# Python's own start of a thread, once threads are watched.
_start = None


class _Flat(torch.nn.Module):
    """A module whose results are a tuple of tensors."""

    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, *inputs):
        return tuple(x for x in _pytree.tree_leaves(self.module(*inputs)) if isinstance(x, torch.Tensor))


def _parts(results, node, graph):
    """The tensors of an operator's results with their nodes."""
    if isinstance(results, torch.Tensor):
        yield results, node
    elif isinstance(results, (tuple, list)):
        for n, result in enumerate(results):
            if isinstance(result, torch.Tensor):
                yield result, graph.call_function(operator.getitem, (node, n))


def current():
    global _step
    if _step is None:
        _step = Step()
    return _step


def end_step():
    """Runs what was recorded. A step that fails is gone, and the next one begins anew."""
    global _step
    step, _step = _step, None
    if step is not None:
        # Inside of an operator torch exports nothing; a thread has a state of its own.
        _elsewhere(step.run) if getattr(_thread, "is_in_operator", False) else _aside(step.run)
        _forget_the_dead()


def _aside(work):
    with aside():
        return work()


def _elsewhere(work):
    """The result of ``work`` in another thread, where no operator is under way."""
    ended, asked = [], place()

    def run():
        with placed(asked):
            try:
                ended.append((_aside(work), None))
            except BaseException as error:
                ended.append((None, error))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join()
    result, error = ended[0]
    if error is not None:
        raise error
    return result


@contextlib.contextmanager
def aside():
    """What happens in here is the simulation's, not the script's."""
    with clock.pause(), _disable_current_modes():
        was, _thread.is_aside = is_aside(), True
        try:
            yield
        finally:
            _thread.is_aside = was


def is_aside():
    return getattr(_thread, "is_aside", False)


def is_inside():
    """Whether a module that is recorded operator by operator is at work."""
    return getattr(_thread, "is_inside", False)


class _Watch(TorchDispatchMode):
    supports_higher_order_operators = True

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        recorded = _of_functions if isinstance(function, torch._ops.HigherOrderOperator) else dispatch
        return recorded(function, args, kwargs or {})


def watch():
    """Looks at the operators of this thread from now on, and of the threads that are started later: they may have tensors of this one."""
    global _start
    if not getattr(_thread, "is_watched", False):
        _thread.is_watched = True
        _Watch().__enter__()
    if _start is None:
        _start, threading.Thread.start = threading.Thread.start, _start_watched


def _start_watched(thread):
    run = thread.run

    def watched():
        watch()
        run()

    thread.run = watched
    _start(thread)


def dispatch(function, args, kwargs):
    was, _thread.is_in_operator = getattr(_thread, "is_in_operator", False), True
    try:
        return _dispatch(function, args, kwargs)
    finally:
        _thread.is_in_operator = was


def _dispatch(function, args, kwargs):
    """An operator: recorded if one of its tensors is on the device."""
    if is_aside():
        return function(*host(args), **host(kwargs))
    if is_named(kwargs.get("device")):
        # What makes a tensor there, or sends one.
        sends = any(isinstance(x, torch.Tensor) for x in args)
        made = _dispatch(function, args, {**kwargs, "device": torch.device("cpu")})
        return made if isinstance(made, LazyTensor) else mark(made, sent=sends)
    tensors = [x for x in _pytree.tree_leaves((args, kwargs)) if isinstance(x, torch.Tensor)]
    if not any(map(is_on_device, tensors)):
        return function(*host(args), **host(kwargs))
    # The host's time of a step is part of the step.
    with clock.pause():
        return _record(function, args, kwargs, tensors)


def _record(function, args, kwargs, tensors):
    name = function._schema.name
    is_kernel = kernels.is_kernel(name)
    if function in _LOOKS:
        return _on_host(function, args, kwargs, waits=True)
    if name.startswith("aten::_foreach_"):
        return _one_by_one(function, args, kwargs)
    if name in fused.UPDATES:
        with _Watch():
            return fused.UPDATES[name](*args, **kwargs)
    if name.removesuffix("_") in _VIEWS and function._schema.is_mutable:
        return _view_in_place(function, args, kwargs)
    if name in _BECOMES and isinstance(args[0], LazyTensor):
        with aside():
            args[0].data = mark(function(*host(args), **host(kwargs)))
        return args[0]
    if function.namespace == "c10d":
        remark("collectives of torch.distributed take no time: there is one process, which has what all have")
        return function(*host(args), **host(kwargs))
    if function.namespace != "aten" and not is_kernel:
        remark(f"{name} runs on the host: the device has no operator of this name")
        return _on_host(function, args, kwargs)
    if any(str(one.type) == "List[Tensor]" and one.alias_info is not None and one.alias_info.is_write for one in function._schema.arguments):
        remark(f"{name} runs on the host: the device has no operator that writes to a list of tensors")
        return _on_host(function, args, kwargs)
    if any(x.layout is not torch.strided for x in tensors):
        remark(f"{name} runs on the host: the device has no sparse and no nested tensors")
        return _on_host(function, args, kwargs)
    if _is_shaped_by_data(function, args):
        remark(f"{name} runs on the host: what it does depends on data")
        return _on_host(function, args, kwargs)
    writes = function._schema.is_mutable
    is_lazy = any(isinstance(x, LazyTensor) and x.is_pending for x in tensors)
    written = _written(function._schema, args, kwargs)
    if is_lazy and not is_kernel and (not writes or isinstance(written, LazyTensor) and written.is_pending):
        with aside():
            promised = _shapes(function, args, kwargs)
        step = current()
        node = step.call(function, *step.nodes_of((args, kwargs)))
        return written if writes else step.promise(promised, node)
    # A step computes its lazy results of the numbers at its end, so nothing may change them before.
    if is_lazy or writes and _step is not None and _step.has_pending:
        end_step()
    args, kwargs = host((args, kwargs))
    step = current()
    node_args, node_kwargs = step.nodes_of((args, kwargs))
    # Of a kernel, torch knows the shape of the result only.
    with aside() if is_kernel else contextlib.nullcontext():
        results = kernels.values(name, args) if is_kernel else function(*args, **kwargs)
    if any(isinstance(x, torch.Tensor) and x.layout is not torch.strided for x in _pytree.tree_leaves(results)):
        remark(f"{name} runs on the host: the device has no sparse and no nested tensors")
        return results
    step.writes |= writes
    if writes and isinstance(written, torch.Tensor) and _storage(written) is not None:
        _writes[_storage(written)._cdata] += 1
    step.keep(results, step.call(function, node_args, node_kwargs))
    return results


def _view_in_place(function, args, kwargs):
    """A tensor that itself gets another shape: the step has the operator that makes a view of it."""
    tensor, views = args[0], getattr(_aten, function._schema.name.removeprefix("aten::")[:-1])
    view = dispatch(getattr(views, function._overloadname, None) or _overload(views, args), args, kwargs)
    if not isinstance(tensor, LazyTensor):
        with aside():
            return function(*args, **kwargs)
    with no_dispatch():
        function(*args, **kwargs)
    if isinstance(view, LazyTensor):
        tensor.node = view.node
    else:
        tensor.results, tensor.n = Computed([view]), 0
    return tensor


def _on_host(function, args, kwargs, waits=False):
    end_step()
    if waits:
        device.wait()
    args, kwargs = host((args, kwargs))
    with clock.resume():
        results = function(*args, **kwargs)
    return _pytree.tree_map_only(torch.Tensor, mark, results)


def _written(schema, args, kwargs):
    """The argument that an operator writes to: its first one, or ``out``."""
    place = next((n for n, one in enumerate(schema.arguments) if one.alias_info is not None and one.alias_info.is_write), None)
    if place is None:
        return None
    return args[place] if place < len(args) else kwargs.get(schema.arguments[place].name)


def _is_shaped_by_data(function, args):
    if function in _BY_MASKS:
        is_mask = any(x is not None and x.dtype in (torch.bool, torch.uint8) for x in args[1])
        return is_mask and (function is _aten.index.Tensor or args[2].numel() > 1)
    tags = function.tags
    return function in _BY_LENGTHS or torch.Tag.dynamic_output_shape in tags or torch.Tag.data_dependent_output in tags


def _of_functions(function, args, kwargs):
    """An operator that takes functions, such as a branch or a loop."""
    is_there = any(isinstance(x, torch.Tensor) and is_on_device(x) for x in _pytree.tree_leaves((args, kwargs)))
    if is_aside() or not is_there:
        return function(*host(args), **host(kwargs))
    remark(f"{function.name()} runs on the host: what it does is in functions of the script")
    return _on_host(function, args, kwargs)


# The operators of one tensor and a number, by those of two tensors.
_LIMITS = {"maximum": "clamp_min", "minimum": "clamp_max"}


def _one_by_one(function, args, kwargs):
    """An operator on lists as one for each tensor."""
    name = function._schema.name.removeprefix("aten::_foreach_")
    if name.rstrip("_") in ("addcmul", "addcdiv") and len(args) > 3:
        # One tensor has its factor by name.
        args, kwargs = args[:3], {**kwargs, "value": args[3].tolist() if isinstance(args[3], torch.Tensor) else args[3]}
    count = next(len(x) for x in args if isinstance(x, (list, tuple)))
    if name.rstrip("_") in _LIMITS and not isinstance(args[1][0] if isinstance(args[1], (list, tuple)) else args[1], torch.Tensor):
        name = _LIMITS[name.rstrip("_")] + "_" * name.endswith("_")
    each = getattr(_aten, name, None)
    if each is None and name.endswith("_") and hasattr(_aten, name[:-1]):
        # maximum_: there is the one only that makes a new tensor.
        results = _one_by_one(getattr(_aten, f"_foreach_{name[:-1]}").List, args, kwargs)
        for x, result in zip(args[0], results):
            dispatch(_aten.copy_.default, (x, result), {})
        return None
    if each is None:
        remark(f"{function._schema.name} runs on the host: the device has no operator of this name")
        return _on_host(function, args, kwargs)
    of = lambda x, n: x[n] if isinstance(x, (list, tuple)) and len(x) == count else x  # noqa: E731
    results = []
    for n in range(count):
        given = tuple(of(x, n) for x in args)
        results.append(dispatch(_overload(each, given), given, {key: of(x, n) for key, x in kwargs.items()}))
    return None if name.endswith("_") else results


def _overload(packet, args):
    """The overload that takes these arguments."""
    for name in packet.overloads():
        function = getattr(packet, name)
        wanted = [argument for argument in function._schema.arguments if not argument.kwarg_only]
        if len(wanted) >= len(args) and all(one.has_default_value() for one in wanted[len(args) :]) and all(isinstance(given, torch.Tensor) == (str(argument.type) == "Tensor") for given, argument in zip(args, wanted)) and not function._schema.name.endswith(".out"):
            return function
    raise Error(f"{packet} has no overload for what it is called with")


def _shapes(function, args, kwargs):
    """The results without their numbers."""
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode() as mode:

        def fake(x):
            if isinstance(x, LazyTensor):
                return torch.empty(tuple(x.shape), dtype=x.dtype)
            return mode.from_tensor(x) if isinstance(x, torch.Tensor) else x

        return function(*_pytree.tree_map(fake, args), **_pytree.tree_map(fake, kwargs))


_OF_TORCH = set(vars(torch.nn.Module()))
# Lists that recurrent layers keep of their weights, of which an export makes other ones for a while.
_OF_LAYERS = {"_flat_weights", "_flat_weight_refs"}


def _own(module):
    """What a module and its parts have beside weights, buffers and parts: numbers, lists, tensors."""
    for name, part in module.named_modules():
        for key in part.__dict__.keys() - _OF_TORCH:
            yield (part, key), part.__dict__[key], f"{name}.{key}".lstrip(".")


@contextlib.contextmanager
def _unchanged(module):
    """Gives a module back what its ``forward`` changes in here; the names of that."""
    before = {key: (value, copy.copy(value) if isinstance(value, (list, dict)) else value) for key, value, _ in _own(module)}
    changes = set()

    def compare(*_):
        changes.update(name for key, value, name in _own(module) if key[1] not in _OF_LAYERS and (key not in before or not _is_same(value, *before[key])))

    # torch.export itself puts back what is assigned, without a word.
    hook = module.register_forward_hook(compare)
    try:
        yield changes
    finally:
        hook.remove()
        for (part, key), _, _ in list(_own(module)):
            del part.__dict__[key]
        for (part, key), (value, was) in before.items():
            if isinstance(value, list):
                value[:] = was
            elif isinstance(value, dict):
                value.clear()
                value.update(was)
            part.__dict__[key] = value


def _is_same(now, value, was):
    """Whether an attribute is what it was; a list or a dictionary, with the same objects."""
    if isinstance(now, (list, dict)):
        items = lambda x: [id(one) for one in (x.values() if isinstance(x, dict) else x)]  # noqa: E731
        return now is value and items(now) == items(was)
    return now is value or isinstance(now, _SIMPLE) and now == value


class Call:
    """A module that is called with tensors of some shapes, and its program."""

    def __init__(self, module, leaves, spec):
        if isinstance(module, torch.jit.ScriptModule):
            raise script_error(module)
        tensors = [x for x in leaves if isinstance(x, torch.Tensor)]
        inputs = tuple(torch.zeros(tuple(x.shape), dtype=x.dtype) if isinstance(x, LazyTensor) else x.detach() for x in tensors)
        is_plain = spec == _pytree.tree_structure((inputs, {}))
        self.module = module if is_plain else _Called(module, leaves, spec)
        with _unchanged(module) as changes:
            self.program = Program.of_module(self.module, inputs, "mark_step", name=f"{type(module).__name__}.pt2", evaluates=False)
        if changes or not self.program.about["repeats"]:
            raise ModelError(f"it changes {', '.join(sorted(changes))}" if changes else "it changes tensors or draws random numbers")
        if not self.program.is_fixed:
            raise ModelError("its sizes depend on data")

    @staticmethod
    def of(module, args, kwargs):
        """``None`` if what it is called with, or what it gives, is not made of tensors and numbers."""
        leaves, spec = _pytree.tree_flatten((args, kwargs))
        if not all(isinstance(x, (torch.Tensor, *_SIMPLE)) for x in leaves):
            return None, ()
        way = (id(module), module.training, spec, tuple(x for x in leaves if not isinstance(x, torch.Tensor)))
        if way in _refused or _has_hooks(module):
            return None, ()
        words = tuple((tuple(x.shape), x.dtype) if isinstance(x, torch.Tensor) else x for x in leaves)
        weights = (*module.parameters(), *module.buffers())
        if not all(isinstance(x, LazyTensor) or _storage(x) is not None for x in (*leaves, *weights) if isinstance(x, torch.Tensor)):
            # A function is transformed by torch.func, which has tensors of its own.
            return None, ()
        state = tuple(map(_version, weights))
        key = (id(module), module.training, spec, words, casts())
        known = _calls.get(key)
        if known is None or known[1] != state:
            with aside():
                try:
                    call = Call(module, leaves, spec)
                    call.key = (*key, state)
                except ModelError as error:
                    remark(f"{type(module).__name__} runs operator by operator, with the numbers of torch: {error}")
                    # What was refused once is not tried again with other shapes. The module is kept, so that no other one gets its id.
                    _refused[way] = module
                    return None, ()
            # The module and its weights of now are kept, so that no others get their id and their places.
            known = _calls[key] = (call, state, module, [x.detach() for x in weights])
        return known[0], tuple(x for x in leaves if isinstance(x, torch.Tensor))


_calls, _refused = {}, {}


def _has_hooks(module):
    """Whether the script looks at what passes through a part of a module: an export would give it tensors without numbers."""
    hooks = (hook for part in module.modules() for hook in (*part._forward_hooks.values(), *part._forward_pre_hooks.values()))
    return any(is_of_script(code.co_filename) for code in (getattr(hook, "__code__", None) for hook in hooks) if code is not None)


class _Called(torch.nn.Module):
    """A module with what it is called with beside tensors."""

    def __init__(self, module, leaves, spec):
        super().__init__()
        self.module, self._spec = module, spec
        self._leaves = [None if isinstance(x, torch.Tensor) else (x,) for x in leaves]
        self.training, self.given = module.training, type(module).__name__

    def forward(self, *inputs):
        tensors = iter(inputs)
        args, kwargs = _pytree.tree_unflatten([next(tensors) if one is None else one[0] for one in self._leaves], self._spec)
        return self.module(*args, **kwargs)


def call_module(module, call, args, kwargs):
    """A call of a module on the device; ``call`` is the one of torch."""
    if is_aside() or is_inside():
        return call(module, *args, **kwargs)
    watch()
    tensors = [x for x in _pytree.tree_leaves((args, kwargs)) if isinstance(x, torch.Tensor)]
    # A package asks the module where it is, which says the host. The sizes of packed sequences are there.
    given = _pytree.tree_leaves((args, kwargs), is_leaf=lambda x: isinstance(x, PackedSequence))
    if is_asked_by_script() and not all(is_on_device(x.data) for x in given if isinstance(x, PackedSequence) or isinstance(x, torch.Tensor) and x.dim()):
        remark(f"an input of {type(module).__name__} is not on the device, which a NeuronCore refuses; send it there with .to(xm.xla_device())")
    # A module in eval mode is evaluated, if no optimiser has its weights: scripts forget to turn gradients off.
    weights = (x for x in module.parameters() if module.training or hasattr(x, OPTIMISED))
    is_trained = torch.is_grad_enabled() and any(x.requires_grad for x in (*tensors, *weights))
    with clock.pause():
        lazy, inputs = (None, ()) if is_trained else Call.of(module, args, kwargs)
    if lazy is not None:
        if _step is not None and _step.writes:
            end_step()
        with aside():
            return lazy.program.put_together(current().module(lazy, inputs))
    _thread.is_inside = True
    try:
        args, kwargs = _pytree.tree_map(lambda x: _Numbers.apply(x) if isinstance(x, LazyTensor) and x.requires_grad else x, (args, kwargs))
        return call(module, *host(args), **host(kwargs))
    finally:
        _thread.is_inside = False


class _Numbers(torch.autograd.Function):
    """The numbers of a result of the device, which gets their gradient."""

    @staticmethod
    def forward(_ctx, lazy):
        with aside():
            return mark(lazy.plain(waits=False).detach())

    @staticmethod
    def backward(_ctx, grad):
        return grad


def look():
    """Somebody looks at numbers: the step ends, and the script waits for the device."""
    end_step()
    device.wait()


def copy_of(tensor):
    """The numbers of a tensor on the device, on the host; a gradient finds its way back."""
    was, _thread.is_aside = is_aside(), True
    try:
        return tensor.clone()
    finally:
        _thread.is_aside = was


def take_back(module):
    """A module comes back from the device."""
    look()
    for one in module.modules():
        one.__dict__.pop("_neuronscope_on_device", None)
    for tensor in (*module.parameters(), *module.buffers()):
        storage = _storage(tensor)
        _on_device.pop(storage._cdata, None)
