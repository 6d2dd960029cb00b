"""Runs a script with the SDK's modules under their real names, and with the clock of the simulated device."""

from __future__ import annotations

import argparse
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import runpy
import sys
import traceback
from multiprocessing import spawn

from . import _core, clock, missing, native
from ._core import Error, UsageError
from .calls import with_page

# Modules of the SDK, and where they are here.
_MODULES = {name: f"neuronscope.{name.replace('.', '_')}" for name in ("neuronperf", "torch_neuronx", "torch_xla", "optimum.neuron")}


def _of_sdk(name, names=_MODULES):
    """The module of the SDK that a module is or belongs to, and the rest of its name."""
    found = next((of for of in names if f"{name}.".startswith(f"{of}.")), None)
    return found, name[len(found or "") + 1 :]


class _Loader(importlib.abc.Loader):
    """Gives a module that is there already, which is not executed again."""

    def __init__(self, module):
        self._module, self._spec = module, module.__spec__

    def create_module(self, spec):
        return self._module

    def exec_module(self, module):
        # The module keeps its own name and its own spec.
        module.__spec__ = self._spec


class _Finder(importlib.abc.MetaPathFinder):
    """Finds the SDK's modules here, and no other package of their names."""

    def find_spec(self, fullname, path=None, target=None):
        root, rest = _of_sdk(fullname)
        # importlib.util.find_spec asks whether a package is there, which packages do of others; an import asks for it.
        is_question = sys._getframe(2).f_code.co_name == "find_spec"
        if root is None:
            said = missing.elsewhere(fullname)
            if said is not None and not is_question:
                raise missing.MissingModule(said, name=fullname)
            if fullname == "optimum" and not is_question and importlib.machinery.PathFinder.find_spec(fullname) is None:
                # The package around optimum.neuron.
                return importlib.machinery.ModuleSpec(fullname, None, is_package=True)
            return None
        real = f"{_MODULES[root]}.{rest}" if rest else _MODULES[root]
        try:
            found = importlib.util.find_spec(real)
        except ModuleNotFoundError:
            found = None
        if found is None:
            raise missing.MissingModule(_sentence(fullname), name=fullname)
        module = importlib.import_module(real)
        return importlib.util.spec_from_loader(fullname, _Loader(module), is_package=hasattr(module, "__path__"))


def _sentence(fullname):
    """What is said of a module that is not here: what the one around it has."""
    around, _, last = fullname.rpartition(".")
    root, rest = _of_sdk(around)
    return missing.sentence(around, last, _names(".".join(filter(None, (_MODULES[root], rest)))))


def _names(module):
    return sorted(getattr(importlib.import_module(module), "__all__", ()))


def install(chosen):
    """Puts the modules in front of the path of this process, and of those that it spawns, and gives them the clock."""
    from . import device

    # Threads of torch that wait for each other would take the processor from who works, and count as work.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    device.settings.values, device.settings.instance = chosen["values"], chosen["instance"]
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
    clock.current = clock.Clock(chosen["clock"])
    clock.current.install()
    data_of = spawn.get_preparation_data
    # A process that is spawned reads this before it imports the script.
    spawn.get_preparation_data = lambda name: {"neuronscope": _Child(chosen), **data_of(name)}


class _Child:
    def __init__(self, chosen):
        self._chosen = chosen

    def __reduce__(self):
        return install, (self._chosen,)


def _arguments(args):
    parser = argparse.ArgumentParser(
        prog="python -m neuronscope",
        description="Run a script of the Neuron SDK on the simulated device: neuronperf, torch_neuronx and torch_xla are there. Or, in place of the script, a command: python -m neuronscope bench --help.",
    )
    parser.add_argument("--clock", choices=clock.MODES, default="both", help="what the script's clock counts: the script's processor time and device time (both), device time and sleeps only (simulated), or the time of this machine (measured)")
    parser.add_argument("--values", choices=("device", "cpu"), default="device", help="how results are computed: with the casts of a NeuronCore, or by torch itself")
    parser.add_argument("--instance", default="trn1.2xlarge", help="the instance that is simulated")
    parser.add_argument("--traceback", action="store_true", help="show where in the packages an error was raised, not only the line of the script")
    parser.add_argument("script", help="the script")
    parser.add_argument("args", nargs=argparse.REMAINDER, help="its arguments")
    return parser.parse_args(args)


_SAID = {
    "both": "the script's processor time and simulated device time",
    "simulated": "simulated device time only",
    "measured": "the time of this machine, without the device's",
}


