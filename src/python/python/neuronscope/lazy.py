"""Tensors whose numbers are computed when somebody looks at them."""

from __future__ import annotations

import torch
from torch.utils import _pytree

from ._core import Error


class LazyTensor(torch.Tensor):
    """A result of the device. One with a ``place`` is on the device still: what is done with it is part of the step."""

    @staticmethod
    def of(shape, dtype, results=None, n=0, place=None):
        dtype = getattr(torch, dtype.removeprefix("torch.")) if isinstance(dtype, str) else dtype
        tensor = torch.Tensor._make_wrapper_subclass(LazyTensor, shape, dtype=dtype)
        tensor.results, tensor.n, tensor.place = results, n, place
        return tensor

    @property
    def is_pending(self):
        """Whether it belongs to a step that has not run."""
        return self.results is None

    def plain(self, waits=True):
        """The numbers as a tensor of the host."""
        if self.is_pending:
            from .recorder import end_step

            end_step()
        return self.results.value(self.n, waits)

    @property
    def data(self):
        return torch._C.TensorBase.data.__get__(self)

    @data.setter
    def data(self, other):
        """The tensor is another one from now on, with its sizes."""
        if not isinstance(other, LazyTensor):
            from .device import Computed
            from .recorder import PLACE, is_on_device

            place = PLACE if is_on_device(other) else None
            other = LazyTensor.of(tuple(other.shape), other.dtype, Computed([other.detach()]), place=place)
        torch._C.TensorBase.data.__set__(self, other)
        self.results, self.n, self.place = other.results, other.n, other.place
        if other.is_pending:
            from .recorder import current

            current().promise_also(self, other.node)

    def at_present(self):
        """The same numbers, whatever this tensor becomes."""
        return LazyTensor.of(tuple(self.shape), self.dtype, self.results, self.n, self.place)

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        from .recorder import dispatch

        return dispatch(function, args, kwargs or {})

    def __repr__(self, **_):
        text = repr(self.plain())
        return f"{text[:-1]}, device='{self.place}')" if self.place else text

    def __format__(self, how):
        return format(self.plain(), how)

    def __array__(self, *args, **kwargs):
        return self.plain().numpy().__array__(*args, **kwargs)

    def numpy(self, **_):
        return self.plain().numpy()

    def tolist(self):
        return self.plain().tolist()

    def backward(self, *args, **kwargs):
        if not self.requires_grad:
            raise Error("its module is in eval mode, in which the device evaluates without gradients: call .train() of the module, or make the optimiser of its weights before the call")
        return super().backward(*args, **kwargs)

    def item(self):
        return self.plain().item()

    def __bool__(self):
        return bool(self.plain())

    def cpu(self, *_args, **_kwargs):
        return self.plain()

    def __deepcopy__(self, memo):
        return self.plain().clone()

    def __reduce_ex__(self, protocol):
        return self.plain().__reduce_ex__(protocol)


def host(tree):
    """A tree of values with the numbers in place of the tensors that are lazy."""
    return _pytree.tree_map(lambda x: x.plain(waits=x.place is None) if isinstance(x, LazyTensor) else x, tree)
