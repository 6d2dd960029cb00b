import pytest
import numpy as np
import nki, nki.language as nl, nki.isa as nisa
@nki.jit
def exp_kernel(x):
    o = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    t = nl.load(x); nl.store(o, nl.exp(t))
    return o
class TestExp:
    @pytest.mark.parametrize("shape", [(128, 512)])
    def test(self, shape):
        exp_kernel(np.zeros(shape))
@pytest.fixture
def x(): return 1
def run_test(kernel, *args, check=True):
    got = kernel(*args)
    if check: np.testing.assert_allclose(got, np.exp(args[0]), rtol=1e-2)
def main():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((128, 512), dtype=np.float32)
    run_test(exp_kernel, x)
if __name__ == "__main__":
    sys_exit = main()
