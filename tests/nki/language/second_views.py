"""Views, access patterns, registers and loops of the present dialect."""

from dataclasses import dataclass

import nki
import nki.isa as nisa
import nki.language as nl


@dataclass
class Settings(nl.NKIObject):
    rows: int = 128


class Pool:
    """Classes, generators and lists of tiles are allowed."""

    def __init__(self, count, shape, dtype):
        self.tiles = [nl.ndarray(shape, dtype=dtype, buffer=nl.sbuf, name=f"pool{at}") for at in range(count)]

    def turns(self):
        yield from self.tiles


@nki.jit
def views(x):
    settings = Settings()
    p, f = settings.rows, x.shape[1]
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    pool = Pool(x.shape[0] // p, (p, f), x.dtype)
    for at, tile in enumerate(pool.turns()):
        nisa.dma_copy(dst=tile, src=x[nl.ds(at * p, p), :])
        cube = tile.reshape((p, f // 64, 64))
        most = nl.ndarray((p, f // 64), dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_reduce(dst=most, op=nl.maximum, data=cube, axis=2)
        total = nl.ndarray((p, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.activation(dst=tile, op=nl.exp, data=tile, scale=0.5, reduce_op=nl.add, reduce_res=total)
        nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=total, op1=nl.add, operand1=1.0)
        odd = nl.ndarray((p, f // 2), dtype=nl.bfloat16, buffer=nl.sbuf)
        nisa.tensor_copy(dst=odd, src=tile.ap(pattern=[[f, p], [2, f // 2]], offset=1), engine=nisa.engine.scalar)
        swapped = nl.ndarray((p, 64, f // 64), dtype=x.dtype, buffer=nl.sbuf)
        nisa.tensor_copy(dst=swapped, src=cube.permute((0, 2, 1)))
        wide = nl.ndarray((p, f // 64, 64), dtype=x.dtype, buffer=nl.sbuf)
        nisa.tensor_tensor(dst=wide, data1=cube, data2=most.expand_dim(2).broadcast(2, 64), op=nl.subtract)
        nisa.dma_copy(dst=out[nl.ds(at * p, p), :], src=wide.flatten_dims(1, 2), dge_mode=nisa.dge_mode.hwdge, engine=nisa.engine.sync)
    return out


@nki.jit
def products(a, b):
    """Auto and explicit accumulation, a transpose through PSUM, and a DMA transpose."""
    k, m = a.shape
    n = b.shape[1]
    out = nl.ndarray((m, n), dtype=a.dtype, buffer=nl.shared_hbm)
    acc = nl.ndarray((m, n), dtype=nl.float32, buffer=nl.psum)
    for at in nl.affine_range(k // 128):
        a_tile = nl.load(a[nl.ds(at * 128, 128), :])
        b_tile = nl.load(b[nl.ds(at * 128, 128), :])
        nisa.nc_matmul(dst=acc, stationary=a_tile, moving=b_tile)
    kept = nl.ndarray((m, n), dtype=a.dtype, buffer=nl.sbuf)
    nisa.tensor_copy(dst=kept, src=acc)
    turned = nl.ndarray((128, m), dtype=a.dtype, buffer=nl.psum)
    nisa.nc_transpose(dst=turned, data=kept[:, 0:128])
    left = nl.ndarray((128, m), dtype=a.dtype, buffer=nl.sbuf)
    nisa.tensor_copy(dst=left, src=turned)
    again = nl.ndarray((m, n), dtype=nl.float32, buffer=nl.psum)
    nisa.nc_matmul(dst=again, stationary=left, moving=kept, accumulate=False)
    nisa.nc_matmul(dst=again, stationary=left, moving=kept, accumulate=True)
    by_dma = nl.ndarray((128, m), dtype=a.dtype, buffer=nl.sbuf)
    nisa.dma_transpose(dst=by_dma, src=a[0:m, 0:128])
    nisa.tensor_tensor(dst=kept, data1=kept, data2=again, op=nl.add)
    nl.store(out, kept)
    return out


@nki.jit
def registers(x, rows, count):
    """Indirect transfers, loops that the device counts, and a loop with a flag."""
    p, f = rows.shape[0], x.shape[1]
    out = nl.ndarray((p, f), dtype=x.dtype, buffer=nl.shared_hbm)
    index = nl.load(rows)
    picked = nl.ndarray((p, f), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=picked, src=x.ap(pattern=[[f, p], [1, f]], vector_offset=index, indirect_dim=0))
    limit = nisa.register_alloc()
    flag = nl.load(count)
    nisa.register_load(limit, flag)

    def row(at):
        nisa.dma_copy(dst=out[nl.ds(at, 1), :], src=picked[0:1, :])

    nl.fori_loop(0, limit, row)
    nl.fori_loop(0, 3, row)

    def turn(register):
        nisa.tensor_scalar(dst=picked, data=picked, op0=nl.multiply, operand0=2.0)
        nisa.register_load(limit, flag)
        return limit

    nl.while_loop(limit, turn)
    nisa.dma_copy(dst=out, src=picked)
    return out
