"""torch_xla.distributed"""

from ...missing import attribute_of
from . import parallel_loader, xla_backend, xla_multiprocessing

__all__ = ["parallel_loader", "xla_backend", "xla_multiprocessing"]

__getattr__ = attribute_of("torch_xla.distributed", __all__)
