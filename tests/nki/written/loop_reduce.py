import neuronxcc.nki as nki, neuronxcc.nki.language as nl, neuronxcc.nki.isa as nisa
import numpy as np
@nki.jit
def mm_loop_reduce(lhsT, rhs):
    K, M = lhsT.shape
    K, N = rhs.shape
    out = nl.ndarray((M, N), dtype=nl.float32, buffer=nl.shared_hbm)
    TM, TK, TN = nl.tile_size.gemm_stationary_fmax, nl.tile_size.pmax, nl.tile_size.gemm_moving_fmax
    BK = 4
    for m in nl.affine_range(M // TM):
        for n in nl.affine_range(N // TN):
            res = nl.zeros((nl.par_dim(TM), TN), dtype=nl.float32, buffer=nl.sbuf)
            for kb in nl.sequential_range(K // TK // BK):
                ps = nl.zeros((TM, TN), nl.float32, buffer=nl.psum)
                for k in nl.affine_range(BK):
                    a = nl.load(lhsT[nl.ds((kb * BK + k) * TK, TK), nl.ds(m * TM, TM)])
                    b = nl.load(rhs[nl.ds((kb * BK + k) * TK, TK), nl.ds(n * TN, TN)])
                    ps += nisa.nc_matmul(a[...], b[...])
                res[...] = nl.loop_reduce(ps, op=np.add, loop_indices=[kb], dtype=nl.float32)
            nl.store(out[nl.ds(m * TM, TM), nl.ds(n * TN, TN)], value=res)
    return out
if __name__ == "__main__":
    mm_loop_reduce(np.zeros((1024, 256), np.float32), np.zeros((1024, 1024), np.float32))
