"""What an instruction allows beside sizes: its engines, its operators, and their types, as the reference of nki.isa says.

What the hardware has no way to do is an error. What the documents alone say, and nobody has seen the compiler refuse, is a warning.
"""

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
    """Fails if no engine does this, and warns if the documents name others. `binary`: the names of operators of two operands."""
    if not api.startswith("nisa."):
        return
    known = dict(args)
    operators = [known[name] for name in ("op", "op0", "op1") if isinstance(known.get(name), str)]
    if engine not in ("any", *_ENGINES.get(op, _ANY)) and not op.startswith("dma") and not (op == "activation" and trace.chip.core >= 4):
        trace.warn("engine", f"{api} is on the {engine} engine; its documents name {' and '.join(_ENGINES.get(op, _ANY))} only.")
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
        trace.warn("operator", f"{api} joins {' and '.join(operators)}; its documents allow two operators of bits or two of numbers only.")
    if op == "tensor_scalar" and engine == "scalar" and trace.chip.core < 4 and tuple(operators) not in _SCALED:
        trace.warn("engine", f"{api} with {' and '.join(operators)} is on the scalar engine, for which the documents name multiply, add, and multiply with add only.")


def is_of_bits(op, api, args):
    """Whether an instruction works on bits, so that its operands are integers."""
    return op in _WITH_OPERATORS and api.startswith("nisa.") and any(value in _BITS for name, value in args if name in ("op", "op0", "op1"))


def integers(trace, api, roles, views):
    """Warns if what an instruction on bits reads or writes is no integer."""
    for role, view in zip(roles, views):
        if not view.dtype.startswith(("int", "uint", "bool")):
            trace.warn("dtype", f"{role} of {api} is {view.dtype}; the documents name integers only for operators of bits (tile.view(nl.int32) has the bits).")


def gather(trace, api, source, index, each):
    """The sizes and types of nisa.local_gather."""
    if source.partitions != index.partitions or source.partitions % 16:
        raise KernelError("size", f"src_buffer of {api} has {source.partitions} partitions, index has {index.partitions}; both have the same multiple of 16.", "take whole groups of 16 partitions")
    if each not in (1, 2, 4, 8, 16, 32):
        trace.warn("value", f"num_elem_per_idx of {api} is {each}; its documents name 1, 2, 4, 8, 16 and 32 only.")
    if index.dtype != "uint16":
        trace.warn("dtype", f"index of {api} is {index.dtype}; its documents name uint16 only.")
