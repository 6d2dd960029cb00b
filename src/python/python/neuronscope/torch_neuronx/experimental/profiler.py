"""torch_neuronx.experimental.profiler: records what runs on the simulated device, as the log directory of TensorBoard."""

from __future__ import annotations

from ... import device
from ...calls import say
from ...missing import attribute_of, remark

__all__ = ["profile"]


class profile:
    """``with profile(port=9012, profile_type="operator", ms_duration=10000): ...``

    The run folders are written to ``logs/plugins/neuron/`` when the block ends. ``profile_type`` is ``operator``, one execution of each
    program operator by operator, or ``trace``, host and NeuronCores over ``ms_duration``.
    """

    def __init__(self, port=9012, profile_type="operator", ms_duration=None, neuron_tensorboard_plugin_dir="logs/plugins/neuron", traced_only=False, delete_working=True, **options):
        if options:
            raise TypeError(f"profiler.profile has no argument {', '.join(options)}; it has port, profile_type, ms_duration, neuron_tensorboard_plugin_dir, traced_only, delete_working")
        if profile_type not in ("operator", "trace"):
            raise ValueError(f"profile_type {profile_type!r} does not exist; choose operator or trace")
        self._type, self._ms, self._folder = profile_type, ms_duration, neuron_tensorboard_plugin_dir
        self._traced_only = traced_only
        self._programs = []

    def saw(self, program):
        if program not in self._programs and (program.workflow == "trace" or not self._traced_only):
            self._programs.append(program)

    def start(self):
        device.watchers.append(self)

    def stop(self):
        if self not in device.watchers:
            raise ValueError("profiler.profile: stop() without start(); call start() before the steps, or write with profiler.profile(...):")
        device.watchers.remove(self)
        if not self._programs:
            remark("the profiler saw nothing: no program ran until its end; a step on the XLA device runs at xm.mark_step(), which belongs inside")
        # The log folder of TensorBoard is the one that holds plugins/neuron.
        root = self._folder.replace("\\", "/").rstrip("/").removesuffix("plugins/neuron").rstrip("/") or "."
        for n, program in enumerate(self._programs):
            if self._type == "trace":
                # A folder of its own for each program: their runs have one name.
                folder = f"{root}/{n + 1}" if n else root
                program.run("profile", f"--output={folder}", "--export=tensorboard", "--profile-type=trace", *([f"--ms-duration={self._ms}"] if self._ms else []), on_line=say)
                continue
            # The name of a run has a digest of the program's.
            with program.called(sum(earlier.name == program.name for earlier in self._programs[:n])):
                program.run("profile", f"--output={root}", "--export=tensorboard", "--run-date=now", "--verbosity=1", "--json", on_line=say)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()


__getattr__ = attribute_of("torch_neuronx.experimental.profiler", __all__)
