"""Indices, masks and blocks of the first dialect."""

import math

import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def ragged_rows(a, g):
    """Rows that do not fill the last tile, functions of nl, and a weight that is spread over partitions."""
    rows, width = a.shape
    out = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
    i_p, i_one, i_f = nl.arange(128)[:, None], nl.arange(1)[:, None], nl.arange(width)[None, :]
    weight = nl.load(g.reshape((1, width))[i_one, i_f])
    for at in nl.affine_range(math.ceil(rows / 128)):
        inside = at * 128 + i_p < rows
        tile = nl.load(a[at * 128 + i_p, i_f], mask=inside)
        total = nl.sum(nl.square(tile), axis=[1])
        scale = nl.rsqrt(total / width)
        result = nl.multiply(tile, scale)
        result[...] = nl.multiply(result, weight.broadcast_to((128, width)), mask=inside)
        nl.store(out[at * 128 + i_p, i_f], value=result, mask=inside)
    return out


@nki.jit
def functions(a):
    """Operators, reductions and composed functions."""
    out = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
    i_p, i_f = nl.mgrid[0:128, 0 : a.shape[1]]
    tile = nl.load(a[i_p, i_f])
    soft = nl.softmax(tile, axis=1)
    chosen = nl.where(tile > 0, tile, soft)
    centred = chosen - nl.max(chosen, axis=1, keepdims=True)
    powers = 1.0 / (nl.exp(centred) * 2.0 + 1.0)
    powers += tile
    spread = nl.var(powers, axis=1)
    causal = nisa.affine_select(pred=(i_p >= i_f), on_true_tile=powers, on_false_value=-1e9)
    turned = nl.matmul(causal[:, 0:128], powers)
    nl.store(out[i_p, i_f], value=nl.add(turned, spread))
    return out


@nki.jit
def blocks(a, b):
    """Block dimensions on the chip, products that accumulate in place, and a tile that is assigned."""
    k, m = a.shape
    n = b.shape[1]
    out = nl.ndarray((m, n), dtype=a.dtype, buffer=nl.shared_hbm)
    a_tiles = nl.ndarray((k // 128, nl.par_dim(128), m), dtype=a.dtype, buffer=nl.sbuf)
    b_tiles = nl.zeros((k // 128, nl.par_dim(128), n), dtype=b.dtype, buffer=nl.sbuf)
    for at in nl.affine_range(k // 128):
        a_tiles[at] = nl.load(a[nl.ds(at * 128, 128), :])
        b_tiles[at, :, :] = nl.load(b[nl.ds(at * 128, 128), :])
    acc = nl.zeros((nl.par_dim(m), n), dtype=nl.float32, buffer=nl.psum)
    for at in nl.sequential_range(k // 128):
        acc += nisa.nc_matmul(a_tiles[at], b_tiles[at])
    result = nl.ndarray((m, n), dtype=a.dtype, buffer=nl.sbuf)
    result[...] = nl.copy(acc, dtype=a.dtype)
    result[0:32, 0:2] = 0.0
    nl.store(out, value=result)
    return out


@nki.jit
def programs(a, b):
    """One tile to a program of the grid."""
    out = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
    i_p = nl.program_id(0) * 128 + nl.arange(128)[:, None]
    i_f = nl.program_id(1) * 512 + nl.arange(512)[None, :]
    nl.store(out[i_p, i_f], value=nl.load(a[i_p, i_f]) + nl.load(b[i_p, i_f]))
    return out
