"""Allocation by the author, masks that are decided while recording, and types from inside the compiler, in the first dialect."""

import functools
from dataclasses import dataclass

import neuronxcc.nki.compiler as ncc
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl
import numpy as np
from neuronxcc import nki
from neuronxcc.nki.language import par_dim
from neuronxcc.starfish.support.dtype import bfloat16


@dataclass(frozen=True)
class Config:
    tile:int = 512


@nki.jit(mode='trace')
def inner(dst, src, cfg: Config):
    for i in nl.affine_range(2):
        dst[:, nl.ds(i*256, 256)] = nl.copy(src[:, nl.ds(i*256, 256)], dtype=dst.dtype)


@nki.compiler.skip_middle_end_transformations
@nki.jit
def kernel(hidden, weights, norm_dtype=np.float32, eps=1e-6, config=None):
    cfg = config or Config()
    size = np.dtype(norm_dtype).itemsize + np.dtype(nl.bfloat16).itemsize
    S, D = hidden.shape
    out = nl.ndarray((S, D), dtype=hidden.dtype, buffer=nl.shared_hbm)
    ix, iy = nl.mgrid[0:128, 0:D]
    i_r = nl.mgrid[0:128, 0:512]
    ident = nl.ndarray((par_dim(128), 128), dtype=bfloat16, buffer=ncc.sbuf.mod_alloc(base_addr=size))
    identity_a = nl.shared_constant(np.identity(n=128, dtype=np.int8), dtype=nl.bfloat16)
    ident[...] = nl.load(identity_a)
    bias = nl.ndarray((par_dim(128), 1), dtype=np.float32, buffer=ncc.sbuf.mod_alloc(base_addr=300))
    bias[...] = 0
    m_buffer = nl.ndarray((par_dim(128), 4), dtype=np.float32)
    w = nl.ndarray((4, par_dim(128), 512), dtype=weights.dtype, buffer=ncc.sbuf.mod_alloc(base_addr=512, num_free_tiles=(4,)))
    for m in nl.affine_range(4):
        w[m, i_r.p, i_r.x] = nl.load(weights[m*128+i_r.p, i_r.x], mask=(m*128+i_r.p < D) & (i_r.x < 300))
    def bank(bank_map, idx, pdim_size, fdim_size):
        return (bank_map[idx], 0, 0)
    ps = nl.ndarray((2, par_dim(128), 512), dtype=np.float32, buffer=ncc.psum.alloc(functools.partial(bank, bank_map={(0,): 1, (1,): 5})))
    bufs = nl.ndarray((2, par_dim(128), D), dtype=hidden.dtype, buffer=ncc.sbuf.mod_alloc(base_addr=260, num_free_tiles=(2,)))
    for g in nl.affine_range(2):
        bufs[g] = nl.load(hidden[g*128+ix, iy], mask=g*128+ix < S)
        act = nl.ndarray((par_dim(128), D), dtype=norm_dtype)
        ss = nl.ndarray((par_dim(128), 1), dtype=norm_dtype)
        act[...] = nisa.activation_reduce(op=nl.square, data=bufs[g], reduce_op=np.sum, reduce_res=ss[...], bias=bias[...])
        ss[...] = nisa.tensor_scalar(ss[...], np.multiply, 1/D, op1=np.add, operand1=eps)
        m_buffer[:, 0] = nl.maximum(nl.copy(ss[:, 0]), ss)
        m_buffer[:, g + 1] = nisa.tensor_reduce(np.max, act, axis=(1,), negate=False)
        alpha = nisa.activation(np.exp, m_buffer[:, 0], bias=-1 * m_buffer[:, 1], scale=-1.0) if g else bias
        causal = g * 128 >= 128
        act[:, 0:128] = nl.add(act[:, 0:128], 1.0, mask=causal)
        act[:, 0:128] = nisa.affine_select(pred=ix + g*128 >= i_r.x, on_true_tile=act[:, 0:128], on_false_value=-1e30, mask=(g * 128 < 128) & (g > -1))
        tr = nl.ndarray((1, par_dim(128), 512), dtype=np.float32, buffer=ncc.psum.mod_alloc(base_bank=7, num_bank_tiles=(1,)))
        if nisa.get_nc_version() >= nisa.nc_version.gen3:
            tr[0, :, 0:128] = nisa.nc_matmul(act[:, 0:128], ident[...], is_transpose=True) if act.dtype == nl.bfloat16 else nisa.nc_transpose(act[:, 0:128])
        t2 = nl.ndarray((par_dim(128), 512), dtype=nl.bfloat16)
        t2[:, 0:128] = nl.copy(tr[0][:, 0:128], dtype=nl.bfloat16)
        for m in nl.affine_range(4):
            ps[g] += nisa.nc_matmul(moving=w[m, i_r.p, i_r.x], stationary=act[:, 0:128])
        o = nl.ndarray((par_dim(128), 512), dtype=hidden.dtype)
        inner(o, ps[g], cfg)
        o[...] = nisa.activation(np.copy, o, scale=ss, bias=bias)
        o[:, 0:256] = ss[:, 0].broadcast_to((128, 256)) if g else ss.broadcast_to((128, 256))
        nl.store(out[g*128+i_r.p, i_r.x], value=o, mask=(g*128+i_r.p < S) & (i_r.x < D))
    return out
