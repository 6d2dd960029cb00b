import nki, nki.language as nl, nki.isa as nisa
import numpy as np
NEG = float("-inf")
@nki.jit
def causal(x, seed):
    S = x.shape[0]
    out = nl.ndarray((S, S), dtype=nl.float32, buffer=nl.shared_hbm)
    sd = nl.ndarray((128, 1), dtype=nl.uint32, buffer=nl.sbuf)
    nisa.dma_copy(dst=sd, src=seed)
    nisa.set_rng_seed(sd)
    for q in nl.affine_range(S // 128):
        t = nl.ndarray((128, S), nl.float32); nisa.dma_copy(dst=t, src=x[q * 128:(q + 1) * 128, :])
        m = nl.ndarray((128, S), nl.float32)
        nisa.affine_select(dst=m, pattern=[[-1, S]], offset=q * 128, channel_multiplier=1, on_true_tile=t, on_false_value=-1e9, cmp_op=nl.greater_equal)
        i = nl.ndarray((128, S), nl.int32); nisa.iota(dst=i, pattern=[[1, S]], offset=0, channel_multiplier=0)
        r = nl.ndarray((128, S), nl.float32); nisa.rng(dst=r)
        d = nl.ndarray((128, S), nl.float32); nisa.dropout(dst=d, data=m, prob=0.1)
        st = nl.ndarray((128, 6), nl.float32); nisa.bn_stats(dst=st, data=d[:, 0:min(512, S)])
        ag = nl.ndarray((128, 2), nl.float32); nisa.bn_aggr(dst=ag, data=st)
        mx = nl.ndarray((128, 8), nl.float32); nisa.max8(dst=mx, src=d)
        ix = nl.ndarray((128, 8), nl.uint32); nisa.nc_find_index8(dst=ix, data=d, vals=mx)
        z = nl.ndarray((128, S), nl.float32)
        nisa.tensor_scalar(dst=z, data=d, op0=nl.subtract, operand0=ag[:, 0:1], op1=nl.multiply, operand1=ag[:, 1:2])
        pred = nl.ndarray((128, S), nl.uint8); nisa.tensor_scalar(dst=pred, data=z, op0=nl.greater, operand0=0.0)
        nisa.tensor_copy_predicated(dst=z, src=m, predicate=pred)
        nisa.dma_copy(dst=out[q * 128:(q + 1) * 128, :], src=z)
    return out
if __name__ == "__main__":
    causal(np.zeros((256, 256), np.float32), np.zeros((128, 1), np.uint32))
