"""`tensor.rearrange("p (a b) -> p b a", a=4)`: dimensions are split, reordered and joined by name."""

import re

from .errors import KernelError
from .tensors import product


def _sides(pattern):
    if pattern.count("->") != 1:
        raise KernelError("reshape", f"{pattern!r} is no pattern of rearrange.", 'write it as "p (a b) -> p b a"')
    sides = []
    for side in pattern.split("->"):
        groups = [(group[1:-1] if group.startswith("(") else group).split() for group in re.findall(r"\([^()]*\)|\w+", side)]
        sides.append(groups)
    return sides


def rearrange(view, pattern, sizes):
    """The view with its dimensions as the right side of the pattern names them; no data moves."""
    left, right = _sides(pattern)
    if len(left) != view.ndim:
        raise KernelError("reshape", f"{pattern!r} names {len(left)} dimensions; the tensor has {view.ndim}.", "name every dimension once")
    names, shape = [], []
    for group, count in zip(left, view.shape):
        known = product([sizes[name] for name in group if name in sizes])
        for name in group:
            shape.append(sizes.get(name, count // known))
        if product(shape[len(names) :]) != count:
            raise KernelError("reshape", f"({' '.join(group)}) of {pattern!r} does not divide {count} elements.", "give sizes whose product is the dimension")
        names += group
    wanted = [name for group in right for name in group]
    if sorted(wanted) != sorted(names):
        raise KernelError("reshape", f"The sides of {pattern!r} name different dimensions.", "name the same ones on both sides")
    moved = view.reshape(shape).permute([names.index(name) for name in wanted])
    counts = dict(zip(names, shape))
    return moved.reshape([product([counts[name] for name in group]) for group in right])
