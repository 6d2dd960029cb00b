"""A graph of operators as an exported program. torch.export would go through it three times; it is one graph already, so once is enough."""

from __future__ import annotations

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.export import graph_signature as signature
from torch.export.exported_program import ExportedProgram, ModuleCallEntry, ModuleCallSignature
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils import _pytree

from .fused import rules


def is_flat(module):
    """Whether a graph has operators only, and calls no module."""
    return all(node.op != "call_module" for node in module.graph.nodes)


def exported(module, inputs):
    """The exported program of a graph whose weights are buffers and whose result is a tuple, in the core operators and without writes."""
    state = {node.target: getattr(module, node.target) for node in module.graph.nodes if node.op == "get_attr"}
    with torch.no_grad(), FakeTensorMode():
        # Shapes without numbers, each with memory of its own.
        given = [torch.empty_strided(x.shape, x.stride(), dtype=x.dtype) for x in (*state.values(), *inputs)]
        run = torch.func.functionalize(lambda *values: _run(module.graph, list(state), values))
        traced = make_fx(run, decomposition_table=rules(), tracing_mode="real")(*given)
    names = [*(f"b_{name}" for name in state), *(f"in{n}" for n, _ in enumerate(inputs))]
    return _program(traced, names, state, inputs)


def _run(graph, state, values):
    """Calls the operators of a graph with the values of its weights and inputs."""
    known, weights, inputs = {}, dict(zip(state, values)), iter(values[len(state) :])
    for node in graph.nodes:
        if node.op == "placeholder":
            known[node] = next(inputs)
        elif node.op == "get_attr":
            known[node] = weights[node.target]
        else:
            args, kwargs = torch.fx.node.map_arg((node.args, node.kwargs), known.__getitem__)
            if node.op == "output":
                return args[0]
            # What stands for other operators, of which some write.
            rule = getattr(node.target, "py_kernels", {}).get(torch._C.DispatchKey.CompositeImplicitAutograd)
            known[node] = (rule or node.target)(*args, **kwargs)
    raise AssertionError("a graph ends with its output")


def _program(traced, names, state, inputs):
    graph = traced.graph
    puts = [node for node in graph.nodes if node.op == "placeholder"]
    writes = _writes(graph, puts)
    end = graph.output_node()
    results = end.args[0]
    end.args = ((*writes.values(), *results),)
    graph.eliminate_dead_code()
    for node, name in zip(puts, names):
        node.name = node.target = name
    named = lambda node: signature.TensorArgument(name=node.name)  # noqa: E731
    weights, given = puts[: len(state)], puts[len(state) :]
    of = dict(zip(weights, state))
    ins = [signature.InputSpec(signature.InputKind.BUFFER, named(node), name, True) for node, name in of.items()]
    ins += [signature.InputSpec(signature.InputKind.USER_INPUT, named(node), None) for node in given]
    outs = [
        signature.OutputSpec(signature.OutputKind.BUFFER_MUTATION if put in of else signature.OutputKind.USER_INPUT_MUTATION, named(value), of.get(put, put.name))
        for put, value in writes.items()
    ]
    outs += [signature.OutputSpec(signature.OutputKind.USER_OUTPUT, named(node), None) for node in results]
    specs = _pytree.tree_structure((tuple(inputs), {})), _pytree.tree_structure(tuple(results))
    calls = ModuleCallSignature([named(node) for node in given], [named(node) for node in results], *specs)
    return ExportedProgram(traced, graph, signature.ExportGraphSignature(ins, outs), state, {}, [ModuleCallEntry("", calls)], (tuple(inputs), {}))


def _writes(graph, puts):
    """The new values of weights and inputs that are written to, which the graph copies there at its end."""
    aten, found, taken = torch.ops.aten, {}, set(puts)
    for node in list(graph.nodes):
        if node.target is not aten.copy_.default:
            continue
        put, value = node.args[:2]
        if value.target is aten.copy.default and _is_like(value.args[1], put):
            value = value.args[1]
        if value in taken:
            # A program knows whose new value one is by its name.
            with graph.inserting_before(node):
                value, was = graph.call_function(aten.clone.default, (value,)), value
            value.meta["val"] = was.meta["val"]
        taken.add(value)
        found[put] = value
        node.replace_all_uses_with(value)
        graph.erase_node(node)
    return found


def _is_like(node, other):
    a, b = node.meta["val"], other.meta["val"]
    return a.shape == b.shape and a.dtype == b.dtype
