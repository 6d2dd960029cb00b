"""The command line of the recorder: FILE.py[::FUNCTION], shapes and settings in, the instruction list out."""

import argparse
import ast
import contextlib
import faulthandler
import json
import re
import signal
import sys
import threading

from . import values
from .dtypes import dtype as as_dtype
from .errors import KernelError
from .run import record
from .trace import Budget, Trace


def kind(text):
    """The type of a name as people write it: bf16, BF16, torch.bfloat16, nl.bfloat16."""
    found = as_dtype(text.strip().split(".")[-1].lower())
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no type; there are f32, bf16, f16, fp8_e4m3, fp8_e5m2, i32, ...")
    return found


def sizes(text):
    """Shapes as `a=4096x2048:f32,b=128`: triples (name or None, sizes, type or None). Tuples and dictionaries of Python are read too."""
    found, plain = [], re.sub("['\"]", "", text).strip().strip("{}")
    # 256,256 256,512 are two shapes.
    if re.fullmatch(r"\d+(,\d+)+(\s+\d+(,\d+)+)*", plain) and " " in plain:
        plain = ",".join(one.replace(",", "x") for one in plain.split())
    plain = re.sub(r"[(\[]\s*(\d+(?:\s*,\s*\d+)*)\s*,?\s*[)\]]", lambda one: "<" + re.sub(r"\s*,\s*", "x", one[1]) + ">", plain)
    plain = re.sub(r"(?<=\d)\s*[xX*\u00d7]\s*(?=\d)", "x", re.sub(r"\s*([=:])\s*", r"\1", plain))
    for one in filter(None, re.split(r"[,;\s]+", plain.strip("()[]"))):
        match = re.fullmatch(r"(?:([A-Za-z_]\w*)[=:])?(?:([A-Za-z][\w.]*)(?=<))?<?(\d+(?:x\d+)*)>?(?:[:x]([A-Za-z][\w.]*))?", one)
        if not match:
            raise argparse.ArgumentTypeError(f"{one.replace('<', '(').replace('>', ')')!r} is no shape; write NAME=4096x2048:f32 or 4096x2048")
        name, before, counts, after = match.groups()
        found.append((name, tuple(int(count) for count in counts.split("x")), kind(before or after) if before or after else None))
    return found


def programs(text):
    """A grid as `2`, `4x8` or `(4, 8)`."""
    counts = re.split(r"\s*[xX*,]\s*", text.strip().strip("()[]").rstrip(", "))
    if not all(count.isdigit() and int(count) for count in counts):
        raise argparse.ArgumentTypeError(f"{text!r} is no grid; write 2, or 4x8")
    return [int(count) for count in counts]


