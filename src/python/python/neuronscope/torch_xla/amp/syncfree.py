"""torch_xla.amp.syncfree: optimisers that do not wait for the device, as torch's do not here."""

from torch.optim import SGD, Adam, AdamW

from ...missing import attribute_of

__all__ = ["SGD", "Adam", "AdamW"]

__getattr__ = attribute_of("torch_xla.amp.syncfree", __all__)