def main(args=None):
    args = list(sys.argv[1:] if args is None else args)
    if args[:1] == ["torchrun"]:
        said = _torchrun(args)
        if said is not None:
            print(f"neuronscope: {said}", file=sys.stderr)
            return 2
    if args and not args[0].startswith("-") and not args[0].endswith(".py") and not os.path.isfile(args[0]):
        return _command(args)
    chosen = _arguments(args)
    if not os.path.isfile(chosen.script):
        print(f"neuronscope: {chosen.script}: there is no such script", file=sys.stderr)
        return 2
    print(f"neuronscope: {chosen.script} on a simulated {chosen.instance}; the clock is {chosen.clock}: {_SAID[chosen.clock]}", file=sys.stderr)
    install({"clock": chosen.clock, "values": chosen.values, "instance": chosen.instance})
    with open(chosen.script, "rb") as source:
        if native.is_named_in(source.read()):
            native.install()
    sys.argv = [chosen.script, *chosen.args]
    sys.path[0] = os.path.dirname(os.path.abspath(chosen.script))
    try:
        runpy.run_path(chosen.script, run_name="__main__")
    except Exception as error:  # noqa: BLE001 (whatever the script raises)
        frames = traceback.extract_tb(error.__traceback__)
        if chosen.traceback or not (_is_said(error) or _is_of_torchrun(error) or any(missing.is_ours(frame.filename) for frame in frames[1:])):
            # Frames of this package are none of the script's.
            told = traceback.TracebackException.from_exception(error)
            told.stack = traceback.StackSummary.from_list([frame for frame in told.stack if not (missing.is_ours(frame.filename) or frame.filename.startswith("<frozen"))])
            print("".join(told.format()), end="", file=sys.stderr)
        else:
            of_script = [frame for frame in frames if missing.is_of_script(frame.filename)]
            line = f"{of_script[-1].filename}:{of_script[-1].lineno}" if of_script else chosen.script
            print(f"neuronscope: {line}: {_words(error, frames)}", file=sys.stderr)
        return 1
    return 0


# What torchrun tells each process, for the only one that there is.
_ONE_PROCESS = {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "1", "LOCAL_WORLD_SIZE": "1", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "0"}


def _torchrun(args):
    """Takes ``torchrun`` and its flags away from a script; a sentence if they ask for several processes."""
    del args[0]
    while args and args[0].startswith("-"):
        flag, is_given, value = args.pop(0).lstrip("-").replace("-", "_").partition("=")
        if not is_given and flag != "standalone" and args:
            value = args.pop(0)
        if flag in ("nproc_per_node", "nnodes") and value != "1":
            return f"torchrun with --{flag}={value}: scripts run on one simulated core; write --{flag}=1, and ask neuronscope generate --tp {value} what a language model takes on several cores"
    os.environ.update(_ONE_PROCESS)
    return None


def _is_said(error):
    """Whether the message of an exception is written for whoever runs the script."""
    return isinstance(error, (ImportError, missing.Missing, Error, UsageError))


def _is_of_torchrun(error):
    return type(error) is KeyError and error.args[0] in _ONE_PROCESS


def console():
    """The command ``neuronscope`` of the wheel."""
    args = sys.argv[1:]
    return main(args[1:]) if args[:1] == ["run"] else _command(args)


def _command(args):
    """A command of the command line, in place of this process."""
    import signal

    # Python's own handler would wait for the command to end.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.stdout.flush()
    code = _core.main(["neuronscope", *with_page(args)])
    if args[0] == "experiment" and code == 0:
        from .gpu_experiments import measure

        measure(args[1:])
    return code


def _words(error, frames):
    if type(error) is ModuleNotFoundError and error.name:
        said = missing.elsewhere(error.name) or missing.NOT_INSTALLED.get(error.name) or (_sentence(error.name) if _of_sdk(error.name)[0] else None)
        if said is not None:
            return said
        return f"{error}; install it with pip install {error.name.partition('.')[0]}"
    # from MODULE import NAME: Python has its own words for it.
    module = getattr(error, "name", None) or ""
    if type(error) is ImportError and module.startswith("neuronscope."):
        wanted = str(error).split("'")[1]
        root, rest = _of_sdk(module, _MODULES.values())
        asked = next((name for name, real in _MODULES.items() if real == root), module)
        return missing.sentence(".".join(filter(None, (asked, rest))), wanted, _names(module))
    if _is_of_torchrun(error):
        return f"{error.args[0]} is set by torchrun: python -m neuronscope torchrun --nproc_per_node=1 SCRIPT"
    if _is_said(error) or missing.is_ours(frames[-1].filename):
        return str(error)
    # The rest of the message of an operator is a dump of its dispatcher.
    first = str(error).strip().partition("\n")[0]
    return f"{type(error).__name__}: {first or 'no message'} (python -m neuronscope --traceback says where)"
