"""The blocks of documents run in their order, and the stubs say what is there."""

import ast
import inspect
import re
import shutil

import pytest

from conftest import ROOT, TRACES

PACKAGE = ROOT / "src/python/python/neuronscope"


def run_blocks(document):
    """Runs the blocks of Python of a document; returns how many there are."""
    names, blocks = {}, re.findall(r"```python( torch)?\n(.*?)```", (ROOT / document).read_text(encoding="utf-8"), re.DOTALL)
    for needs_torch, block in blocks:
        if not needs_torch or _has_torch():
            exec(compile(block, document, "exec"), names)
    return len(blocks)


def test_the_blocks_of_the_page_run(capsys):
    assert run_blocks("docs/python.md") >= 5
    assert "n-modles" in capsys.readouterr().out


@pytest.mark.parametrize("document", ["README.md", "src/python/README.md"])
def test_the_blocks_of_the_readmes_run(document, capsys):
    shutil.copy(TRACES / "tracelens_bert_small_mi300.json.gz", "trace.json.gz")
    assert run_blocks(document) == 1
    assert float(capsys.readouterr().out) > 0


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


def stub(name):
    return ast.parse((PACKAGE / name).read_text(encoding="utf-8"))


def functions_of(tree):
    return [node for node in tree.body if isinstance(node, ast.FunctionDef)]


def test_the_stubs_have_the_functions_that_the_package_has():
    """Each function is in the stub with its own parameters, and in the table of docs/python.md."""
    import neuronscope

    page = (ROOT / "docs/python.md").read_text(encoding="utf-8")
    found = {function.name: function for function in functions_of(stub("__init__.pyi"))}
    assert {*found, "bench", "command"} == {name for name in neuronscope.__all__ if inspect.isfunction(getattr(neuronscope, name))}
    for name, function in found.items():
        own = [name for name, parameter in inspect.signature(getattr(neuronscope, name)).parameters.items() if parameter.kind == parameter.POSITIONAL_OR_KEYWORD]
        assert [argument.arg for argument in function.args.args] == own, name
        assert f"`{name}(" in page, name


def test_the_stub_of_the_library_has_what_the_library_has():
    from neuronscope import _core

    of_names = lambda names: {name for name in names if not name.startswith("_") or name in ("__arrow_c_stream__", "__array_interface__", "__version__")}  # noqa: E731
    tree = stub("_core.pyi")
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    assert {*classes, *functions, "__version__"} == of_names(vars(_core))
    for name in ("Shell", "Columns", "Numbers"):
        assert of_names(node.name for node in classes[name].body if isinstance(node, ast.FunctionDef)) == of_names(vars(getattr(_core, name))), name
