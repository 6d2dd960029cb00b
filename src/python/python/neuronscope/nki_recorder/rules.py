"""What an instruction allows beside sizes: its engines, its operators, and their types, as the reference of nki.isa says."""

from .errors import KernelError

_ANY = ("vector", "scalar", "gpsimd")
# The engines that run an instruction, where they are not the vector, scalar and GpSimd engines.
_ENGINES = {
    "activation": ("scalar",),
    "tensor_tensor": ("vector", "gpsimd"),
    "reciprocal": ("vector", "scalar"),
    "nc_transpose": ("tensor", "vector"),
}
_WITH_OPERATORS = ("tensor_tensor", "tensor_scalar", "scalar_tensor_tensor", "tensor_tensor_scan", "tensor_scalar_reduce", "tensor_reduce")
# Functions that the scalar engine alone has.
_FUNCTIONS = {
    *"exp log sin cos tan tanh arctan sigmoid gelu gelu_dx gelu_apprx_tanh gelu_apprx_tanh_dx gelu_apprx_sigmoid gelu_apprx_sigmoid_dx".split(),
    *"silu silu_dx erf erf_dx softplus mish".split(),
}
_BITS = {"bitwise_and", "bitwise_or", "bitwise_xor", "invert", "left_shift", "right_shift"}
# What the scalar engine can do with numbers and columns, until trn2.
_SCALED = {("multiply", "add"), ("multiply",), ("add",)}


def allow(trace, op, api, args, engine, binary):
    """Fails if no engine, or not the one that was asked for, does this. `binary`: the names of operators of two operands."""
    if not api.startswith("nisa."):
        return
    known = dict(args)
    operators = [known[name] for name in ("op", "op0", "op1") if isinstance(known.get(name), str)]
    if engine not in ("any", *_ENGINES.get(op, _ANY)) and not op.startswith("dma") and not (op == "activation" and trace.chip.core >= 4):
        raise KernelError("engine", f"{api} does not run on the {engine} engine.", f"use engine=nisa.engine.{' or '.join(_ENGINES.get(op, _ANY))}, or leave it out")
    if op in _WITH_OPERATORS:
        wrong = next((one for one in operators if one in _FUNCTIONS), None)
        if wrong:
            raise KernelError("operator", f"{api} has no operator {wrong}: it is a function of the scalar engine.", f"use nisa.activation with op=nl.{wrong}")
    if op in ("activation", "activation_reduce"):
        if operators and (operators[0] in binary or operators[0] in ("max", "min")):
            raise KernelError("operator", f"{api} has no function {operators[0]}: it takes two operands.", f"use nisa.tensor_tensor or nisa.tensor_scalar with op=nl.{operators[0]}")
        if known.get("reduce_op", "add") != "add" and (trace.dialect == 2 or trace.chip.core == 2):
            raise KernelError("operator", f"{api} reduces with {known['reduce_op']}; the scalar engine only adds.", "use nisa.tensor_reduce on the result")
    bits = [one in _BITS for one in operators]
    if op == "tensor_scalar" and any(bits) and not all(bits):
        raise KernelError("operator", f"{api} joins {' and '.join(operators)}, one of bits and one of numbers.", "use two instructions")
    if op == "tensor_scalar" and engine == "scalar" and trace.chip.core < 4 and tuple(operators) not in _SCALED:
        raise KernelError(
            "engine", f"{api} with {' and '.join(operators)} does not run on the scalar engine, which multiplies, adds, or multiplies and then adds.", "use engine=nisa.engine.vector"
        )


def is_of_bits(op, api, args):
    """Whether an instruction works on bits, so that its operands are integers."""
    return op in _WITH_OPERATORS and api.startswith("nisa.") and any(value in _BITS for name, value in args if name in ("op", "op0", "op1"))


def integers(api, roles, views):
    """Fails if what an instruction on bits reads or writes is no integer."""
    for role, view in zip(roles, views):
        if not view.dtype.startswith(("int", "uint", "bool")):
            raise KernelError("dtype", f"{role} of {api} is {view.dtype}; operators of bits take integers.", "use tile.view(nl.int32) to see the bits, or an operator of numbers")


def gather(api, source, index, each):
    """The sizes and types of nisa.local_gather."""
    if source.partitions != index.partitions or source.partitions % 16:
        raise KernelError("size", f"src_buffer of {api} has {source.partitions} partitions, index has {index.partitions}; both have the same multiple of 16.", "take whole groups of 16 partitions")
    if each not in (1, 2, 4, 8, 16, 32):
        raise KernelError("value", f"num_elem_per_idx of {api} is {each}.", "use 1, 2, 4, 8, 16 or 32")
    if index.dtype != "uint16":
        raise KernelError("dtype", f"index of {api} is {index.dtype}; indices are uint16.", "declare it with dtype=nl.uint16")