def setting(text):
    """A setting as NAME=VALUE; a value that is no Python literal is a string."""
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise argparse.ArgumentTypeError(f"{text!r} is no setting; write NAME=VALUE")
    try:
        return name, ast.literal_eval(value)
    except (SyntaxError, ValueError):
        return name, as_dtype(value) or value


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="nki_recorder", description="Prints the instruction list of an NKI kernel.")
    parser.add_argument("file", metavar="FILE.py[::FUNCTION]")
    parser.add_argument("--shapes", type=sizes, help='the tensors of the call: "a=4096x2048:f32,b=128x512"; without it the file\'s own call counts')
    parser.add_argument("--dtype", type=kind, default="float32", help="the type of tensors whose shape names none")
    parser.add_argument("--chip", help="trn1, inf2, trn2 or trn3, or an instance; without it the kernel's platform_target, else trn2")
    parser.add_argument("--lnc", type=int, default=1, help="cores that a logical core has")
    parser.add_argument("--grid", type=programs, help="programs of the launch: 2, or 4x8")
    parser.add_argument("--set", dest="settings", type=setting, action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--turns", type=int, default=1, help="turns of loops whose number is known on the device only")
    parser.add_argument("--max-instructions", type=int, default=Budget().instructions)
    parser.add_argument("--max-turns", type=int, default=Budget().turns)
    parser.add_argument("--max-seconds", type=float, default=Budget().seconds)
    parser.add_argument("--max-memory", type=int, default=8192, help="MiB, where the system can limit them")
    parser.add_argument("--output", "-o", help="a file for the list, instead of stdout")
    parser.add_argument("--check", metavar="EXPRESSION", help='compare values with a NumPy expression of the arguments: "a.T @ b" (needs NumPy)')
    parser.add_argument("--each", action="store_true", help="read settings from stdin, a JSON object or an array of NAME=VALUE a line, and print a list for each, a line each")
    parser.add_argument("--source", action="store_true", help="read the source from stdin (with --each its first line, as JSON); FILE.py is its name")
    options = parser.parse_args(arguments)
    path, _, function = options.file.partition("::")
    budget = Budget(options.max_instructions, options.max_turns, options.max_seconds)
    # With settings of each list, the source is the first line, as a string of JSON.
    source = None if not options.source else json.loads(sys.stdin.readline()) if options.each else sys.stdin.read()

    def one(settings):
        constants = {}
        with _Clock(options.max_seconds):
            document = record(
                path,
                source=source,
                function=function or None,
                shapes=options.shapes,
                dtype=options.dtype,
                chip=options.chip,
                lnc=options.lnc,
                settings={**dict(options.settings), **settings},
                grid=options.grid,
                budget=budget,
                turns=options.turns,
                constants=constants,
            )
        if options.check and document["builds"]:
            try:
                document["check"] = values.check(document, options.check, constants)
            except KernelError as error:
                place = getattr(error, "place", None) or (document["kernel"]["file"], document["kernel"]["line"])
                document["check"] = {"expression": options.check, "error": error.message, "fix": error.fix, "file": place[0], "line": place[1]}
            except OSError as error:
                document["check"] = {"expression": options.check, "error": f"The file cannot be read: {error.strerror}.", "fix": "name one that NumPy wrote (.npz)", "file": 0, "line": 0}
            except Exception as error:  # noqa: BLE001
                document["check"] = {"expression": options.check, "error": f"The expression fails: {type(error).__name__}: {error}.", "fix": "correct the expression", "file": 0, "line": 0}
        return dumps(document)

    _limit(options.max_memory)
    with contextlib.ExitStack() as files:
        try:
            out = files.enter_context(open(options.output, "w", encoding="utf-8")) if options.output else sys.stdout
            for settings in map(json.loads, sys.stdin) if options.each else ({},):
                out.write(one(settings if isinstance(settings, dict) else dict(map(setting, settings))))
                out.flush()
        except (OSError, ValueError) as error:
            print(f"error: {error}", file=sys.stderr)
            return 1
    return 0


def dumps(document):
    """The list as text, the same bytes everywhere."""
    return json.dumps(document, separators=(",", ":"), ensure_ascii=False, allow_nan=False) + "\n"


def _limit(mebibytes):
    """Memory that a file may use; beyond it Python raises MemoryError."""
    try:
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_AS)
        wanted = mebibytes << 20
        resource.setrlimit(resource.RLIMIT_AS, (wanted if most == resource.RLIM_INFINITY else min(wanted, most), most))
    except (ImportError, OSError, ValueError):
        pass


class _Clock:
    """Interrupts a file that does not end and calls nothing of nki. Pyodide has no threads: there the page ends the worker."""

    def __init__(self, seconds):
        self.seconds = seconds + 1

    def __enter__(self):
        import _thread

        def ring():
            if Trace.now is not None:
                Trace.now.late = True
                _thread.interrupt_main()
            else:
                # A busy machine: the file has not begun.
                start(0.2)

        def start(seconds):
            self.timer = threading.Timer(seconds, ring)
            self.timer.daemon = True
            self.timer.start()

        try:
            # Who begins in the background ignores Ctrl-C, and with it this clock.
            if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
                signal.signal(signal.SIGINT, signal.default_int_handler)
            start(self.seconds)
            # What Python cannot interrupt (10**10**10) ends the process.
            faulthandler.dump_traceback_later(self.seconds + 8, exit=True)
        except (RuntimeError, OSError, ValueError, AttributeError):
            self.timer = None

    def __exit__(self, *_):
        if self.timer:
            self.timer.cancel()
            faulthandler.cancel_dump_traceback_later()


if __name__ == "__main__":
    sys.exit(main())
