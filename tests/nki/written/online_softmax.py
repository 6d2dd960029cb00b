import nki
import nki.isa as nisa
import nki.language as nl
import numpy as np


def column(value=None):
    tile = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
    if value is not None:
        nisa.memset(dst=tile, value=value)
    return tile


@nki.jit
def attention(q, k, v, use_causal=True, block=512):
    """Attention that keeps the largest score and the sum of each row while it goes through the keys."""
    depth, length = q.shape
    out = nl.ndarray((length, depth), dtype=q.dtype, buffer=nl.shared_hbm)
    for row in range(length // 128):
        queries = nl.ndarray((depth, 128), dtype=q.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=queries, src=q[:, nl.ds(row * 128, 128)])
        most, total = column(-1e30), column(0.0)
        result = nl.ndarray((128, depth), dtype=nl.float32, buffer=nl.sbuf)
        nisa.memset(dst=result, value=0.0)
        for at in range(0, length, block):
            if use_causal and at > row * 128 + 127:
                continue
            keys = nl.ndarray((depth, block), dtype=k.dtype, buffer=nl.sbuf)
            values = nl.ndarray((128, block // 128, depth), dtype=v.dtype, buffer=nl.sbuf)
            nisa.dma_copy(dst=keys, src=k[:, nl.ds(at, block)])
            for part in range(block // 128):
                nisa.dma_copy(dst=values[:, part, :], src=v[nl.ds(at + part * 128, 128), :])
            product = nl.ndarray((128, block), dtype=nl.float32, buffer=nl.psum)
            nisa.nc_matmul(dst=product, stationary=queries, moving=keys)
            scores = nl.ndarray((128, block), dtype=nl.float32, buffer=nl.sbuf)
            nisa.tensor_scalar(dst=scores, data=product, op0=nl.multiply, operand0=depth**-0.5)
            if use_causal and at + block > row * 128:
                nisa.affine_select(
                    dst=scores, pattern=[[-1, block]], offset=row * 128 - at, channel_multiplier=1, on_true_tile=scores, on_false_value=-1e30, cmp_op=nl.greater_equal
                )
            higher, negative, shrink, sums = column(), column(), column(), column()
            nisa.tensor_reduce(dst=higher, op=nl.maximum, data=scores, axis=1)
            nisa.tensor_tensor(dst=higher, data1=most, data2=higher, op=nl.maximum)
            nisa.tensor_scalar(dst=negative, data=higher, op0=nl.multiply, operand0=-1.0)
            nisa.activation(dst=shrink, op=nl.exp, data=most, bias=negative)
            powers = nl.ndarray((128, block), dtype=nl.bfloat16, buffer=nl.sbuf)
            nisa.activation_reduce(dst=powers, op=nl.exp, data=scores, reduce_op=nl.add, reduce_res=sums, bias=negative)
            nisa.scalar_tensor_tensor(dst=total, data=total, op0=nl.multiply, operand0=shrink, op1=nl.add, operand1=sums)
            weighted = nl.ndarray((128, depth), dtype=nl.float32, buffer=nl.psum)
            for part in range(block // 128):
                turned = nl.ndarray((128, 128), dtype=nl.bfloat16, buffer=nl.psum)
                nisa.nc_transpose(dst=turned, data=powers[:, nl.ds(part * 128, 128)])
                kept = nl.ndarray((128, 128), dtype=nl.bfloat16, buffer=nl.sbuf)
                nisa.tensor_copy(dst=kept, src=turned)
                nisa.nc_matmul(dst=weighted, stationary=kept, moving=values[:, part, :], accumulate=part > 0)
            nisa.scalar_tensor_tensor(dst=result, data=result, op0=nl.multiply, operand0=shrink, op1=nl.add, operand1=weighted)
            nisa.tensor_copy(dst=most, src=higher)
        nisa.reciprocal(dst=total, data=total)
        stored = nl.ndarray((128, depth), dtype=q.dtype, buffer=nl.sbuf)
        nisa.tensor_scalar(dst=stored, data=result, op0=nl.multiply, operand0=total)
        nisa.dma_copy(dst=out[nl.ds(row * 128, 128), :], src=stored)
    return out


if __name__ == "__main__":
    turned = np.zeros((128, 1024), dtype=nl.bfloat16)
    nki.simulate(attention)(turned, turned, np.zeros((1024, 128), dtype=nl.bfloat16))
