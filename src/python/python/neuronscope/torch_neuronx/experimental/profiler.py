"""torch_neuronx.experimental.profiler: records what runs on the simulated device, as the log directory of TensorBoard."""

from __future__ import annotations

import os

from ... import device
from ...calls import say
from ...missing import attribute_of, remark

__all__ = ["profile"]


class profile:
    """``with profile(port=9012, profile_type="operator", ms_duration=10000): ...``

    The run folders are written to ``logs/plugins/neuron/`` when the block ends. ``profile_type`` is ``operator``, one execution of each
    program operator by operator, or ``trace`` (also called ``system``), host and NeuronCores over ``ms_duration``. With ``target`` or
    ``output_dir`` a trace of Perfetto for each program is written to ``output_dir`` instead.
    """

    def __init__(self, port=9012, ms_duration=None, neuron_tensorboard_plugin_dir="logs/plugins/neuron", profile_type="operator", auto_start=True, delete_working=True, traced_only=False, target=None, output_dir=None, **options):
        if options:
            raise TypeError(f"profiler.profile has no argument {', '.join(options)}; it has port, ms_duration, neuron_tensorboard_plugin_dir, profile_type, auto_start, delete_working, traced_only, target, output_dir")
        if profile_type not in ("operator", "trace", "system"):
            raise ValueError(f"profile_type {profile_type!r} does not exist; choose operator, trace or system")
        if target not in (None, "neuron_profile", "neuron_profile_perfetto", "tensorboard"):
            raise ValueError(f"target {target!r} does not exist; choose neuron_profile_perfetto, or leave it out for TensorBoard")
        self._type, self._ms, self._folder = profile_type, ms_duration, neuron_tensorboard_plugin_dir
        is_perfetto = target != "tensorboard" and (target or output_dir)
        self._traces = (output_dir or ".") if is_perfetto else None
        self._is_profile = target == "neuron_profile"
        self._traced_only, self._auto_start = traced_only, auto_start
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
        if self._traces is not None:
            return self._write_traces()
        for n, program in enumerate(self._programs):
            if self._type != "operator":
                # A folder of its own for each program: their runs have one name.
                folder = f"{root}/{n + 1}" if n else root
                program.run("profile", f"--output={folder}", "--export=tensorboard", "--profile-type=trace", *([f"--ms-duration={self._ms}"] if self._ms else []), on_line=say)
                continue
            # The name of a run has a digest of the program's.
            with program.called(sum(earlier.name == program.name for earlier in self._programs[:n])):
                program.run("profile", f"--output={root}", "--export=tensorboard", "--run-date=now", "--verbosity=1", "--json", on_line=say)

    def _write_traces(self):
        """A trace of Perfetto for each program."""
        os.makedirs(self._traces, exist_ok=True)
        if self._is_profile:
            remark("target='neuron_profile': files of neuron-profile (NTFF) come from a device alone; the same timeline is written as a trace of Perfetto")
        kind = [] if self._type == "operator" else ["--profile-type=trace", *([f"--ms-duration={self._ms}"] if self._ms else [])]
        for n, program in enumerate(self._programs):
            path = os.path.join(self._traces, f"{self._type}_{n + 1}.pftrace")
            program.run("profile", f"--output={path}", "--export=perfetto", *kind)
            remark(f"the timeline of {program.name} is {path}: open it at ui.perfetto.dev, or drop it on the page of neuronscope serve")

    def __enter__(self):
        if self._auto_start:
            self.start()
        return self

    def __exit__(self, *_):
        if self in device.watchers:
            self.stop()
        elif not self._auto_start:
            remark("the profiler was never started: auto_start=False waits for start()")


__getattr__ = attribute_of("torch_neuronx.experimental.profiler", __all__)
