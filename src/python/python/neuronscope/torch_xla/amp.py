"""torch_xla.amp: automatic casts on the simulated device."""

import torch

from ..missing import attribute_of
from .core import xla_model  # noqa: F401 (it teaches torch.autocast the device)

__all__ = ["autocast"]


def autocast(device="xla", enabled=True, dtype=torch.bfloat16, cache_enabled=True):
    return torch.autocast("xla", dtype=dtype, enabled=enabled, cache_enabled=cache_enabled)


__getattr__ = attribute_of("torch_xla.amp", __all__)
