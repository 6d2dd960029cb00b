"""RMS norm and a product in the first dialect: x (32, 128, 1024), w (8, 128, 2048); the contraction is 1024."""

import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl
import numpy as np

N = 512


def _weights(w, dtype):
    blocks, p, n = w.shape
    tiles = nl.ndarray((blocks, nl.par_dim(p), n), dtype=dtype, buffer=nl.sbuf)
    for k in nl.affine_range(blocks):
        tiles[k] = nl.load(w[k], dtype=dtype)
    return tiles


def _scale(x_tile):
    """1 / rms of each row: the scalar engine squares, the vector engine adds up."""
    f = x_tile.shape[1]
    total = nisa.tensor_reduce(nl.add, nisa.activation(op=nl.square, data=x_tile), axis=[1])
    return nisa.activation(op=nl.rsqrt, data=total, scale=1.0 / f)


def _columns(x_tile, blocks, dtype, engine=nisa.engine.unknown):
    """The tile with the contraction on the partitions: transposes through PSUM."""
    turned = nl.ndarray((nl.par_dim(128), blocks * 128), dtype=dtype)
    for k in nl.affine_range(blocks):
        if engine is nisa.engine.vector:
            turned[:, nl.ds(k * 128, 128)] = nisa.nc_transpose(x_tile[:, nl.ds(k * 128, 128)], engine=engine)
        else:
            turned[:, nl.ds(k * 128, 128)] = nl.copy(nisa.nc_transpose(x_tile[:, nl.ds(k * 128, 128)]), dtype=dtype)
    return turned


def _product(turned, weights, n, blocks):
    acc = nl.zeros((nl.par_dim(128), N), dtype=nl.float32, buffer=nl.psum)
    for k in nl.affine_range(blocks):
        acc += nisa.nc_matmul(turned[:, nl.ds(k * 128, 128)], weights[k, :, nl.ds(n * N, N)])
    return acc


