"""Python functions around a call of a model. They are measured on this machine, and the simulation charges the time."""

from __future__ import annotations

import ast
import inspect

from .clock import measured

# Calls that are measured, after one that is not.
_CALLS = 20
_FLAGS = {"preprocess_fn": "preprocess", "postprocess_fn": "postprocess", "env_setup_fn": "env_setup_ms", "setup_fn": "setup_ms"}
NAMES = tuple(_FLAGS)


def flags_of(work, inputs=None, output=None):
    """The flags for functions by their NeuronPerf names.

    Text is passed on as an expression. A function is measured on the arrays of ``inputs`` or on ``output``; without arrays its source is
    passed on, if it is one expression.
    """
    flags = {}
    for name, function in work.items():
        flag = _FLAGS[name]
        if not callable(function):
            flags[flag] = function
        elif name == "env_setup_fn":
            flags[flag] = f"{_once_ms(function, 0, {}):.6f}"
        elif name == "setup_fn":
            flags[flag] = f"{_once_ms(function, 0, {}, None):.6f}"
        else:
            arguments = _first(inputs) if name == "preprocess_fn" else (output,)
            if any(one is None or isinstance(one, str) for one in arguments):
                flags[flag] = _expression(name, function)
            else:
                flags[flag] = f"{_median_ms(function, arguments):.6f}ms"
    return flags


def _first(inputs):
    first = inputs[0] if isinstance(inputs, list) else inputs
    return first if isinstance(first, tuple) else (first,)


def _once_ms(function, *arguments):
    began = measured()
    function(*arguments)
    return (measured() - began) * 1e3


def _median_ms(function, arguments):
    function(*arguments)
    return sorted(_once_ms(function, *arguments) for _ in range(_CALLS))[_CALLS // 2]


def _expression(name, function):
    """The function as ``lambda x: ...``."""
    try:
        tree = ast.parse("".join(inspect.findsource(function)[0]))
    except (OSError, TypeError, SyntaxError):
        tree = ast.Module([], [])
    for node in ast.walk(tree):
        if isinstance(node, ast.Lambda) and _is_of(node, function):
            return ast.unparse(node)
        if isinstance(node, ast.FunctionDef) and node.name == function.__name__ and node.lineno == function.__code__.co_firstlineno and isinstance(node.body[-1], ast.Return) and len(node.body) == 1:
            return f"lambda {ast.unparse(node.args)}: {ast.unparse(node.body[0].value)}"
    raise TypeError(f"{name} has no array to be measured on, and is not one expression; give arrays, or write an expression or a time as text")


def _is_of(node, function):
    """Whether a lambda of the source is a function: a line may have several."""
    facts = lambda code: (code.co_varnames, {*code.co_names, *code.co_freevars}, code.co_consts)  # noqa: E731
    made = compile(ast.Expression(node), "", "eval").co_consts[0]
    return node.lineno == function.__code__.co_firstlineno and facts(made) == facts(function.__code__)
