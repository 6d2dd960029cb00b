"""torch_xla on the simulated device: modules run lazily, and at the end of a step."""

from ..missing import attribute_of
from . import core
from .core import xla_model

__all__ = ["core", "device", "sync"]


def device(n=None):
    return xla_model.xla_device(n)


def sync():
    xla_model.mark_step()


__getattr__ = attribute_of("torch_xla", __all__)
