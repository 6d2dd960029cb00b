"""Rotary embedding of x (128, 262144), cos and sin (64, 262144) in the first dialect. The head is on the partitions, its halves rotate."""

import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl
import numpy as np

W = 2048


@nki.jit
def halves(x, cos, sin):
    """Everything in the first 64 partitions: six vector instructions a tile."""
    d, n = x.shape
    half = d // 2
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    i_p, i_f = nl.arange(half)[:, None], nl.arange(W)[None, :]
    for at in nl.affine_range(n // W):
        first = nl.load(x[i_p, at * W + i_f])
        second = nl.load(x[half + i_p, at * W + i_f])
        c = nl.load(cos[i_p, at * W + i_f])
        s = nl.load(sin[i_p, at * W + i_f])
        upper = nisa.tensor_tensor(nisa.tensor_tensor(first, c, op=np.multiply), nisa.tensor_tensor(second, s, op=np.multiply), op=np.subtract)
        lower = nisa.tensor_tensor(nisa.tensor_tensor(second, c, op=np.multiply), nisa.tensor_tensor(first, s, op=np.multiply), op=np.add)
        nl.store(out[i_p, at * W + i_f], value=upper)
        nl.store(out[half + i_p, at * W + i_f], value=lower)
    return out


def _tables(cos, sin, at, half, d, dtype):
    """cos and sin on all partitions: both come into the first half, and the scalar engine copies them to the second."""
    i_p, i_f = nl.arange(half)[:, None], nl.arange(W)[None, :]
    tables = []
    for table in (cos, sin):
        tile = nl.ndarray((nl.par_dim(d), W), dtype=dtype, buffer=nl.sbuf)
        tile[i_p, i_f] = nl.load(table[i_p, at * W + i_f])
        tile[half + i_p, i_f] = nisa.activation(op=nl.copy, data=tile[i_p, i_f])
        tables.append(tile)
    return tables


@nki.jit
def full_scalar(x, cos, sin):
    """All 128 partitions; the scalar engine swaps the halves: four copies there, three vector instructions a tile."""
    d, n = x.shape
    half = d // 2
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    i_h, i_p, i_f = nl.arange(half)[:, None], nl.arange(d)[:, None], nl.arange(W)[None, :]
    for at in nl.affine_range(n // W):
        tile = nl.load(x[i_p, at * W + i_f])
        c, s = _tables(cos, sin, at, half, d, x.dtype)
        swapped = nl.ndarray((nl.par_dim(d), W), dtype=x.dtype, buffer=nl.sbuf)
        swapped[i_h, i_f] = nisa.activation(op=nl.copy, data=tile[half + i_h, i_f], scale=-1.0)
        swapped[half + i_h, i_f] = nisa.activation(op=nl.copy, data=tile[i_h, i_f])
        straight = nisa.tensor_tensor(tile, c, op=nl.multiply)
        crossed = nisa.tensor_tensor(swapped, s, op=nl.multiply)
        nl.store(out[i_p, at * W + i_f], value=nisa.tensor_tensor(straight, crossed, op=nl.add))
    return out


@nki.jit
def full_tensor(x, cos, sin):
    """The same, but a permutation with signs on the tensor engine swaps the halves. W is 512 at most."""
    d, n = x.shape
    half = d // 2
    swap = np.zeros((d, d), dtype=np.float32)
    for row in range(d):
        swap[row, (row + half) % d] = 1.0 if row < half else -1.0
    permutation = nl.load(nl.shared_constant(swap, dtype=x.dtype))
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    i_p, i_f = nl.arange(d)[:, None], nl.arange(W)[None, :]
    for at in nl.affine_range(n // W):
        tile = nl.load(x[i_p, at * W + i_f])
        c, s = _tables(cos, sin, at, half, d, x.dtype)
        swapped = nisa.nc_matmul(permutation, tile)
        straight = nisa.tensor_tensor(tile, c, op=nl.multiply)
        crossed = nisa.tensor_tensor(swapped, s, op=nl.multiply)
        nl.store(out[i_p, at * W + i_f], value=nisa.tensor_tensor(straight, crossed, op=nl.add))
    return out
