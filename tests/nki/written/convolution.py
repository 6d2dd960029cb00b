import numpy as np
import neuronxcc.nki as nki
import neuronxcc.nki.language as nl
import neuronxcc.nki.isa as nisa
from neuronxcc.nki.language import par_dim

@nki.jit
def conv2d(X, W, bias):
    batch, in_ch, H, Wd = X.shape
    out_ch, _, fh, fw = W.shape
    oh, ow = H - fh + 1, Wd - fw + 1
    X_out = nl.ndarray(shape=(batch, out_ch, oh, ow), dtype=X.dtype, buffer=nl.hbm)
    c_in_pmax = nl.tile_size.pmax
    n_in, n_out = in_ch // c_in_pmax, out_ch // 128
    W_r = W.reshape((n_out, 128, n_in, 128, fh, fw))
    weights = nl.ndarray((n_out, nl.par_dim(128), n_in, 128, fh, fw), dtype=W.dtype, buffer=nl.sbuf)
    w_t = nl.ndarray((fh, fw, n_out, n_in, nl.par_dim(128), 128), dtype=W.dtype, buffer=nl.sbuf)
    for o in nl.affine_range(n_out):
        weights[o] = nl.load(W_r[o])
        for i in nl.affine_range(n_in):
            for a in nl.affine_range(fh):
                for b in nl.affine_range(fw):
                    w_t[a, b, o, i] = nl.copy(nl.transpose(weights[o, :, i, :, a, b]))
    rows = 2
    for b in nl.affine_range(batch):
        for r in nl.affine_range(oh // rows):
            x = nl.ndarray((n_in, nl.par_dim(128), rows + fh - 1, Wd), dtype=X.dtype, buffer=nl.sbuf)
            for i in nl.affine_range(n_in):
                x[i] = nl.load(X[b, i * 128:(i + 1) * 128, nl.ds(r * rows, rows + fh - 1), :])
            for o in nl.affine_range(n_out):
                bb = nl.load(bias[nl.ds(o * 128, 128)])
                ot = nl.ndarray((nl.par_dim(128), rows, ow), dtype=X.dtype, buffer=nl.sbuf)
                for row in nl.affine_range(rows):
                    acc = nl.zeros((nl.par_dim(128), ow), nl.float32, buffer=nl.psum)
                    for i in nl.affine_range(n_in):
                        for a in nl.affine_range(fh):
                            for c in nl.affine_range(fw):
                                acc += nl.matmul(w_t[a, c, o, i], x[i, :, row + a, c:c + ow], transpose_x=True)
                    ot[:, row, :] = nisa.tensor_scalar(acc, np.add, bb)
                nl.store(X_out[b, nl.ds(o * 128, 128), nl.ds(r * rows, rows), :], value=ot)
    return X_out

if __name__ == "__main__":
    conv2d(np.zeros((2, 128, 18, 34), np.float32), np.zeros((128, 128, 3, 3), np.float32), np.zeros((128,), np.float32))