@nki.jit
def scale_before(x, w):
    """Rows are scaled before the product; nl.copy empties PSUM."""
    rows, p, f = x.shape
    blocks, _, n = w.shape
    out = nl.ndarray((rows, p, n), dtype=x.dtype, buffer=nl.shared_hbm)
    weights = _weights(w, w.dtype)
    for row in nl.affine_range(rows):
        x_tile = nl.load(x[row])
        normal = nisa.tensor_scalar(x_tile, op0=nl.multiply, operand0=_scale(x_tile))
        turned = _columns(normal, blocks, x.dtype)
        for at in nl.affine_range(n // N):
            nl.store(out[row, :, nl.ds(at * N, N)], value=nl.copy(_product(turned, weights, at, blocks)))
    return out


def _scale_after(x, w, columns):
    rows, p, f = x.shape
    blocks, _, n = w.shape
    out = nl.ndarray((rows, p, n), dtype=x.dtype, buffer=nl.shared_hbm)
    weights = _weights(w, w.dtype)
    for row in nl.affine_range(rows):
        x_tile = nl.load(x[row])
        scale = _scale(x_tile)
        turned = columns(x, x_tile, row, blocks)
        for at in nl.affine_range(n // N):
            nl.store(out[row, :, nl.ds(at * N, N)], value=nisa.tensor_scalar(_product(turned, weights, at, blocks), op0=nl.multiply, operand0=scale))
    return out


@nki.jit
def scale_after(x, w):
    """Rows are scaled as they leave PSUM."""
    return _scale_after(x, w, lambda x, x_tile, row, blocks: _columns(x_tile, blocks, x.dtype))


@nki.jit
def stationary_reuse(x, w):
    """A stationary tile meets all columns before the next one is loaded."""
    rows, p, f = x.shape
    blocks, _, n = w.shape
    out = nl.ndarray((rows, p, n), dtype=x.dtype, buffer=nl.shared_hbm)
    weights = _weights(w, w.dtype)
    for row in nl.affine_range(rows):
        x_tile = nl.load(x[row])
        scale = _scale(x_tile)
        turned = _columns(x_tile, blocks, x.dtype)
        acc = nl.zeros((n // N, nl.par_dim(p), N), dtype=nl.float32, buffer=nl.psum)
        for k in nl.affine_range(blocks):
            for at in nl.affine_range(n // N):
                acc[at] += nisa.nc_matmul(turned[:, nl.ds(k * 128, 128)], weights[k, :, nl.ds(at * N, N)])
        for at in nl.affine_range(n // N):
            nl.store(out[row, :, nl.ds(at * N, N)], value=nisa.tensor_scalar(acc[at], op0=nl.multiply, operand0=scale))
    return out


@nki.jit
def load_transpose(x, w):
    """The load transposes."""

    def columns(x, x_tile, row, blocks):
        turned = nl.ndarray((nl.par_dim(128), blocks * 128), dtype=x.dtype)
        for k in nl.affine_range(blocks):
            turned[:, nl.ds(k * 128, 128)] = nl.load_transpose2d(x[row, :, nl.ds(k * 128, 128)])
        return turned

    return _scale_after(x, w, columns)


@nki.jit
def vector_transpose(x, w):
    """The vector engine transposes."""
    return _scale_after(x, w, lambda x, x_tile, row, blocks: _columns(x_tile, blocks, x.dtype, nisa.engine.vector))


@nki.jit
def bf16_product(x, w):
    """Everything behind the loads in bf16."""
    rows, p, f = x.shape
    blocks, _, n = w.shape
    out = nl.ndarray((rows, p, n), dtype=x.dtype, buffer=nl.shared_hbm)
    weights = _weights(w, nl.bfloat16)
    for row in nl.affine_range(rows):
        x_tile = nl.load(x[row])
        scale = _scale(x_tile)
        turned = _columns(nl.copy(x_tile, dtype=nl.bfloat16), blocks, nl.bfloat16)
        for at in nl.affine_range(n // N):
            nl.store(out[row, :, nl.ds(at * N, N)], value=nisa.tensor_scalar(_product(turned, weights, at, blocks), op0=nl.multiply, operand0=scale))
    return out


def _halves(tile):
    """A tile of fp32 as the sum of two of bf16."""
    high = nl.copy(tile, dtype=nl.bfloat16)
    return high, nisa.tensor_tensor(tile, high, op=np.subtract, dtype=nl.bfloat16)


@nki.jit
def bf16_split(x, w):
    """Three bf16 products instead of one of fp32: high x high, high x low, low x high."""
    rows, p, f = x.shape
    blocks, _, n = w.shape
    out = nl.ndarray((rows, p, n), dtype=x.dtype, buffer=nl.shared_hbm)
    w_high = nl.ndarray((blocks, nl.par_dim(p), n), dtype=nl.bfloat16)
    w_low = nl.ndarray((blocks, nl.par_dim(p), n), dtype=nl.bfloat16)
    for k in nl.affine_range(blocks):
        w_high[k], w_low[k] = _halves(nl.load(w[k]))
    for row in nl.affine_range(rows):
        x_tile = nl.load(x[row])
        scale = _scale(x_tile)
        turned = _columns(x_tile, blocks, x.dtype)
        high, low = _halves(turned)
        for at in nl.affine_range(n // N):
            acc = nl.zeros((nl.par_dim(p), N), dtype=nl.float32, buffer=nl.psum)
            for k in nl.affine_range(blocks):
                part, columns = nl.ds(k * 128, 128), nl.ds(at * N, N)
                acc += nisa.nc_matmul(high[:, part], w_high[k, :, columns])
                acc += nisa.nc_matmul(high[:, part], w_low[k, :, columns])
                acc += nisa.nc_matmul(low[:, part], w_high[k, :, columns])
            nl.store(out[row, :, nl.ds(at * N, N)], value=nisa.tensor_scalar(acc, op0=nl.multiply, operand0=scale))
    return out
