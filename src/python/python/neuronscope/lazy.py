"""Tensors whose numbers are computed when somebody looks at them."""

from __future__ import annotations

import torch
from torch.utils import _pytree


class LazyTensor(torch.Tensor):
    """A result of the device, or a tensor on it. ``place`` is the device that it prints."""

    @staticmethod
    def of(shape, dtype, results, n, place=None):
        dtype = getattr(torch, dtype.removeprefix("torch.")) if isinstance(dtype, str) else dtype
        tensor = torch.Tensor._make_wrapper_subclass(LazyTensor, shape, dtype=dtype)
        tensor._results, tensor._n, tensor._place = results, n, place
        return tensor

    @staticmethod
    def holding(value, place):
        """A tensor with known numbers, on the device."""
        return LazyTensor.of(tuple(value.shape), value.dtype, _Known(value), 0, place)

    def plain(self):
        """The numbers as a tensor of the host."""
        return self._results.value(self._n)

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        plain = lambda x: x.plain() if isinstance(x, LazyTensor) else x  # noqa: E731
        args, kwargs = _pytree.tree_map(plain, (args, kwargs or {}))
        return function(*args, **kwargs)

    def __repr__(self, **_):
        text = repr(self.plain())
        return f"{text[:-1]}, device='{self._place}')" if self._place else text

    def __array__(self, *args, **kwargs):
        return self.plain().numpy().__array__(*args, **kwargs)

    def numpy(self, **_):
        return self.plain().numpy()

    def tolist(self):
        return self.plain().tolist()

    def cpu(self, *_args, **_kwargs):
        return self.plain()

    def __reduce_ex__(self, protocol):
        return self.plain().__reduce_ex__(protocol)


class _Known:
    def __init__(self, value):
        self._value = value

    def value(self, _n):
        return self._value
