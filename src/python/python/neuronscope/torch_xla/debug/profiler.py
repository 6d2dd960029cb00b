"""torch_xla.debug.profiler: names for parts of a script, and a recording as the log directory of TensorBoard."""

import contextlib

from ...missing import attribute_of, remark

__all__ = ["StepTrace", "Trace", "start_server", "start_trace", "stop_trace", "trace"]

_recording = None


def start_server(port, only_on_master=True):
    remark("torch_xla.debug.profiler.start_server has no effect here: record with start_trace and stop_trace, or torch_neuronx.experimental.profiler.profile(...)")


def start_trace(log_dir, *_args, **_options):
    """Records what runs until ``stop_trace``, in ``log_dir/plugins/neuron``."""
    global _recording
    from ...torch_neuronx.experimental.profiler import profile

    _recording = profile(neuron_tensorboard_plugin_dir=f"{log_dir}/plugins/neuron")
    _recording.start()


def stop_trace():
    global _recording
    if _recording is None:
        raise ValueError("torch_xla.debug.profiler.stop_trace: nothing is recorded; call start_trace(log_dir) before the steps")
    recording, _recording = _recording, None
    recording.stop()


def trace(service_addr, logdir, *_args, **_options):
    remark("torch_xla.debug.profiler.trace has no effect here, where no server listens: record with start_trace(log_dir) and stop_trace()")


class Trace(contextlib.ContextDecorator):
    """A name for a part of the script; the timeline has the modules' names."""

    def __init__(self, name, **_options):
        self._name = name

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


StepTrace = Trace

__getattr__ = attribute_of("torch_xla.debug.profiler", __all__)
