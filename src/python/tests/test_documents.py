"""The blocks of docs/python.md run in their order."""

import re

import pytest

from conftest import ROOT

BLOCKS = re.findall(r"```python( torch)?\n(.*?)```", (ROOT / "docs/python.md").read_text(encoding="utf-8"), re.DOTALL)


def test_the_blocks_of_the_page_run(capsys):
    names = {}
    for needs_torch, block in BLOCKS:
        if needs_torch and not _has_torch():
            continue
        exec(compile(block, "docs/python.md", "exec"), names)
    assert "n-modles" in capsys.readouterr().out
    assert len(BLOCKS) >= 5


def _has_torch():
    try:
        import torch  # noqa: F401
    except ImportError:
        return False
    return True


def test_the_examples_of_the_functions_run():
    """Each function that is a command has an example in its help."""
    import doctest

    from neuronscope import api

    found = doctest.testmod(api)
    assert found.failed == 0 and found.attempted > 0


def test_every_option_of_the_stubs_exists():
    """A name in the stub of benchmark is a flag of the command."""
    import ast

    import neuronscope

    tree = ast.parse((ROOT / "src/python/python/neuronscope/__init__.pyi").read_text(encoding="utf-8"))
    for function in (node for node in tree.body if isinstance(node, ast.FunctionDef)):
        for argument in function.args.kwonlyargs:
            if argument.arg.endswith("_fn") or argument.arg == "verbosity":
                continue
            with pytest.raises((neuronscope.UsageError, neuronscope.Error)) as raised:
                getattr(neuronscope, function.name)("nn", **{argument.arg: "@"})
            assert "unexpected argument" not in str(raised.value), (function.name, argument.arg)
