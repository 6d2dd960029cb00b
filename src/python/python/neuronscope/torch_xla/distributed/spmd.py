"""torch_xla.distributed.spmd, which packages import whether they need it or not: each of its names says what to do."""

from ...missing import attribute_of

__all__ = []

__getattr__ = attribute_of("torch_xla.distributed.spmd", __all__)
