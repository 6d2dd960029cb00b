"""torch_xla.amp: automatic casts on the simulated device."""

import torch

from ...missing import attribute_of
from ..core import xla_model  # noqa: F401 (it teaches torch.autocast the device)
from . import syncfree

__all__ = ["GradScaler", "autocast", "syncfree"]


def autocast(device="xla", enabled=True, dtype=torch.bfloat16, cache_enabled=True):
    return torch.autocast("xla", dtype=dtype, enabled=enabled, cache_enabled=cache_enabled)


class GradScaler(torch.amp.GradScaler):
    """bfloat16 has the range of float32, so its gradients need no scale."""

    def __init__(self, *_args, **_kwargs):
        super().__init__("cpu", enabled=False)


__getattr__ = attribute_of("torch_xla.amp", __all__)
