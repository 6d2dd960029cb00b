"""Kernels as people write them, in both dialects: each builds without a remark, and moves the bytes that one counts by hand."""

import pytest
from test_nki_recorder import hbm_bytes, record

FIRST = "import neuronxcc.nki as nki\nimport neuronxcc.nki.language as nl\nimport neuronxcc.nki.isa as nisa\nimport numpy as np\n\n"
SECOND = "import nki\nimport nki.language as nl\nimport nki.isa as nisa\n\n"
KERNELS = {}


def first(name, shapes, read, write, body, grid=None):
    KERNELS[name] = (shapes, read, write, FIRST + "@nki.jit" + body, grid)


def second(name, shapes, read, write, body, before=""):
    KERNELS[name] = (shapes, read, write, SECOND + before + "@nki.jit" + body, None)


first("add", "256x512,256x512", 2 * 256 * 512 * 4, 256 * 512 * 4, """
def f(a, b):
    c = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
    for i in nl.affine_range(a.shape[0] // nl.tile_size.pmax):
        ix = i * 128 + nl.arange(128)[:, None]
        iy = nl.arange(512)[None, :]
        nl.store(c[ix, iy], nl.load(a[ix, iy]) + nl.load(b[ix, iy]))
    return c
""")
first("ragged", "300x700", 300 * 700 * 4, 300 * 700 * 4, """
def f(a):
    c = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
    i_p, i_f = nl.mgrid[0:128, 0:512]
    for i in nl.affine_range((a.shape[0] + 127) // 128):
        for j in nl.affine_range((a.shape[1] + 511) // 512):
            m = (i * 128 + i_p < a.shape[0]) & (j * 512 + i_f < a.shape[1])
            t = nl.load(a[i * 128 + i_p, j * 512 + i_f], mask=m)
            nl.store(c[i * 128 + i_p, j * 512 + i_f], nl.tanh(t, mask=m), mask=m)
    return c
""")
first("softmax", "128x1024", 128 * 1024 * 4, 128 * 1024 * 4, """
def f(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    t = nl.load(x)
    m = nl.max(t, axis=1, keepdims=True)
    e = nl.exp(t - m)
    s = nl.sum(e, axis=[1], keepdims=True)
    nl.store(out, value=e / s)
    return out
""")
first("rmsnorm", "256x512,512", (256 * 512 + 512) * 4, 256 * 512 * 4, """
def f(a, g):
    out = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
    ix = nl.arange(128)[:, None]; iw = nl.arange(1)[:, None]; iy = nl.arange(a.shape[1])[None, :]
    g_tile = nl.load(g.reshape((1, g.shape[0]))[iw, iy])
    for i in nl.affine_range(2):
        t = nl.load(a[i * 128 + ix, iy])
        sq = nl.square(t)
        mean = nl.sum(sq, axis=[1]) / a.shape[1]
        r = nl.rsqrt(mean + 1e-6)
        o = t * r
        gb = g_tile.broadcast_to((128, a.shape[1]))
        o[...] = nl.multiply(o, gb)
        nl.store(out[i * 128 + ix, iy], value=o)
    return out
""")
first("matmul", "256x128:bf16,256x512:bf16", (256 * 128 + 256 * 512) * 2, 128 * 512 * 4, """
def f(lt, r):
    out = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)
    acc = nl.zeros((128, 512), nl.float32, buffer=nl.psum)
    for k in nl.affine_range(2):
        a = nl.load(lt[k * 128:(k + 1) * 128, :])
        b = nl.load(r[nl.ds(k * 128, 128), :])
        acc += nl.matmul(a, b, transpose_x=True)
    nl.store(out, value=nl.copy(acc, dtype=out.dtype))
    return out
""")
first("transpose", "128x128", 128 * 128 * 4, 128 * 128 * 4, """
def f(x):
    out = nl.ndarray((128, 128), dtype=x.dtype, buffer=nl.shared_hbm)
    t = nl.load(x)
    p = nisa.nc_transpose(t)
    nl.store(out, nisa.tensor_copy(p))
    return out
""")
first("load_transpose", "512x128", 512 * 128 * 4, 512 * 128 * 4, """
def f(x):
    out = nl.ndarray((128, 512), dtype=x.dtype, buffer=nl.shared_hbm)
    for i in nl.static_range(4):
        t = nl.load_transpose2d(x[i * 128:(i + 1) * 128, 0:128])
        nl.store(out[0:128, i * 128:(i + 1) * 128], t)
    return out
""")
first("layernorm_bn", "128x512", 128 * 512 * 4, 128 * 512 * 4, """
def f(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    t = nl.load(x)
    stats = nisa.bn_stats(t)
    mv = nisa.bn_aggr(stats)
    inv = nl.rsqrt(mv[:, 1:2] + 1e-5)
    y = nisa.tensor_scalar(t, op0=np.subtract, operand0=mv[:, 0:1], op1=np.multiply, operand1=inv)
    nl.store(out, y)
    return out
""")
first("grid", "512x256", 512 * 256 * 4, 512 * 256 * 4, """
def f(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    i = nl.program_id(0)
    ix = nl.arange(128)[:, None] + i * 128
    iy = nl.arange(256)[None, :]
    nl.store(out[ix, iy], value=nl.gelu(nl.load(x[ix, iy])))
    return out
""", grid=[4])
first("block_dims", "512x256", 512 * 256 * 4, 512 * 256 * 4, """
def f(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    buf = nl.ndarray((4, nl.par_dim(128), 256), dtype=x.dtype, buffer=nl.sbuf)
    for i in nl.affine_range(4):
        buf[i] = nl.load(x[nl.ds(i * 128, 128), :])
    for i in nl.affine_range(4):
        nl.store(out[nl.ds(i * 128, 128), :], value=nl.maximum(buf[i], 0.0))
    return out
""")
first("activation_bias", "128x512,128x1", (128 * 512 + 128) * 4, 128 * 512 * 4, """
def f(x, b):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, nisa.activation(op=nl.relu, data=nl.load(x), bias=nl.load(b), scale=2.0))
    return out
""")
first("scan", "128x512,128x512", 2 * 128 * 512 * 4, 128 * 512 * 4, """
def f(a, b):
    out = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
    r = nisa.tensor_tensor_scan(nl.load(a), nl.load(b), initial=0, op0=np.multiply, op1=np.add)
    nl.store(out, r)
    return out
""")
first("where_mask", "128x128", 128 * 128 * 4, 128 * 128 * 4, """
def f(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    i_p, i_f = nl.mgrid[0:128, 0:128]
    t = nl.load(x)
    nl.store(out, nisa.affine_select(pred=(i_f <= i_p), on_true_tile=t[i_p, i_f], on_false_value=-9984.0))
    return out
""")
first("hbm_to_hbm_shift", "128x512", 128 * 512 * 4, 128 * 512 * 4, """
def f(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    t = nl.load(x)
    u = nl.ndarray((nl.par_dim(128), 512), dtype=x.dtype, buffer=nl.sbuf)
    u[:, 1:512] = nl.copy(t[:, 0:511])
    u[:, 0:1] = nl.copy(t[:, 511:512])
    nl.store(out, u)
    return out
""")
first("lists", "128x512", 128 * 512 * 4, 128 * 512 * 4, """
def f(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tiles = [nl.load(x[:, nl.ds(i * 128, 128)]) for i in range(4)]
    total = tiles[0]
    for t in tiles[1:]:
        total = nl.add(total, t)
    for i in range(4):
        nl.store(out[:, nl.ds(i * 128, 128)], value=nl.subtract(tiles[i], total))
    return out
""")
first("silu_mul", "256x512:bf16,256x512:bf16", 2 * 256 * 512 * 2, 256 * 512 * 2, """
def f(g, u):
    out = nl.ndarray(g.shape, dtype=g.dtype, buffer=nl.shared_hbm)
    for i in nl.affine_range(2):
        a = nl.load(g[nl.ds(i * 128, 128)])
        b = nl.load(u[nl.ds(i * 128, 128)])
        nl.store(out[nl.ds(i * 128, 128)], nl.multiply(nl.silu(a), b, dtype=nl.bfloat16))
    return out
""")
first("reduce_res", "128x512", 128 * 512 * 4, 128 * 1 * 4, """
def f(x):
    out = nl.ndarray((128, 1), dtype=x.dtype, buffer=nl.shared_hbm)
    s = nl.ndarray((nl.par_dim(128), 1), dtype=nl.float32, buffer=nl.sbuf)
    e = nisa.activation_reduce(op=nl.exp, data=nl.load(x), reduce_op=np.add, reduce_res=s)
    nl.store(out, s)
    return out
""")
first("iota_mask", "128x512", 128 * 512 * 4, 128 * 512 * 4, """
def f(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    idx = nisa.iota(nl.arange(512)[None, :], dtype=nl.float32)
    t = nl.load(x)
    nl.store(out, t * idx.broadcast_to((128, 512)))
    return out
""")
first("three_dim", "4x128x256", 4 * 128 * 256 * 4, 4 * 128 * 256 * 4, """
def f(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for b in nl.affine_range(x.shape[0]):
        t = nl.load(x[b])
        nl.store(out[b], value=nl.sigmoid(t))
    return out
""")
first("sequential", "512x512", 512 * 512 * 4, 128 * 512 * 4, """
def f(x):
    out = nl.ndarray((128, 512), dtype=x.dtype, buffer=nl.shared_hbm)
    acc = nl.zeros((nl.par_dim(128), 512), dtype=nl.float32, buffer=nl.sbuf)
    for i in nl.sequential_range(4):
        acc[...] = nl.maximum(acc, nl.load(x[i * 128:(i + 1) * 128, :]))
    nl.store(out[...], value=acc)
    return out
""")
second("add2", "256x512,256x512", 2 * 256 * 512 * 4, 256 * 512 * 4, """
def f(a, b):
    c = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
    for i in nl.affine_range(a.shape[0] // nl.tile_size.pmax):
        x = nl.ndarray((128, 512), dtype=a.dtype, buffer=nl.sbuf)
        y = nl.ndarray((128, 512), dtype=a.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=x, src=a[i * 128:(i + 1) * 128, :])
        nisa.dma_copy(dst=y, src=b[i * 128:(i + 1) * 128, :])
        nisa.tensor_tensor(dst=x, data1=x, data2=y, op=nl.add, engine=nisa.gpsimd_engine)
        nisa.dma_copy(dst=c[i * 128:(i + 1) * 128, :], src=x)
    return c
""")
second("matmul2", "512x128:bf16,512x1024:bf16", (2 * 512 * 128 + 512 * 1024) * 2, 128 * 1024 * 2, """
def f(lt, r):
    K, M = lt.shape
    out = nl.ndarray((M, r.shape[1]), dtype=lt.dtype, buffer=nl.shared_hbm)
    for n in range(2):
        acc = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum)
        for k in range(K // 128):
            a = nl.ndarray((128, 128), dtype=lt.dtype, buffer=nl.sbuf)
            b = nl.ndarray((128, 512), dtype=lt.dtype, buffer=nl.sbuf)
            nisa.dma_copy(dst=a, src=lt[nl.ds(k * 128, 128), :])
            nisa.dma_copy(dst=b, src=r[nl.ds(k * 128, 128), nl.ds(n * 512, 512)])
            nisa.nc_matmul(dst=acc, stationary=a, moving=b, accumulate=k > 0)
        o = nl.ndarray((128, 512), dtype=out.dtype, buffer=nl.sbuf)
        nisa.tensor_copy(dst=o, src=acc, engine=nisa.scalar_engine)
        nisa.dma_copy(dst=out[:, nl.ds(n * 512, 512)], src=o)
    return out
""")
second("wrappers", "128x512", 128 * 512 * 4, 128 * 512 * 4, """
def f(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    t = nl.load(x)
    m = nl.max(t, axis=1, keepdims=True)
    e = nl.exp(nl.subtract(t, m))
    s = nl.sum(e, axis=1, keepdims=True)
    nl.store(out, nl.divide(e, s))
    return out
""")
second("act2", "128x512,128x1", (128 * 512 + 128) * 4, 128 * 512 * 4, """
def f(x, b):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    t = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    c = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(t, x)
    nisa.dma_copy(c, b)
    nisa.activation(dst=t, op=nl.gelu_apprx_tanh, data=t, bias=c, scale=0.5)
    nisa.dma_copy(out, t)
    return out
""")
second("reduce2", "128x2048", 128 * 2048 * 4, 128 * 1 * 4, """
def f(x):
    out = nl.ndarray((128, 1), dtype=x.dtype, buffer=nl.shared_hbm)
    t = nl.ndarray((128, 2048), dtype=x.dtype, buffer=nl.sbuf)
    s = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(dst=t, src=x)
    nisa.tensor_reduce(dst=s, op=nl.add, data=t, axis=1)
    nisa.tensor_scalar(dst=s, data=s, op0=nl.multiply, operand0=1.0 / 2048)
    nisa.dma_copy(dst=out, src=s)
    return out
""")
second("shuffle", "128x64", 128 * 64 * 4, 128 * 64 * 4, """
def f(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    t = nl.ndarray((128, 64), dtype=x.dtype, buffer=nl.sbuf)
    u = nl.ndarray((128, 64), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=t, src=x)
    nisa.nc_stream_shuffle(dst=u, src=t, shuffle_mask=[0] * 32)
    nisa.dma_copy(dst=out, src=u)
    return out
""")
second("partition_reduce", "128x64", 128 * 64 * 4, 64 * 4, """
def f(x):
    out = nl.ndarray((1, 64), dtype=x.dtype, buffer=nl.shared_hbm)
    t = nl.ndarray((128, 64), dtype=x.dtype, buffer=nl.sbuf)
    u = nl.ndarray((1, 64), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=t, src=x)
    nisa.tensor_partition_reduce(dst=u, op=nl.add, data=t)
    nisa.dma_copy(dst=out, src=u)
    return out
""")
second("transpose2", "128x128:bf16", 128 * 128 * 2, 128 * 128 * 2, """
def f(x):
    out = nl.ndarray((128, 128), dtype=x.dtype, buffer=nl.shared_hbm)
    t = nl.ndarray((128, 128), dtype=x.dtype, buffer=nl.sbuf)
    p = nl.ndarray((128, 128), dtype=x.dtype, buffer=nl.psum)
    nisa.dma_copy(dst=t, src=x)
    nisa.nc_transpose(dst=p, data=t)
    nisa.tensor_copy(dst=t, src=p)
    nisa.dma_copy(dst=out, src=t)
    return out
""")
second("dma_transpose2", "512x128:bf16", 512 * 128 * 2, 512 * 128 * 2, """
def f(x):
    out = nl.ndarray((128, 512), dtype=x.dtype, buffer=nl.shared_hbm)
    t = nl.ndarray((128, 512), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_transpose(dst=t, src=x)
    nisa.dma_copy(dst=out, src=t)
    return out
""")
second("ap2", "128x512", 128 * 512 * 4, 128 * 256 * 4, """
def f(x):
    out = nl.ndarray((128, 256), dtype=x.dtype, buffer=nl.shared_hbm)
    t = nl.ndarray((128, 512), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=t, src=x)
    u = nl.ndarray((128, 256), dtype=x.dtype, buffer=nl.sbuf)
    nisa.tensor_copy(dst=u, src=t.ap(pattern=[[512, 128], [2, 256]], offset=1))
    nisa.dma_copy(dst=out, src=u)
    return out
""")
second("helper_class", "256x256", 256 * 256 * 4, 256 * 256 * 4, """
def f(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    cfg = Config(rows=128, cols=x.shape[1])
    for i, start in enumerate(range(0, x.shape[0], cfg.rows)):
        t = load(x, start, cfg)
        nisa.tensor_scalar(t, t, nl.multiply, 2.0, op1=nl.add, operand1=float(i))
        nisa.dma_copy(out[start:start + cfg.rows], t)
    return out
""", before="""from dataclasses import dataclass


@dataclass
class Config:
    rows: int
    cols: int


def load(x, start, cfg):
    t = nl.ndarray((cfg.rows, cfg.cols), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(t, x[start:start + cfg.rows])
    return t


""")
second("alternating", "1024x512", 1024 * 512 * 4, 1024 * 512 * 4, """
def f(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for i in range(8):
        t = nl.ndarray((128, 512), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=t, src=x[nl.ds(i * 128, 128)], dge_mode=nisa.dge_mode.hwdge, engine=nisa.engine.sync)
        nisa.tensor_copy(dst=t, src=t, engine=nisa.engine.scalar if i % 2 == 0 else nisa.engine.vector)
        nisa.dma_copy(dst=out[nl.ds(i * 128, 128)], src=t)
    return out
""")
second("int_ops", "128x128:i32", 128 * 128 * 4, 128 * 128 * 4, """
def f(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    t = nl.ndarray((128, 128), dtype=nl.int32, buffer=nl.sbuf)
    nisa.dma_copy(dst=t, src=x)
    nisa.tensor_scalar(dst=t, data=t, op0=nl.right_shift, operand0=4, op1=nl.bitwise_and, operand1=15)
    nisa.tensor_tensor(dst=t, data1=t, data2=t, op=nl.add)
    nisa.dma_copy(dst=out, src=t)
    return out
""")
second("iota2", "128x512", 128 * 512 * 4, 128 * 512 * 4, """
def f(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    t = nl.ndarray((128, 512), dtype=x.dtype, buffer=nl.sbuf)
    i = nl.ndarray((128, 512), dtype=nl.int32, buffer=nl.sbuf)
    m = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(dst=t, src=x)
    nisa.iota(dst=i, pattern=[[1, 512]], offset=0, channel_multiplier=-1)
    nisa.tensor_scalar(dst=m, data=i, op0=nl.less_equal, operand0=0)
    nisa.tensor_tensor(dst=t, data1=t, data2=m, op=nl.multiply)
    nisa.dma_copy(dst=out, src=t)
    return out
""")
second("select2", "128x512", 128 * 512 * 4, 128 * 512 * 4, """
def f(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    t = nl.ndarray((128, 512), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=t, src=x)
    nisa.affine_select(dst=t, pattern=[[-1, 512]], channel_multiplier=1, on_true_tile=t, on_false_value=-1e4, cmp_op=nl.greater_equal)
    nisa.dma_copy(dst=out, src=t)
    return out
""")
second("fori", "1024x512", 1024 * 512 * 4, 1024 * 512 * 4, """
def f(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for i in nl.sequential_range(8):
        t = nl.ndarray((nl.tile_size.pmax, 512), dtype=x.dtype, buffer=nl.sbuf, name=f"t{i}")
        nisa.dma_copy(dst=t[...], src=x[i * 128:(i + 1) * 128, 0:512])
        nisa.activation(dst=t[...], op=nl.silu, data=t[...])
        nisa.dma_copy(dst=out[i * 128:(i + 1) * 128, 0:512], src=t[...])
    return out
""")
second("bn2", "128x2048", 128 * 2048 * 4, 128 * 2048 * 4, """
def f(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    t = nl.ndarray((128, 2048), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=t, src=x)
    n = 2048 // nl.tile_size.bn_stats_fmax
    st = nl.ndarray((128, n * 6), dtype=nl.float32, buffer=nl.sbuf)
    for i in range(n):
        nisa.bn_stats(dst=st[:, i * 6:(i + 1) * 6], data=t[:, i * 512:(i + 1) * 512])
    mv = nl.ndarray((128, 2), dtype=nl.float32, buffer=nl.sbuf)
    nisa.bn_aggr(dst=mv, data=st)
    r = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
    nisa.activation(dst=r, op=nl.rsqrt, data=mv[:, 1:2], bias=1e-5)
    nisa.tensor_scalar(dst=t, data=t, op0=nl.subtract, operand0=mv[:, 0:1], op1=nl.multiply, operand1=r)
    nisa.dma_copy(dst=out, src=t)
    return out
""")
second("stt2", "128x512,128x512", 2 * 128 * 512 * 4, 128 * 512 * 4, """
def f(a, b):
    out = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
    x = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.sbuf)
    y = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.sbuf)
    nisa.dma_copy(x, a); nisa.dma_copy(y, b)
    nisa.scalar_tensor_tensor(dst=x, data=x, op0=nl.multiply, operand0=0.1, op1=nl.add, operand1=y)
    nisa.dma_copy(out, x)
    return out
""")
second("rearr", "4x128x64", 4 * 128 * 64 * 4, 4 * 128 * 64 * 4, """
def f(x):
    out = nl.ndarray((128, 256), dtype=x.dtype, buffer=nl.shared_hbm)
    t = nl.ndarray((128, 4, 64), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=t, src=x.permute((1, 0, 2)))
    nisa.dma_copy(dst=out, src=t.reshape((128, 256)))
    return out
""")
second("scratch_hbm", "128x512", 2 * 128 * 512 * 4, 2 * 128 * 512 * 4, """
def f(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tmp = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.private_hbm)
    t = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=t, src=x)
    nisa.dma_copy(dst=tmp, src=t)
    u = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=u, src=tmp)
    nisa.dma_copy(dst=out, src=u)
    return out
""")


@pytest.mark.parametrize("name", KERNELS)
def test_a_kernel_builds_and_moves_its_bytes(name):
    shapes, read, written, source, grid = KERNELS[name]
    document = record(source, shapes=shapes, grid=grid)
    assert document["builds"] and not document["warnings"], (document["errors"], document["warnings"])
    assert hbm_bytes(document) == (read, written)
