import unittest
import numpy as np
import nki
import nki.language as nl
import nki.isa as nisa
@nki.jit
def cumsum(x):
    y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    ones = nl.ndarray((128, 512), dtype=x.dtype, buffer=nl.sbuf)
    nisa.memset(dst=ones, value=1.0)
    for i in nl.affine_range(x.shape[0] // 128):
        init = nl.zeros((128, 1), dtype=nl.float32, buffer=nl.sbuf)
        for j in nl.sequential_range(x.shape[1] // 512):
            t = nl.load(x[i * 128:(i + 1) * 128, j * 512:(j + 1) * 512])
            s = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.sbuf)
            nisa.tensor_tensor_scan(dst=s, data0=ones, data1=t, initial=init, op0=nl.multiply, op1=nl.add)
            nl.store(y[i * 128:(i + 1) * 128, j * 512:(j + 1) * 512], s)
            init = nl.copy(s[:, 511:512])
    return y
class TestCumsum(unittest.TestCase):
    def setUp(self):
        self.x = np.random.default_rng(1).standard_normal((256, 2048)).astype(np.float32)
    def test_values(self):
        got = nki.simulate(cumsum)(self.x)
        np.testing.assert_allclose(got, np.cumsum(self.x, axis=1), rtol=1e-3)
if __name__ == "__main__":
    unittest.main()
