"""A product with a low-rank update in the first dialect: x (8, 4, 128, 40, 128), w (40, 128, 12288), a (40, 128, 128), b (128, 12288).

y = x w + (x a) b; x has 4096 rows, the contraction is 5120, the rank 128.
"""

import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl
import numpy as np

N = 512


def _turned(rows, blocks, dtype):
    """Rows of x in HBM, a tile of 128 columns at a time, with the contraction on the partitions."""
    turned = nl.ndarray((nl.par_dim(128), blocks, 128), dtype=dtype)
    for k in nl.affine_range(blocks):
        turned[:, k, :] = nl.copy(nisa.nc_transpose(nl.load(rows[:, k, :])))
    return turned


def _store(out, at, tile):
    """N columns, in blocks of 128 as the result has them."""
    for block in nl.static_range(N // 128):
        nl.store(out[:, at * (N // 128) + block, :], value=tile[:, nl.ds(block * 128, 128)])


def _down(turned, a_tile, blocks):
    """(x a), transposed: the rank on the partitions."""
    acc = nl.zeros((nl.par_dim(128), 128), dtype=nl.float32, buffer=nl.psum)
    for k in nl.affine_range(blocks):
        acc += nisa.nc_matmul(a_tile[:, k, :], turned[:, k, :])
    return nl.copy(acc)


def _a(a):
    blocks, p, rank = a.shape
    tile = nl.ndarray((nl.par_dim(p), blocks, rank), dtype=a.dtype)
    for k in nl.affine_range(blocks):
        tile[:, k, :] = nl.load(a[k])
    return tile


@nki.jit
def rows(x, w, a, b):
    """A tile of 128 rows meets all of w, 128 columns at a time (N=128)."""
    outer, inner, p, blocks, _ = x.shape
    n = w.shape[2]
    out = nl.ndarray((outer, inner, p, n // 128, 128), dtype=x.dtype, buffer=nl.shared_hbm)
    a_tile = _a(a)
    for o in nl.affine_range(outer):
        for i in nl.affine_range(inner):
            turned = _turned(x[o, i], blocks, x.dtype)
            down = _down(turned, a_tile, blocks)
            for at in nl.affine_range(n // N):
                columns = nl.ds(at * N, N)
                acc = nl.zeros((nl.par_dim(p), N), dtype=nl.float32, buffer=nl.psum)
                for k in nl.affine_range(blocks):
                    acc += nisa.nc_matmul(turned[:, k, :], nl.load(w[k, :, columns]))
                acc += nisa.nc_matmul(down, nl.load(b[:, columns]))
                _store(out[o, i], at, nl.copy(acc))
    return out


@nki.jit
def row_blocks(x, w, a, b):
    """Four tiles of rows share each load of w."""
    outer, inner, p, blocks, _ = x.shape
    n = w.shape[2]
    out = nl.ndarray((outer, inner, p, n // 128, 128), dtype=x.dtype, buffer=nl.shared_hbm)
    a_tile = _a(a)
    for o in nl.affine_range(outer):
        turned = [_turned(x[o, i], blocks, x.dtype) for i in range(inner)]
        down = [_down(one, a_tile, blocks) for one in turned]
        for at in nl.affine_range(n // N):
            columns = nl.ds(at * N, N)
            acc = nl.zeros((inner, nl.par_dim(p), N), dtype=nl.float32, buffer=nl.psum)
            for k in nl.affine_range(blocks):
                w_tile = nl.load(w[k, :, columns])
                for i in nl.affine_range(inner):
                    acc[i] += nisa.nc_matmul(turned[i][:, k, :], w_tile)
            b_tile = nl.load(b[:, columns])
            for i in nl.affine_range(inner):
                acc[i] += nisa.nc_matmul(down[i], b_tile)
                _store(out[o, i], at, nl.copy(acc[i]))
    return out


def _halves(tile):
    high = nl.copy(tile, dtype=nl.bfloat16)
    return high, nisa.tensor_tensor(tile, high, op=np.subtract, dtype=nl.bfloat16)


@nki.jit
def bf16_split(x, w, a, b):
    """The large product in three of bf16; the update stays fp32."""
    outer, inner, p, blocks, _ = x.shape
    n = w.shape[2]
    out = nl.ndarray((outer, inner, p, n // 128, 128), dtype=x.dtype, buffer=nl.shared_hbm)
    a_tile = _a(a)
    for o in nl.affine_range(outer):
        highs = nl.ndarray((inner, nl.par_dim(128), blocks, 128), dtype=nl.bfloat16)
        lows = nl.ndarray((inner, nl.par_dim(128), blocks, 128), dtype=nl.bfloat16)
        down = nl.ndarray((inner, nl.par_dim(128), 128), dtype=nl.float32)
        for i in nl.affine_range(inner):
            acc = nl.zeros((nl.par_dim(128), 128), dtype=nl.float32, buffer=nl.psum)
            for k in nl.affine_range(blocks):
                turned = nl.copy(nisa.nc_transpose(nl.load(x[o, i, :, k, :])))
                highs[i, :, k, :], lows[i, :, k, :] = _halves(turned)
                acc += nisa.nc_matmul(a_tile[:, k, :], turned)
            down[i] = nl.copy(acc)
        for at in nl.affine_range(n // N):
            columns = nl.ds(at * N, N)
            acc = nl.zeros((inner, nl.par_dim(p), N), dtype=nl.float32, buffer=nl.psum)
            for k in nl.affine_range(blocks):
                w_high, w_low = _halves(nl.load(w[k, :, columns]))
                for i in nl.affine_range(inner):
                    acc[i] += nisa.nc_matmul(highs[i, :, k, :], w_high)
                    acc[i] += nisa.nc_matmul(highs[i, :, k, :], w_low)
                    acc[i] += nisa.nc_matmul(lows[i, :, k, :], w_high)
            b_tile = nl.load(b[:, columns])
            for i in nl.affine_range(inner):
                acc[i] += nisa.nc_matmul(down[i], b_tile)
                _store(out[o, i], at, nl.copy(acc[i]))
    return out


@nki.jit
def fold(x, w, a, b):
    """w + a b first, kept in HBM; then one product in three of bf16."""
    outer, inner, p, blocks, _ = x.shape
    n = w.shape[2]
    out = nl.ndarray((outer, inner, p, n // 128, 128), dtype=x.dtype, buffer=nl.shared_hbm)
    sums = nl.ndarray(w.shape, dtype=w.dtype, buffer=nl.hbm)
    a_turned = nl.ndarray((blocks, nl.par_dim(128), 128), dtype=a.dtype)
    for k in nl.affine_range(blocks):
        a_turned[k] = nl.copy(nisa.nc_transpose(nl.load(a[k])))
    for k in nl.affine_range(blocks):
        for at in nl.affine_range(n // N):
            columns = nl.ds(at * N, N)
            update = nisa.nc_matmul(a_turned[k], nl.load(b[:, columns]))
            nl.store(sums[k, :, columns], value=nisa.tensor_tensor(nl.load(w[k, :, columns]), update, op=nl.add))
    for o in nl.affine_range(outer):
        highs = nl.ndarray((inner, blocks, nl.par_dim(128), 128), dtype=nl.bfloat16)
        lows = nl.ndarray((inner, blocks, nl.par_dim(128), 128), dtype=nl.bfloat16)
        for i in nl.affine_range(inner):
            for k in nl.affine_range(blocks):
                highs[i, k], lows[i, k] = _halves(nl.copy(nisa.nc_transpose(nl.load(x[o, i, :, k, :]))))
        for at in nl.affine_range(n // N):
            columns = nl.ds(at * N, N)
            acc = nl.zeros((inner, nl.par_dim(p), N), dtype=nl.float32, buffer=nl.psum)
            for k in nl.affine_range(blocks):
                w_high, w_low = _halves(nl.load(sums[k, :, columns]))
                for i in nl.affine_range(inner):
                    acc[i] += nisa.nc_matmul(highs[i, k], w_high)
                    acc[i] += nisa.nc_matmul(highs[i, k], w_low)
                    acc[i] += nisa.nc_matmul(lows[i, k], w_high)
            for i in nl.affine_range(inner):
                _store(out[o, i], at, nl.copy(acc[i]))
    return out
