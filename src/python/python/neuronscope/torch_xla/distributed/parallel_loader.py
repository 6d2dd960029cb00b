"""torch_xla.distributed.parallel_loader: batches on the device, and a step for each."""

from ...missing import attribute_of
from ..core import xla_model

__all__ = ["MpDeviceLoader", "ParallelLoader"]


class MpDeviceLoader:
    """The batches of a loader on the device. Each batch that is asked for ends the step before it."""

    def __init__(self, loader, device, batches_per_execution=1, **_options):
        self._loader, self._device, self._per_step = loader, device, batches_per_execution

    def __iter__(self):
        for n, batch in enumerate(self._loader):
            if n and n % self._per_step == 0:
                xla_model.mark_step()
            yield xla_model.send_cpu_data_to_device(batch, self._device)
        xla_model.mark_step()

    def __len__(self):
        return len(self._loader)

    def __getattr__(self, name):
        return getattr(self._loader, name)


class ParallelLoader:
    def __init__(self, loader, devices, **_options):
        self._loader = loader

    def per_device_loader(self, device):
        return MpDeviceLoader(self._loader, device)


__getattr__ = attribute_of("torch_xla.distributed.parallel_loader", __all__)
