"""The recorder of NKI kernels, loaded as the command line and the page load it: as a folder of its own, without the package around it."""

import importlib.util
import json
import math
import os
import pathlib
import random
import re
import subprocess
import sys
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
FOLDER = ROOT / "src/python/python/neuronscope/nki_recorder"
KERNELS = ROOT / "tests/nki"
MATMUL = KERNELS / "matmul/matrix_multiplication_nki_kernels.py"


def _load():
    spec = importlib.util.spec_from_file_location("nki_recorder", FOLDER / "__init__.py", submodule_search_locations=[str(FOLDER)])
    module = sys.modules["nki_recorder"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


recorder = _load()
main = importlib.import_module("nki_recorder.__main__")
Budget = importlib.import_module("nki_recorder.trace").Budget


def record(path, function=None, shapes=None, settings=(), **how):
    if "\n" in str(path):
        how["source"], path = path, "kernel.py"
    shapes = main.sizes(shapes) if shapes is not None else None
    return recorder.record(str(path), function=function, shapes=shapes, settings=dict(settings), **how)


def rows(document):
    """Instructions as (op, args, {role: (memory, tensor, start, pattern)}, scope)."""
    code, at, found = document["instructions"], 0, []
    memory, patterns = document["tensors"]["memory"], document["patterns"]
    while at < len(code):
        form, _, scope = document["forms"][code[at]], code[at + 1], code[at + 2]
        operands, at = {}, at + 3
        for role in form["operands"]:
            tensor, start, pattern = code[at : at + 3]
            operands[role] = (memory[tensor], tensor, start, patterns[pattern])
            at += 3
        found.append((form["op"], form["args"], operands, scope))
    assert len(found) == document["count"]
    return found


def hbm_bytes(document):
    """Bytes that are read from HBM and written to it."""
    read = wrote = 0
    kinds, of = document["dtypes"], document["tensors"]["dtype"]
    for op, _, operands, _ in rows(document):
        for role, (memory, tensor, _, pattern) in operands.items():
            if op.startswith("dma") and memory in "iho":
                size = kinds[of[tensor]][1]
                for count in pattern[1::2]:
                    size *= count
                if role == "dst":
                    wrote += size
                else:
                    read += size
    return read, wrote


HEAD = """import nki
import nki.isa as nisa
import nki.language as nl
@nki.jit
def kernel(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    t = nl.ndarray((128, 512), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=t, src=x[0:128, 0:512])
"""
TAIL = """
    nisa.dma_copy(dst=out[0:128, 0:512], src=t)
    return out
"""


def second(body, **how):
    """A kernel of the present dialect; the body begins at line 9."""
    return record(HEAD + "\n".join(f"    {line}" for line in body.splitlines()) + TAIL, shapes="128x512", **how)


FIRST_HEAD = """import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl
@nki.jit
def kernel(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    t = nl.load(x[0:128, 0:512])
"""


def first(body, shapes="128x512", **how):
    """A kernel of the first dialect; the body begins at line 8."""
    tail = "\n    nl.store(out[0:128, 0:512], t)\n    return out\n"
    return record(FIRST_HEAD + "\n".join(f"    {line}" for line in body.splitlines()) + tail, shapes=shapes, **how)


ACC = "u = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum)\nnisa.nc_matmul(u, t[:, 0:128], t)\n"
ERRORS = [
    # body, kind, line, part of the sentence, part of the fix, code
    ("nisa.dma_copy(dst=t[:, 0:256], src=x[0:128, 0:512])", "size", 9, "128x256 elements (32768), src has 128x512 (65536)", "same number", ""),
    ("nisa.tensor_copy(t[:, 0:256], t)", "size", 9, "src of nisa.tensor_copy has 128x512", "same size", ""),
    ("nisa.tensor_add(t, t, t)", "name", 9, "nki.isa has no 'tensor_add'", "nisa.tensor_tensor with op=nl.add", ""),
    ("nisa.exp(t, t)", "name", 9, "nki.isa has no 'exp'", "nisa.activation with op=nl.exp", ""),
    ("nisa.nc_matmull(t, t)", "name", 9, "nki.isa has no 'nc_matmull'", "nki.isa.nc_matmul", ""),
    ("op = nl.gelu_tanh", "name", 9, "nki.language has no 'gelu_tanh'", "nki.language.gelu_apprx_tanh", ""),
    ("from nki.language import silux", "name", 9, "nki.language has no 'silux'", "nki.language.silu", ""),
    ("i = nl.arange(128)", "name", 9, "nki.language has no 'arange'", "nl.ds", ""),
    ("e = nisa.engine.pool", "name", 9, "nisa.engine has no 'pool'", "gpsimd", ""),
    ("t.broadcast_too((128, 512))", "name", 9, "a tensor has no 'broadcast_too'", "broadcast_to", ""),
    ("u = nl.ndarray((256, 512), dtype=nl.float32, buffer=nl.sbuf)", "partition", 9, "256 partitions; the chip has 128", "steps of 128", ""),
    ("nisa.tensor_copy(t[16:32, :], t[16:32, :])", "partition", 9, "partitions 16 to 31; 16 partitions must start at 0, 32, 64 or 96", "nisa.dma_copy", ""),
    ("nisa.tensor_copy(t[32:96, :], t[0:64, :])", "partition", 9, "64 partitions must start at 0 or 64", "", ""),
    ("nisa.dma_copy(dst=t, src=x[0:128, 100:612])", "bounds", 9, "Elements 100 to 611 of dimension 1 are used, which has 512", "min(size", ""),
    ("y = t[0:128, 512]", "bounds", 9, "Index 512 is out of dimension 1, which has 512", "0 to 511", ""),
    ("u = t.ap([[512, 128], [1, 512]], offset=1)", "bounds", 9, "reaches element 512 of a partition that has 512", "within the tile", ""),
    ("u = t.reshape((128, 500))", "reshape", 9, "(65536 elements) cannot become 128x500 (64000 elements)", "as many elements", ""),
    ("u = t.reshape((64, 1024))", "reshape", 9, "its 128 partitions must stay", "free dimensions", ""),
    ("u = t.permute((1, 0))", "reshape", 9, "cannot move the partition", "nc_transpose", ""),
    (
        "u = nl.ndarray((128, 1), dtype=nl.float32)\nnisa.memset(u, 1)\nnisa.tensor_tensor(t, t, u, nl.add)",
        "broadcast",
        11,
        "data2 of nisa.tensor_tensor has 128x1",
        "tensor_scalar",
        "",
    ),
    ("nisa.tensor_copy(t, t.ap([[0, 128], [1, 512]]))", "broadcast", 9, "partition step of an access pattern is 0", "every partition", ""),
    ("u = nl.ndarray((512,), dtype=nl.float32, buffer=nl.sbuf)", "dimension", 9, "one dimension", "(512, 1) or (1, 512)", ""),
    ("nisa.tensor_copy(t[0, :], t[0, :])", "dimension", 9, "an index removed it", "t[5:6, 0:512]", ""),
    ("nisa.tensor_reduce(t, nl.add, t, axis=0)", "dimension", 9, "reduces the partition dimension", "transpose", ""),
    ("nisa.tensor_tensor(t, t, t)", "signature", 9, "tensor_tensor() missing 1 required positional argument: 'op'", "(dst, data1, data2, op, engine=None)", ""),
    ("nisa.activation(dst=t, op=nl.exp, data=t, mask2=3)", "signature", 9, "activation() got an unexpected keyword argument 'mask2'", "(dst, op, data, bias=None", ""),
    ("nisa.nc_matmul(t, t)", "signature", 9, "'moving'", "(dst, stationary, moving, ", ""),
    ("nisa.dma_copy(t, t, foo=1)", "signature", 9, "'foo'", "(dst, src, ", ""),
    ("nisa.nc_matmul(t, t[:, 0:128], t)", "memory", 9, "dst of nisa.nc_matmul is in SBUF", "buffer=nl.psum", ""),
    ("nisa.tensor_copy(t, x[0:128, 0:512])", "memory", 9, "src of nisa.tensor_copy is in HBM", "load", ""),
    (ACC + "nisa.tensor_tensor(t, u, u, nl.add)", "memory", 11, "reads data1 and data2 from PSUM", "tensor_copy", "NCC_IBVF027"),
    (ACC + "nisa.dma_copy(out[0:128, 0:512], u)", "memory", 11, "src of nisa.dma_copy is in PSUM", "tensor_copy", ""),
    (ACC + "nisa.tensor_copy(t, u, engine=nisa.engine.gpsimd)", "memory", 11, "uses PSUM on GpSimd", "vector", ""),
    ("return t", "memory", 4, "returns a tile that is on the chip", "shared_hbm", ""),
    ("u = nl.ndarray((128, 1024), dtype=nl.float32, buffer=nl.psum)\nnisa.nc_matmul(u[:, 256:768], t[:, 0:128], t)", "psum", 10, "bytes 1024 to 3071", "one bank", ""),
    ("u = nl.ndarray((128, 8), dtype=nl.bfloat16, buffer=nl.psum)\nnisa.tensor_copy(u[:, 1:3], t[:, 0:2])", "psum", 10, "starts at byte 2 of PSUM", "even element", ""),
    ("u = nl.ndarray((128, 4200), dtype=nl.float32, buffer=nl.psum)", "capacity", 9, "takes 16,800 bytes of a partition; PSUM has 16,384", "smaller", "NCC_INLA001"),
    ("u = nl.ndarray((128, 60000), dtype=nl.float32, buffer=nl.sbuf)", "capacity", 9, "SBUF of trn2 leaves 212,992", "smaller", "NCC_INLA001"),
    ("u = nl.ndarray((128, 512), dtype=nl.float32, name='acc')\nnisa.tensor_tensor(t, u, t, nl.add)", "uninitialised", 10, "'acc' that nothing has written", "write it first", ""),
    ("u = nl.ndarray((128, 20), dtype=x.dtype)\nnisa.dma_transpose(dst=u, src=x[0:20, 0:128])", "value", 10, "rows of 80 bytes", "pad", ""),
    ("if t[0:1, 0:1] > 0:\n    pass", "value", 9, "value of a tensor is not known", "nl.where", ""),
    ("nisa.exponential(t, t)", "value", 9, "nisa.exponential is not on trn2", "--chip", ""),
    (
        "b = nl.ndarray((128, 128), dtype=nl.bfloat16)\nnisa.memset(b, 0)\nu = nl.ndarray((128, 512), nl.float32, nl.psum)\nnisa.nc_matmul(u, b, t)",
        "dtype",
        12,
        "a bfloat16 stationary and a float32 moving",
        "tensor_copy",
        "",
    ),
    ("u = nl.ndarray((128, 4), dtype='float12')", "dtype", 9, "'float12' is not a type", "nl.float32", ""),
    ("import scipy\nscipy.special.erf(3) + 1", "import", 10, "scipy is not installed", "--shapes", ""),
    ("import nki.collectives as c\nc.all_reduce(srcs=[t], dsts=[t], op=nl.add)", "import", 10, "nki.collectives.all_reduce is not recorded", "leave it out", ""),
    ("assert x.shape[0] == 7, f'bad {x.shape}'", "python", 9, "An assertion of the kernel fails: bad (128, 512)", "shapes", ""),
    ("y = 1 // 0", "python", 9, "ZeroDivisionError", "", ""),
    ("import sys; sys.exit(3)", "python", 9, "The kernel calls sys.exit(3)", "return", ""),
    ("y = t[0 : 512 / 8]", "value", 9, "sliced with 0:64.0", "//", ""),
    ("raise type('E', (Exception,), {'__str__': lambda s: 1 / 0})()", "python", 9, "The kernel raises E", "", ""),
    ("yield 1", "value", 4, "a generator or a coroutine", "plain function", ""),
    ("u = halve(t)", "name", 9, "There is no 'halve' here", "define or import", ""),
    ("u = nl.exp(tt)", "name", 9, "There is no 'tt' here", "use t", ""),
    ("u = nl.ds(0, None)", "signature", 9, "ds() cannot use what it is given", "(start, size)", ""),
    ("nisa.activation(t, nl.exp, t, bias='x')", "signature", 9, "bias of nisa.activation is str", "a number", ""),
    ("u = nl.add(t)", "signature", 9, "add() missing 1 required positional argument: 'b'", "(a, b, dtype=None", ""),
    ("u = t + {}", "signature", 9, "An operand of nl.add is dict", "a tile", ""),
    ("nisa.tensor_tensor(t, t, t, nl.exp)", "operator", 9, "has no operator exp", "nisa.activation with op=nl.exp", ""),
    ("nisa.activation(t, nl.add, t)", "operator", 9, "has no function add: it takes two operands", "nisa.tensor_tensor", ""),
    ("nisa.activation(t, nl.exp, t, reduce_op=nl.maximum, reduce_res=t[:, 0:1])", "operator", 9, "reduces with maximum; the scalar engine only adds", "tensor_reduce", ""),
    ("u = nl.ndarray((128, 6), nl.float32)\nnisa.bn_stats(u, t.ap([[512, 128], [0, 2], [1, 512]]))", "size", 10, "has 1024 elements per partition; it takes 512", "bn_aggr", ""),
    ("b = nl.ndarray((128, 128), nl.int8)\nnisa.memset(b, 1)\nu = nl.ndarray((128, 128), nl.float32, nl.psum)\nnisa.nc_matmul(u, b, b)", "dtype", 12, "multiplies floating point", "bfloat16", ""),
    ("u = nl.ndarray((128, 128), nl.bfloat16, nl.psum)\nnisa.nc_transpose(u, t[:, 0:128])", "dtype", 10, "a transpose keeps the type", "type of data", ""),
    ("nl.nc_matmul(t, t)", "name", 9, "nki.language has no 'nc_matmul'", "use nisa.nc_matmul", ""),
    ("nisa.softmax(t, t)", "name", 9, "nki.isa has no 'softmax'", "use nl.softmax", ""),
    ("n = nl.tile_size.pmaximum", "name", 9, "nl.tile_size has no 'pmaximum'", "nl.tile_size.pmax", ""),
    ("import scipy\nu = scipy.special.expit(t)", "import", 10, "is called with a tensor of the kernel, and scipy is not installed", "nki.language", ""),
    ("x = = 3", "syntax", 9, "does not parse", "", ""),
    ("f = lambda n: f(n)\nf(1)", "budget", 9, "calls itself without end", "recursion", ""),
]


@pytest.mark.parametrize("body, kind, line, sentence, fix, code", ERRORS, ids=[f"{row[1]}-{at}" for at, row in enumerate(ERRORS)])
def test_an_error_has_its_line_a_sentence_and_the_fix(body, kind, line, sentence, fix, code):
    document = second(body)
    assert not document["builds"]
    error = document["errors"][0]
    assert (error["kind"], error["line"], error["code"]) == (kind, line, code), error
    assert sentence in error["message"] and fix in error["fix"], error
    assert error["message"].endswith(".") and not error["fix"].endswith(".")
    assert document["files"][error["file"]] == "kernel.py"


def test_errors_of_the_first_dialect():
    def only(document):
        return [(error["kind"], error["line"]) for error in document["errors"]]

    assert only(first("i_p, i_f = nl.arange(128)[:, None], nl.arange(512)[None, :]\nu = nl.load(x[64 + i_p, i_f])")) == [("bounds", 9)]
    assert only(first("i_p, i_f = nl.arange(128)[:, None], nl.arange(512)[None, :]\nu = nl.load(x[64 + i_p, i_f], mask=64 + i_p < 128)")) == []
    # One dimension is the partition.
    assert only(first("u = nl.load(x[0, 0:512])")) == [("partition", 8)]
    assert only(first("u = nl.load(x[0:128, 3])\nt[...] = nisa.activation(op=nl.exp, data=t, scale=u)\nt[...] = nisa.tensor_scalar(t, nl.add, t[:, 4])")) == []
    assert only(first("out[0:128, 0:512] = t")) == [("memory", 8)]
    assert only(first("u = t + nl.load(x[0:128, 0:256])")) == [("broadcast", 8)]
    assert only(first("nl.fori_loop(0, 3, print)")) == [("name", 8)]
    assert only(first("if nl.arange(128)[:, None] < 64:\n    t = nl.exp(t)")) == [("value", 8)]
    assert only(first("i = nl.arange(512 / 4)[None, :]")) == [("value", 8)]


@pytest.mark.parametrize("ending, sentence", [
    ("", "kernel has no output: it stores nothing to a tensor that it returns."),
    ("nisa.dma_copy(dst=out, src=t)", "kernel has no output: it does not return the tensor that it writes."),
    ("nisa.dma_copy(dst=out, src=t)\n    return x", "kernel has no output: it does not return the tensor that it writes."),
    ("nisa.dma_copy(dst=out, src=t)\n    return out", None),
    ("nisa.dma_copy(dst=x, src=t)", None),
])
def test_a_kernel_without_an_output_builds_with_a_warning(ending, sentence):
    document = record(HEAD + f"    {ending}\n", shapes="128x512")
    assert document["builds"]
    assert [(one["kind"], one["line"], one["message"]) for one in document["warnings"]] == ([("output", 4, sentence)] if sentence else [])


@pytest.mark.parametrize("text", ["a=4x8,b=2x3:bf16", "a = 4 x 8, b = 2X3 : BF16", "4x8 2x3xbf16", "(4, 8), (2, 3):torch.bfloat16", "{'a': (4, 8), 'b': bf16[2, 3]}", "4*8;2\u00d73:nl.bfloat16"])
def test_shapes_are_read_as_people_write_them(text):
    (a, first, kind), (b, second, other) = main.sizes(text)
    assert (a, b) in (("a", "b"), (None, None)) and (first, kind) == ((4, 8), None) and (second, other) == ((2, 3), "bfloat16")
    assert main.sizes("4,8 2,3") == [(None, (4, 8), None), (None, (2, 3), None)]
    assert [main.programs(one) for one in ("2", "2 x 4", "(2, 4)", "(2,)")] == [[2], [2, 4], [2, 4], [2]]


@pytest.mark.parametrize("read, text, part", [("sizes", "4x-1", "is no shape"), ("sizes", "4x8:f99", "'f99' is no type"), ("programs", "0", "is no grid"), ("programs", "x", "is no grid"), ("kind", "float31", "is no type")])
def test_what_is_no_shape_grid_or_type_is_said(read, text, part):
    with pytest.raises(main.argparse.ArgumentTypeError, match=part):
        getattr(main, read)(text)


def test_a_result_that_is_written_in_part_has_a_remark():
    kernel = HEAD + "    for i in range(x.shape[1] // 512):\n        nisa.dma_copy(dst=out[0:128, nl.ds(i * 512, 512)], src=t)\n    return out\n"
    warnings = record(kernel, shapes="128x1300")["warnings"]
    assert [(one["kind"], one["line"]) for one in warnings] == [("output", 4)] and "166,400 elements, of which the kernel writes 131,072 at most" in warnings[0]["message"]
    assert not record(kernel, shapes="128x1024")["warnings"]


def test_what_an_index_of_a_tile_reads_comes_before_it():
    document = record(KERNELS / "written/scatter.py")
    assert [list(operands) for op, _, operands, _ in rows(document) if op == "dma_copy"][2] == ["dst", "src", "offset"]


def test_limits_are_the_chips():
    wide = "m = nl.ndarray((128, 1024), dtype=nl.bfloat16)\nnisa.memset(m, 0)\nu = nl.ndarray((128, 1024), dtype=nl.bfloat16, buffer=nl.psum)\nnisa.nc_matmul(u, m[:, 0:128], m)"
    assert "moving of nisa.nc_matmul has 1024 columns; trn2 allows 512" in second(wide)["errors"][0]["message"]
    assert second(wide, chip="trn3")["builds"]
    assert second("assert nl.tile_size.gemm_moving_fmax == 1024", chip="trn3.48xlarge")["builds"]
    assert second("assert nl.tile_size.gemm_moving_fmax == 512\nassert nisa.get_nc_version() == nisa.nc_version.gen3")["builds"]


GOLDEN = [
    ("first_views", "ragged_rows", "200x512,512", {}),
    ("first_views", "functions", "128x256", {}),
    ("first_views", "blocks", "256x128,256x512", {}),
    ("first_views", "programs", "256x1024,256x1024", {"grid": [2, 2]}),
    ("first_allocation", "kernel", "200x512,512x300", {}),
    ("own_call", None, None, {}),
    ("second_views", "views", "256x512:bf16", {}),
    ("second_views", "products", "256x128,256x512", {}),
    ("second_views", "registers", "1024x512,128x1:i32,1x1:i32", {}),
]


@pytest.mark.parametrize("file, function, shapes, how", GOLDEN, ids=[f"{row[0]}-{row[1]}" for row in GOLDEN])
def test_lists_stay_as_they_are(file, function, shapes, how):
    """UPDATE_LISTS=1 writes them anew."""
    document = record(KERNELS / f"language/{file}.py", function, shapes, **how)
    assert document["builds"], document["errors"]
    kept = KERNELS / f"lists/{file}-{function or 'main'}.json"
    # A line for each part, so that a change can be read.
    text = "{\n" + ",\n".join(f"{json.dumps(key)}:{main.dumps(value).strip()}" for key, value in document.items()) + "\n}\n"
    if os.environ.get("UPDATE_LISTS"):
        kept.parent.mkdir(exist_ok=True)
        kept.write_text(text, encoding="utf-8")
    assert kept.read_text(encoding="utf-8") == text


@pytest.mark.parametrize("path", sorted((KERNELS / "written").glob("*.py")), ids=lambda path: path.stem)
def test_kernels_as_people_write_them_are_recorded(path):
    document = record(path)
    assert document["builds"] and document["count"] > 2, document["errors"]


# Bytes that are read and written, and some instructions, as the source says.
BY_HAND = {
    "attention_backward": (6 * 128 * 512 * 2 + 128 * 4 * 4 + 2 * 4 * 3 * 128 * 128 * 2, 2 * 128 * 512 * 2, {"matmul": 4 * 4 * 4}),
    "attention_forward": (2 * 3 * 2048 * 128 * 2, 2 * 2048 * 128 * 2 + 2 * 2048 * 4, {"matmul": 2 * (4 * (1 + 2 + 3 + 4) + 16 * 16), "transpose": 2 * 16 * 16}),
    "average_pool": (96 * 24 * 24 * 4, 96 * 8 * 8 * 4, {"tensor_reduce": 1, "tensor_scalar": 1}),
    "barrier": (2 * 128 * 2048 * 4, 128 * 2048 * 4, {"dma": 3, "tensor_tensor": 1}),
    "cache_update": (8 * 4 + 8 * 128 * 2, 8 * 128 * 2, {"dma": 3}),
    "configured": (2 * 1024 * 1024 * 2, 1024 * 1024 * 2, {"activate": 16, "tensor_tensor": 16}),
    "convolution": (128 * 128 * 9 * 4 + 128 * 4 + 2 * 8 * 128 * 4 * 34 * 4, 2 * 128 * 16 * 32 * 4, {"matmul": 2 * 16 * 9 * 2, "transpose": 9}),
    "cross_entropy": (128 * 10000 * 2 + 128 * 4, 128 * 4, {"activate": 7}),
    "dma_sums": (4 * 128 * 512 * 4, 2 * 128 * 512 * 4, {}),
    "dynamic_index": (128 * 512 * 4 + 4 * 4, 128 * 4 * 64 * 4, {"tensor_copy": 5, "tensor_tensor": 1}),
    "expert_blocks": (16 + 4 * (128 * 4 + 128 * 1024 * 2 + 1024 * 512 * 2 + 256 * 1024 * 2), 4 * 128 * 1024 * 2, {"matmul": 4 * (2 * 2 * 8 + 2 * 2)}),
    "head_norm": (200 * 8 * 64 * 2 + 128 * 64 * 4, 200 * 8 * 64 * 2, {"tensor_tensor": 2 * 3, "tensor_reduce": 2}),
    "layer_norm": (300 * 1024 * 4 + 2 * 1024 * 4, 300 * 1024 * 4, {"bn_stats": 3 * 2, "bn_aggr": 3}),
    "online_softmax": (8 * 128 * 128 * 2 + 12 * 2 * 128 * 512 * 2, 1024 * 128 * 2, {"matmul": 12 * 5, "transpose": 12 * 4}),
    "powers": (2 * 128 * 512 * 4, 128 * 512 * 4, {"tensor_tensor": 1, "tensor_scalar": 2, "reciprocal": 1}),
    "ranges": (128 * 512 * 4 + 3 * 128 * 4 + 128 * 512, 128 * 512 * 4 + 128 * 2 * 4, {"select": 2}),
    "scatter": (256 * 4 + 256 * 128 * 4, 256 * 128 * 4, {"dma": 6}),
    "timed": (256 * 512 * 2, 256 * 4 * 4, {"bn_stats": 2, "bn_aggr": 2, "tensor_reduce": 6, "reciprocal": 2}),
    "token_attention_class": (2 * (128 * 8 + 2 * 128 * 2048) * 2, 2 * 8 * 128 * 2, {"matmul": 2 * (4 + 16)}),
    "top_k": (128 * 4096 * 4, 128 * 32 * (4 + 4), {"max8": 4 * 3}),
}


@pytest.mark.parametrize("name", BY_HAND)
def test_bytes_and_instructions_are_those_of_a_count_by_hand(cli, name):
    found = cli.json("nki", KERNELS / f"written/{name}.py", "--json")
    read, write, counts = BY_HAND[name]
    assert (found["hbm"]["read_bytes"], found["hbm"]["write_bytes"]) == (read, write)
    assert {op: found["instructions"].get(op) for op in counts} == counts
    # No instruction was left to the engine of those that nobody knows.
    assert "other" not in found["instructions"]


def test_a_changed_kernel_is_recorded_or_an_error_with_its_line():
    # Lines that are missing or repeated, other numbers and other names.
    files = sorted([*(KERNELS / "written").glob("*.py"), *(KERNELS / "language").glob("*.py")])
    chance = random.Random(7)
    for _ in range(600):
        path = chance.choice(files)
        lines = path.read_text().split("\n")
        at = chance.choice([at for at, line in enumerate(lines) if line.strip()])
        words = list(re.finditer(r"\w+", lines[at]))
        what = chance.randrange(4)
        if what == 0 or not words:
            del lines[at]
        elif what == 1:
            lines.insert(at, lines[chance.randrange(len(lines))])
        else:
            word = chance.choice(words)
            other = chance.choice(["0", "129", "-1", "2.5", "'a'", "None"] if what == 2 else ["x", "nl", "[]", "{}", "nl.add", "nl.float32", "(1, 2)"])
            lines[at] = lines[at][: word.start()] + other + lines[at][word.end() :]
        document = recorder.record(str(path), source="\n".join(lines), budget=Budget(seconds=10))
        assert document["builds"] == (not document["errors"])
        for error in document["errors"]:
            assert error["message"].endswith(".") and error["fix"], (error, lines[at])
            assert "nki_recorder" not in error["message"], (error, lines[at])


def test_the_tutorials_settings_move_the_bytes_that_were_measured():
    # (M, N, K tiles in a block): bytes that the profiler of the device counted at 2048 x 2048 x 2048 in fp32, where nothing spills.
    for (m, n, k), wanted in {(1, 1, 1): 100663296, (2, 2, 1): 67108864, (4, 4, 4): 50331648, (16, 1, 16): 100663296, (16, 2, 8): 67108864}.items():
        settings = {"TILES_IN_BLOCK_M": m, "TILES_IN_BLOCK_N": n, "TILES_IN_BLOCK_K": k}
        document = record(MATMUL, "nki_matmul_fully_optimized_", "2048x2048,2048x2048", settings)
        assert document["builds"] and sum(hbm_bytes(document)) == wanted
        assert sum(op == "nc_matmul" for op, *_ in rows(document)) == 16 * 16 * 4


def test_every_kernel_of_the_tutorial():
    shapes = {"nki_matmul_basic_": "128x64,128x512"}
    for name in ("basic", "tiled", "hoist_load", "block_free_dimension", "fully_optimized"):
        name = f"nki_matmul_{name}_"
        document = record(MATMUL, name, shapes.get(name, "1024x2048,1024x2048"))
        assert document["builds"] and document["dialect"] == 2, document["errors"]
    # A constant of a function can be set as well.
    document = record(MATMUL, "nki_matmul_block_free_dimension_", "1024x2048,1024x2048", {"TILES_IN_BLOCK_N": 4})
    assert document["builds"] and not document["warnings"]


def products(document):
    """Instructions of the tensor engine: a product of fp32 takes two."""
    kinds, of = document["dtypes"], document["tensors"]["dtype"]
    found = 0
    for op, _, operands, _ in rows(document):
        if op == "nc_matmul":
            found += 2 if kinds[of[operands["stationary"][1]]][1] == 4 else 1
        elif op == "nc_transpose":
            found += 1
    return found


def test_calibration_kernels_have_the_counts_that_were_published():
    shapes = "8x4x128x40x128,40x128x12288,40x128x128,128x12288"
    document = record(KERNELS / "calibration/lora.py", "row_blocks", shapes, {"N": 512})
    assert products(document) == 66816
    read, wrote = hbm_bytes(document)
    assert (round(read / 1e6), round(wrote / 1e6)) == (2150, 201)
    # The others at a sixteenth of the columns and an eighth of the rows: products with w, with a, with b, and transposes.
    shapes = "1x4x128x40x128,40x128x768,40x128x128,128x768"
    for function, columns, wanted in (
        ("rows", 128, 4 * 6 * 40 * 2 + 4 * 6 * 2 + 4 * 40 * 3),
        ("bf16_split", 384, 4 * 2 * 40 * 3 + 4 * 2 * 2 + 4 * 40 * 3),
        ("fold", 384, 4 * 2 * 40 * 3 + 4 * 40 + 40 + 40 * 2 * 2),
    ):
        assert products(record(KERNELS / "calibration/lora.py", function, shapes, {"N": columns})) == wanted, function


def test_every_calibration_kernel_builds():
    import csv

    with open(KERNELS / "calibration.csv", encoding="utf-8") as file:
        variants = list(csv.DictReader(file))
    assert len(variants) == 45
    for row in variants:
        if row["variant"].startswith("lora"):
            continue
        path, function = row["kernel"].split("::")
        # An eighth of the columns is enough of rope.
        shapes = row["shapes"].replace("262144", "32768")
        part = 8 if shapes != row["shapes"] else 1
        document = record(KERNELS / path, function, shapes, [main.setting(one) for one in row["settings"].split()])
        assert document["builds"] and document["dialect"] == 1 and not document["warnings"], (row["variant"], document["errors"], document["warnings"])
        assert abs(hbm_bytes(document)[1] * part / 1e6 - float(row["hbm_write_mb"] or 34)) < 1, row["variant"]


LOOP = """import {package} as nki
import {package}.isa as nisa
import {package}.language as nl
@nki.jit
def kernel(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    {loop}
    return out
"""
TURN = "t = nl.load(x[nl.ds({at}, 128), :]); nl.store(out[nl.ds({at}, 128), :], nl.exp(t))"


def test_loops_unrolled_by_hand_and_other_names_change_nothing():
    def bare(document):
        return [(op, args, operands) for op, args, operands, _ in rows(document)]

    for package in ("neuronxcc.nki", "nki"):
        by_hand = record(LOOP.format(package=package, loop="; ".join(TURN.format(at=at * 128) for at in range(3))), shapes="384x64")
        assert by_hand["builds"] and by_hand["loops"] == []
        for kind in ("nl.affine_range", "nl.sequential_range", "nl.static_range", "range"):
            turn = TURN.format(at="i * 128")
            renamed = TURN.format(at="turn * 128").replace("t = ", "tile = ", 1).replace("(t)", "(tile)")
            document = record(LOOP.format(package=package, loop=f"for i in {kind}(3): {turn}"), shapes="384x64")
            assert bare(document) == bare(by_hand)
            assert [row[0] for row in document["loops"]] == [kind.removeprefix("nl.").removesuffix("_range") if kind != "range" else "python"]
            assert [row[3] for row in rows(document)] == [1, 1, 1, 2, 2, 2, 3, 3, 3]
            other = record(LOOP.format(package=package, loop=f"for turn in {kind}(3): {renamed}"), shapes="384x64")
            assert {**other, "sites": 0} == {**document, "sites": 0}


def test_loops_that_end_early_or_side_by_side():
    body = "for i in range(4):\n    nisa.memset(t, i)\n    for j in nl.affine_range(4):\n        if j == 1:\n            break\n        nisa.memset(t, j)\n    nisa.memset(t, 9)\n"
    body += "for i, j in zip(range(2), range(2)):\n    nisa.memset(t, 1)\nnisa.memset(t, 2)"
    document = second(body)
    scopes = document["scopes"]
    parents = [scopes[3 * row[3]] for row in rows(document)]
    loops = [document["loops"][scopes[3 * row[3] + 1]][0] if row[3] else "" for row in rows(document)]
    # load, four turns of (before, inside, behind), two turns of zip, behind, store
    assert loops == [""] + ["python", "affine", "python"] * 4 + ["python"] * 2 + ["", ""]
    assert parents[0] == -1 and parents[-1] == -1 and all(one >= 0 for one in parents[1:-2])


def test_masks_charge_the_valid_range():
    body = "i_p, i_f = nl.arange(128)[:, None], nl.arange(512)[None, :]\nu = nl.load(x[i_p, i_f], mask=(i_p < 100) & (i_f >= 12))\nt[...] = nl.exp(u, mask=i_p < 100)"
    document = first(body)
    (_, _, load, _), (_, _, power, _) = rows(document)[1:3]
    assert load["src"][2:] == (12, [512, 100, 1, 500]) and load["dst"][2:] == (12, [0, 100, 1, 500])
    assert power["dst"][3] == [0, 100, 1, 512] == power["data"][3]
    causal = first("i_p, i_f = nl.arange(128)[:, None], nl.arange(512)[None, :]\nt[...] = nl.exp(t, mask=i_p >= i_f)")
    assert [one["kind"] for one in causal["warnings"]] == ["mask"]
    # Nothing valid: nothing to do.
    assert first("u = nl.load(x[0:128, 0:512], mask=nl.arange(128)[:, None] < 0)")["count"] == 2


def test_results_go_where_they_are_assigned():
    document = first(
        "acc = nl.zeros((128, 512), nl.float32, buffer=nl.psum)\n"
        "for k in nl.affine_range(2):\n    acc += nisa.nc_matmul(t[:, 0:128], t)\n"
        "t[:, 0:512] = nisa.tensor_scalar(acc, nl.multiply, 2.0)\nt += acc\nu = nl.ndarray((128, 512), dtype=x.dtype)\nu[...] = t\n"
        "w = nl.ndarray((128, 512), dtype=x.dtype)\nw[...] = nisa.nc_matmul(t[:, 0:128], u)"
    )
    assert document["builds"], document["errors"]
    found = rows(document)
    assert [op for op, *_ in found] == ["dma_copy", "nc_matmul", "nc_matmul", "tensor_scalar", "tensor_tensor", "tensor_copy", "nc_matmul", "tensor_copy", "dma_copy"]
    assert [args["accumulate"] for op, args, *_ in found if op == "nc_matmul"] == [False, True, False]
    tile = found[0][2]["dst"][1]
    assert found[3][2]["dst"][1] == tile and found[4][2]["dst"][1] == tile
    # Every tile that is listed is used, and knows when.
    tensors = document["tensors"]
    for row, memory in enumerate(tensors["memory"]):
        assert memory in "io" or 0 <= tensors["first"][row] <= tensors["last"][row]


def test_a_reduction_over_loops_writes_where_it_is_assigned():
    body = "u = nl.ndarray((2, nl.par_dim(128), 512), dtype=x.dtype)\nfor k in nl.affine_range(3):\n    for j in nl.affine_range(2):\n"
    body += "        u[j] = nl.loop_reduce(nl.exp(t), op=nl.add, loop_indices=[k])"
    document = first(body)
    assert document["builds"], document["errors"]
    assert [op for op, *_ in rows(document)][1:-1] == ["activation", "tensor_copy"] * 2 + ["activation", "tensor_tensor"] * 4
    assert len({row[2]["dst"][1] for row in rows(document) if row[0] in ("tensor_copy", "tensor_tensor")}) == 2


def test_first_results_are_no_copies():
    body = "i_p, i_f = nl.arange(128)[:, None], nl.arange(512)[None, :]\nu = nl.ndarray((128, 512), dtype=nl.float32)\n"
    body += "u[i_p, i_f] = nisa.memset(shape=(128, 512), value=0, dtype=nl.float32)\nu[i_p, i_f] = nisa.iota(i_p * 0 + i_f, dtype=nl.float32)\nt[i_p, i_f] = nl.add(u, t)"
    document = first(body)
    assert [op for op, *_ in rows(document)] == ["dma_copy", "memset", "iota", "tensor_tensor", "dma_copy"]
    # Addresses that are known are not dynamic.
    assert not any("dynamic" in form for form in document["forms"])


def test_one_element_of_each_partition_is_an_operand_in_both_dialects():
    assert second("nisa.tensor_scalar(dst=t, data=t, op0=nl.multiply, operand0=t[:, 3])")["builds"]
    assert first("t[...] = nisa.tensor_scalar(t, nl.multiply, t[:, 3])")["builds"]


def test_two_inputs_in_psum_are_copied_for_operators_of_the_first_dialect():
    body = "a, b = (nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum) for _ in range(2))\nfor c in (a, b):\n    c[...] = nisa.nc_matmul(t[:, 0:128], t)\n"
    assert [op for op, *_ in rows(first(body + "t[...] = a + b"))][3:-1] == ["tensor_copy", "tensor_tensor"]
    assert first(body + "t[...] = nisa.tensor_tensor(a, b, nl.add)")["errors"][0]["code"] == "NCC_IBVF027"


def test_a_partition_behind_blocks_is_no_other_shape():
    document = first("a = nl.ndarray((4, 128, 16), dtype=nl.float32)\nb = nl.ndarray((4, nl.par_dim(128), 16), dtype=nl.float32)\na[...] = 1\nb[2] = 1")
    assert [row[2]["dst"][3] for row in rows(document)[1:3]] == [[0, 4, 1, 2048], [0, 128, 1, 16]]


def test_a_mask_that_is_false_leaves_nothing():
    document = first(
        "t[:, 0:256] = nl.exp(t[:, 0:256], mask=x.shape[0] > 128)\nt[:, 0:256] = nisa.nc_transpose(t[:, 0:128], mask=False)\nt[...] = nl.exp(t, mask=x.shape[0] == 128)"
    )
    assert document["builds"] and [op for op, *_ in rows(document)] == ["dma_copy", "activation", "dma_copy"]


def test_a_partial_write_is_a_remark_and_none_at_all_an_error():
    part = second("u = nl.ndarray((128, 512), dtype=nl.float32)\nnisa.memset(u[:, 0:256], 0)\nnisa.tensor_copy(t, u)")
    assert part["builds"] and [one["kind"] for one in part["warnings"]] == ["uninitialised"]
    both = (
        "u = nl.ndarray((128, 512), dtype=nl.float32)\nnisa.memset(u[:, 0:512:2], 0)\nnisa.memset(u[0:64, 1:512:2], 0)\nnisa.memset(u[64:128, 1:512:2], 0)\nnisa.tensor_copy(t, u)"
    )
    whole = second(both)
    assert whole["builds"] and not whole["warnings"]
    other = second("u = nl.ndarray((128, 512), dtype=nl.float32)\nnisa.memset(u[:, 0:256], 0)\nnisa.tensor_copy(t[:, 0:256], u[:, 256:512])")
    assert [one["kind"] for one in other["errors"]] == ["uninitialised"]


def test_views_with_another_type_share_their_bytes():
    document = second("v = t.view(nl.bfloat16)\nw = nl.ndarray((128, 1024), dtype=nl.bfloat16)\nnisa.tensor_copy(w, v)")
    assert document["builds"]
    source = rows(document)[1][2]["src"]
    of = document["tensors"]["of"][source[1]]
    assert of == rows(document)[0][2]["dst"][1] and document["tensors"]["elements"][source[1]] == 1024


def test_regions_in_hbm_keep_their_partitions():
    body = 'u = nl.ndarray((128, 512), dtype=x.dtype)\nnisa.dma_copy(u, x.rearrange("(b p) f -> p b f", p=64).reshape((128, 512)) if False else x)\nv = nl.ndarray((64, 1024), dtype=x.dtype)\n'
    body += 'nisa.dma_copy(v, x.rearrange("(b p) f -> p b f", p=64))\nw = nl.ndarray((1, 512), dtype=x.dtype)\nnisa.dma_copy(w, x[3:4, :])'
    found = [row[2]["src"] for row in rows(second(body))[1:4]]
    assert [one[3] for one in found] == [[512, 128, 1, 512], [512, 64, 32768, 2, 1, 512], [512, 1, 1, 512]]
    assert found[2][2] == 3 * 512


def test_budgets_end_a_recording():
    loop = "for i in range(10 ** 9):\n    {}"
    for body, budget, word in (
        (loop.format("nisa.memset(t, 0)"), recorder.Budget(instructions=5000), "5,000 instructions"),
        (loop.format("pass"), recorder.Budget(turns=5000), "5,000 turns"),
        (loop.format("pass"), recorder.Budget(seconds=0.05), "0.05 s"),
    ):
        error = second(body, budget=budget)["errors"][0]
        assert error["kind"] == "budget" and word in error["message"] and error["line"] in (9, 10)


def command(*arguments, text=None, flags=()):
    # The folder above has names such as torch_xla; the command line has the recorder alone.
    program = (
        "import importlib.util, sys; "
        f"spec = importlib.util.spec_from_file_location('nki_recorder', {str(FOLDER / '__init__.py')!r}, submodule_search_locations=[{str(FOLDER)!r}]); "
        "module = sys.modules['nki_recorder'] = importlib.util.module_from_spec(spec); spec.loader.exec_module(module); "
        "from nki_recorder.__main__ import main; sys.exit(main(sys.argv[1:]))"
    )
    return subprocess.run([sys.executable, *flags, "-c", program, *map(str, arguments)], capture_output=True, text=True, input=text)


def test_the_command(tmp_path):
    path = KERNELS / "language/second_views.py"
    done = command(f"{path}::products", "--shapes", "a=256x128,b=256x512", "--dtype", "bf16")
    assert done.returncode == 0 and json.loads(done.stdout)["builds"], done.stderr
    # The same from standard input, and into a file.
    again = command("second_views.py::products", "--source", "--shapes", "256x128,256x512", "--dtype", "bf16", "-o", tmp_path / "list.json", text=path.read_text(encoding="utf-8"))
    assert again.returncode == 0 and (tmp_path / "list.json").read_text(encoding="utf-8") == done.stdout
    # A list for each line of settings.
    lines = "".join(json.dumps({"TILES_IN_BLOCK_M": m}) + "\n" for m in (1, 2))
    each = command(f"{MATMUL}::nki_matmul_fully_optimized_", "--shapes", "1024x1024,1024x1024", "--set", "TILES_IN_BLOCK_N=1", "--each", text=lines).stdout.splitlines()
    settings = {"TILES_IN_BLOCK_M": 2, "TILES_IN_BLOCK_N": 1}
    assert len(each) == 2 and json.loads(each[1]) == record(MATMUL, "nki_matmul_fully_optimized_", "1024x1024,1024x1024", settings)
    # The same as the command line writes them; what the file reads is not the next line.
    asks = "import sys\nassert not sys.stdin.read()\n" + HEAD + TAIL
    (tmp_path / "asks.py").write_text(asks, encoding="utf-8")
    lines = '["dtype=nl.bfloat16", "N=(1, 2)"]\n[]\n'
    asked = command(tmp_path / "asks.py", "--shapes", "128x512", "--each", text=lines).stdout.splitlines()
    assert [json.loads(one)["builds"] for one in asked] == [True, True]
    assert [one["message"].split(":")[0] for one in json.loads(asked[0])["warnings"]] == ["Nothing is called dtype", "Nothing is called N"]
    # What the file prints is not in the list.
    printed = command(KERNELS / "language/own_call.py")
    assert printed.returncode == 0 and json.loads(printed.stdout)["programs"] == 2
    assert command("nothing.py").returncode == 1 and "nothing.py" in command("nothing.py").stderr
    assert "there is no chip 'trn9'" in command(path, "--chip", "trn9").stderr
    assert command(path, "--shapes", "ax3").returncode == 2
    (tmp_path / "latin.py").write_bytes(b"x = 1\n# \xe9\n")
    error = json.loads(command(tmp_path / "latin.py").stdout)["errors"][0]
    assert error["kind"] == "syntax" and "byte 8 (line 2) is not UTF-8" in error["message"]
    (tmp_path / "stuck.py").write_text("y = 10 ** 10 ** 10\n", encoding="utf-8")
    stuck = command(tmp_path / "stuck.py", "--max-seconds", "0.1")
    assert stuck.returncode != 0 and "Timeout" in stuck.stderr
    slow = tmp_path / "slow.py"
    slow.write_text("while True:\n    pass\n", encoding="utf-8")
    error = json.loads(command(slow, "--max-seconds", "0.5").stdout)["errors"][0]
    assert error["kind"] == "budget" and error["line"] in (1, 2)


def _rope(np, x, cos, sin):
    first, last = x[:64], x[64:]
    return np.concatenate([first * cos - last * sin, last * cos + first * sin])


def _mamba(np, delta, u, a, b, c):
    state, out = np.zeros(a.shape), []
    for at in range(delta.shape[1]):
        state = state * np.exp(a * delta[:, at : at + 1]) + (delta * u)[:, at : at + 1] * b[:, at]
        out.append((state * c[:, at]).sum(1))
    return np.stack(out, 1)


def _norm(np, x, w):
    return (x / np.sqrt((x**2).mean(-1, keepdims=True))) @ w.reshape(-1, w.shape[-1])


def _lora(np, x, w, a, b):
    k = x.shape[3] * 128
    x, w, a = x.reshape(-1, k), w.reshape(k, -1), a.reshape(k, -1)
    return x @ w + (x @ a) @ b


VALUES = [
    # file, functions, shapes, settings, the operator, largest error over the largest value
    ("silu", "blocks in_place ping_pong pieces nested_pieces", "128x4x448", {"ROWS": 2}, lambda np, x: x / (1 + np.exp(-x)), 1e-6),
    ("rope", "halves full_scalar full_tensor", "128x512,64x512,64x512", {"W": 256}, _rope, 1e-6),
    ("mamba", "whole_rows tiles tiles_outside shared_rows shared_products shared_products_unrolled", "256x128,256x128,256x4,4x128,4x128", {"W": 64}, _mamba, 1e-5),
    ("rmsnorm_matmul", "scale_before scale_after stationary_reuse load_transpose vector_transpose", "2x128x256,2x128x512", {}, _norm, 1e-5),
    ("rmsnorm_matmul", "bf16_product", "2x128x256,2x128x512", {}, _norm, 1e-2),
    ("rmsnorm_matmul", "bf16_split", "2x128x256,2x128x512", {}, _norm, 2e-5),
    ("lora", "rows row_blocks", "1x2x128x2x128,2x128x512,2x128x128,128x512", {}, _lora, 1e-5),
    ("lora", "bf16_split fold", "1x2x128x2x128,2x128x512,2x128x128,128x512", {}, _lora, 2e-5),
]


@pytest.mark.parametrize("file, functions, shapes, settings, operator, limit", VALUES, ids=[f"{row[0]}-{row[1].split()[0]}" for row in VALUES])
def test_what_is_recorded_computes_the_operator(file, functions, shapes, settings, operator, limit):
    np = pytest.importorskip("numpy")
    values = importlib.import_module("nki_recorder.values")
    random = np.random.default_rng(1)
    for function in functions.split():
        constants = {}
        document = record(KERNELS / f"calibration/{file}.py", function, shapes, settings, constants=constants)
        assert document["builds"], document["errors"]
        names = {name: random.standard_normal(document["shapes"][str(tensor)]).astype("float32") for name, tensor in document["kernel"]["arguments"]}
        if "delta" in names:
            # A state that decays, as in a trained model.
            names["delta"], names["a"] = np.abs(names["delta"]), -np.abs(names["a"])
        device = values.machine(document, names, constants)
        device.run()
        (result,) = document["results"]
        got, wanted = device.read_all(result), operator(np, *(array.astype("float64") for array in names.values()))
        assert np.abs(got - wanted.reshape(-1)).max() < limit * np.abs(wanted).max(), function


def test_the_identity_is_one():
    np = pytest.importorskip("numpy")
    values = importlib.import_module("nki_recorder.values")
    document = second("i = nl.shared_identity_matrix(128, dtype=nl.float32)\nnisa.tensor_copy(t[:, 0:128], i)")
    device = values.machine(document, {"x": np.zeros((128, 512))}, {})
    device.run()
    assert np.array_equal(device.read_all(document["results"][0]).reshape(128, 512)[:, :128], np.identity(128))


def test_values_round_as_the_type_does():
    np = pytest.importorskip("numpy")
    rounded = importlib.import_module("nki_recorder.values").rounded
    numbers = np.array([1.0, 1.00390625, 1.01171875, 3.4e38, 1e-40, -0.3, 65519.9, 65520.0, 6e-8, np.nan, np.inf], np.float32)
    with np.errstate(all="ignore"):
        half = numbers.astype(np.float16).astype(np.float32)
    assert np.array_equal(rounded(np, "float16", numbers), half, equal_nan=True)
    bits = numbers.view(np.uint32).astype(np.uint64)
    bf16 = ((bits + 0x7FFF + ((bits >> np.uint64(16)) & np.uint64(1))) & np.uint64(0xFFFF0000)).astype(np.uint32).view(np.float32)
    assert np.array_equal(rounded(np, "bfloat16", numbers)[:8], bf16[:8])
    assert list(rounded(np, "float8_e4m3fn", np.array([17.0, 19.0, 1000.0, 0.001], np.float32))) == [16.0, 20.0, 448.0, 0.001953125]
    assert list(rounded(np, "int8", np.array([1.5, 2.5, -3.2], np.float32))) == [2, 2, -3]


def test_a_file_of_numpy_is_compared(tmp_path):
    np = pytest.importorskip("numpy")
    x, file = np.arange(128 * 512, dtype=np.float32).reshape(128, 512) / 65536, str(tmp_path / "wanted.npz")
    kernel = KERNELS / "written/tested.py"
    for wanted, limit in ((np.exp(x), 1e-6), (np.exp(x) + 1, 1)):
        np.savez(file, x=x, y=wanted)
        found = json.loads(command(f"{kernel}::exp_kernel", "--shapes", "128x512", "--check", file).stdout)["check"]
        assert found["relative_error"] < limit, found
        assert (found["relative_error"] > 0.1) == (limit == 1), found
    np.savez(file, x=x[:64], y=x)
    assert "x of" in json.loads(command(f"{kernel}::exp_kernel", "--shapes", "128x512", "--check", file).stdout)["check"]["error"]


def test_a_check_says_where_values_differ():
    pytest.importorskip("numpy")
    arguments = (f"{MATMUL}::nki_matmul_tiled_", "--shapes", "256x128:bf16,256x512:bf16", "--check")
    right = json.loads(command(*arguments, "lhsT.T @ rhs").stdout)["check"]
    assert right["relative_error"] < 0.01 and len(right["worst"]) == 2
    wrong = json.loads(command(*arguments, "lhsT.T @ rhs + 1").stdout)["check"]
    assert 0.5 < wrong["largest_error"] < 1.5
    for expression, sentence in (("lhsT.T @ rhx", "NameError"), ("lhsT", "The kernel returns [128, 512], and --check gives [256, 128]"), ("(lhsT, rhs)", "returns 1 tensors")):
        assert sentence in json.loads(command(*arguments, expression).stdout)["check"]["error"]
    shown = command(f"{KERNELS / 'language/second_views.py'}::registers", "--shapes", "1024x512,128x1:i32,1x1:i32", "--check", "x").stdout
    assert "An address that the device computes is not computed." in json.loads(shown)["check"]["error"]


CHECKS = json.loads((KERNELS / "checks.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("kernel, arguments, expression, wanted", CHECKS["kernels"], ids=[row[0] for row in CHECKS["kernels"]])
def test_checks_are_those_of_the_page(kernel, arguments, expression, wanted):
    """tests/e2e/nki-parity.test.mjs has the page's arrays say the same."""
    pytest.importorskip("numpy")
    found = json.loads(command(KERNELS / kernel, *arguments, "--check", expression).stdout)["check"]
    assert found.pop("expression") == expression
    for key, value in wanted.items():
        assert found[key] == (pytest.approx(value, rel=1e-6) if isinstance(value, float) else value), key


def test_expressions_are_those_of_the_page():
    np = pytest.importorskip("numpy")
    space = {"np": np}
    for line in CHECKS["inputs"]:
        exec(line, space)

    def weighed(value):
        if isinstance(value, (list, tuple)):
            return [weighed(one) for one in value]
        value = np.asarray(value, dtype=np.float64)
        return [list(value.shape), pytest.approx(math.fsum(x * math.cos(at) for at, x in enumerate(value.reshape(-1).tolist())))]

    for expression, wanted in CHECKS["expressions"].items():
        assert weighed(eval(expression, space)) == wanted, expression


def test_what_the_documents_alone_forbid_is_a_warning():
    for body, kind, sentence in (
        ("nisa.tensor_tensor(t, t, t, nl.add, engine=nisa.engine.scalar)", "engine", "is on the scalar engine; its documents name vector and gpsimd only"),
        ("nisa.tensor_scalar(t, t, nl.maximum, 0.0, engine=nisa.engine.scalar)", "engine", "with maximum is on the scalar engine, for which the documents name multiply"),
        ("nisa.tensor_scalar(t, t, nl.bitwise_and, 3)", "dtype", "is float32; the documents name integers only for operators of bits"),
        ("i = nl.ndarray((128, 2), nl.int32)\nnisa.memset(i, 0)\nnisa.local_gather(t[:, 0:32], t, i, 1, 32)", "dtype", "index of nisa.local_gather is int32; its documents name uint16 only"),
        ("u = nl.ndarray((128, 512), nl.int32)\nnisa.memset(u, 1)\nnisa.tensor_scalar(u, u, nl.bitwise_and, 3, op1=nl.add, operand1=1)", "operator", "joins bitwise_and and add; its documents allow two operators of bits"),
    ):
        document = second(body)
        assert document["builds"], document["errors"]
        assert [(one["kind"], one["line"] >= 9) for one in document["warnings"] if sentence in one["message"]] == [(kind, True)] * (2 if kind == "dtype" and "bits" in sentence else 1), document["warnings"]


def test_what_stands_in_for_numpy_changes_nothing():
    """The same bytes with the packages of this environment and without any (-S)."""
    for arguments in (
        (f"{KERNELS / 'calibration/rope.py'}::full_tensor", "--set", "W=512", "--shapes", "128x1024,64x1024,64x1024"),
        (KERNELS / "language/first_allocation.py", "--shapes", "200x512,512x300"),
    ):
        with_packages, without = command(*arguments).stdout, command(*arguments, flags=["-S"]).stdout
        assert json.loads(without)["builds"] and with_packages == without


def test_arguments_that_do_not_fit_say_what_does():
    def sentence(*args, **how):
        error = record(*args, **how)["errors"][0]
        return f"{error['message']} {error['fix']}"

    views = KERNELS / "language/second_views.py"
    assert "has 3 kernels: views, products, registers" in sentence(views, shapes="128x128")
    assert "has no function 'product'" in sentence(views, "product", "128x128") and "use ::products" in sentence(views, "product", "128x128")
    assert "needs b" in sentence(views, "products", "128x128")
    assert "has no parameter 'aa'" in sentence(views, "products", "aa=128x128,b=128x512")
    assert "calls no kernel" in sentence(views)
    document = record(views, "views", "128x512", {"NOTHING": 3})
    assert document["builds"] and "Nothing is called NOTHING" in document["warnings"][0]["message"]


def test_nothing_is_left_behind():
    import sys as system

    before = set(system.modules)
    second("")
    first("")
    assert not [name for name in set(system.modules) - before if name.split(".")[0] in ("nki", "neuronxcc", "torch", "jax")]
    assert FOLDER.parent not in map(pathlib.Path, system.path)


def test_the_files_are_listed():
    assert (FOLDER / "FILES").read_text().split() == sorted(path.name for path in FOLDER.glob("*.py"))


def test_a_kernel_is_recorded_for_its_own_target_unless_another_chip_is_chosen():
    path = KERNELS / "written/microscaled.py"
    document = record(path)
    assert (document["builds"], document["chip"]) == (True, "trn3"), document["errors"]
    assert [form["op"] for form in document["forms"]].count("nc_matmul_mx") == 1
    chosen = record(path, chip="trn2")
    assert (chosen["builds"], chosen["chip"]) == (False, "trn2") and "is on trn3 only" in chosen["errors"][0]["message"]
    assert record(KERNELS / "written/softmax.py")["chip"] == "trn2"
    # One that is chosen wins, and the list says so at the line of the kernel.
    path = KERNELS / "written/head_norm.py"
    for chip in (None, "trn2"):
        assert record(path, chip=chip)["warnings"] == []
    [warning] = record(path, chip="trn3")["warnings"]
    assert warning["kind"] == "chip" and "names trn2 as platform_target" in warning["message"] and warning["line"] > 1


def test_an_operand_that_is_dst_too_is_read_before_it_is_written():
    fresh = "u = nl.ndarray((128, 512), dtype=nl.float32)\n"
    for body in ("nisa.tensor_scalar(dst=u, data=u, op0=nl.multiply, operand0=2.0)", "nisa.tensor_tensor(dst=u, data1=t, data2=u, op=nl.add)"):
        assert [error["kind"] for error in second(fresh + body)["errors"]] == ["uninitialised"], body


def test_python_on_tensors_is_told_apart_from_instructions():
    for body, sentence in (
        ("m = max(t)", "A tile is taken apart in Python"),
        ("for row in t:\n    pass", "A tile is taken apart in Python"),
        ("import numpy as np\ny = np.exp(t)", "A function of NumPy or Python computes with numbers and arrays"),
        ("import math\ny = math.exp(t)", "A function of NumPy or Python computes with numbers and arrays"),
    ):
        assert sentence in second(body)["errors"][0]["message"], body


def test_a_gather_has_the_indices_of_sixteen_partitions():
    index = "i = nisa.memset((128, 4), 0, nl.uint16)\n"
    for call, shape in (("t, i, 4, 64", (128, 4, 16, 4)), ("t, i", (128, 4, 16, 1)), ("t, i, 2, 60", (128, 60, 2))):
        document = first(f"{index}g = nisa.local_gather({call})\nassert g.shape == {shape}, g.shape")
        assert document["builds"], document["errors"]
    [error] = first(f"{index}g = nisa.local_gather(t, i, 1, 65)")["errors"]
    assert "num_valid_indices of nisa.local_gather is 65; 16 partitions of index hold 64" in error["message"]


def test_a_long_kernel_is_recorded_in_seconds():
    started = time.process_time()
    document = record(KERNELS / "calibration/lora.py", "rows", "1x4x128x40x128,40x128x6144,40x128x128,128x6144", {"N": 128})
    # 16 us an instruction on an idle machine; other work may share its caches.
    assert (time.process_time() - started) / document["count"] < 100e-6
