//! Kernels compute the same as C++: each case was compiled by g++ 12 (`-std=c++17 -ffp-contract=off`) against a header
//! with the interface's names, and its values are the expected ones here. Mathematical functions are left out, because
//! libraries differ in their last bit.

use neuronscope::kernel::{HbmTensor, Meter, Role, RunOptions, Work, compile, run};

struct Quiet;

impl Meter for Quiet {
    fn line(&mut self, _line: u32) {}
    fn work(&mut self, _line: u32, _work: Work) {}
}

/// The code before the kernel, the code that computes `y` from an element `x`, and two elements with their values.
type Case = (&'static str, &'static str, [(f32, f32); 2]);

#[rustfmt::skip]
const CASES: &[Case] = &[
    ("", "int n=0; do { y += x; n++; } while (n < 3);", [(-1.8125, -5.4375), (0.5625, 1.6875)]),
    ("", "int n=5; while (n --> 0) { if (n==2) continue; y += n; }", [(-1.8125, 8.0), (0.5625, 8.0)]),
    ("", "int n=0; while (true) { if (++n > 7) break; y -= x*n; }", [(-1.8125, 50.75), (0.5625, -15.75)]),
    ("", "y = x > 1 ? 1.0f : x < -1 ? -1.0f : x;", [(-1.8125, -1.0), (0.5625, 0.5625)]),
    ("", "y = x > 0 ? 1 : 0.5;", [(-1.8125, 0.5), (0.5625, 1.0)]),
    ("", "y = x; y *= 2; y -= 1; y /= 3; y += 0.1;", [(-1.8125, -1.4416666), (0.5625, 0.14166667)]),
    ("", "int n = (int)x; n <<= 2; n |= 1; n ^= 5; n &= 0xff; n %= 7; n >>= 1; y = n;", [(-1.8125, 1.0), (0.5625, 2.0)]),
    ("", "y = (int)x + static_cast<float>((unsigned char)300) + float(int(2.7)) + (float)(x > 0);", [(-1.8125, 45.0), (0.5625, 47.0)]),
    ("", "y = (float)(int8_t)200 + (int)(x) / 2 + (uint8_t)(-1);", [(-1.8125, 199.0), (0.5625, 199.0)]),
    ("", "int i2 = 1; { float x = 3; y += x; { int x = 7; y += x; } } y += x + i2;", [(-1.8125, 9.1875), (0.5625, 11.5625)]),
    ("", "size_t z = 0; z = z - 1; y = z > 100 ? 1 : 0; y += (float)(z % 10);", [(-1.8125, 6.0), (0.5625, 6.0)]),
    ("", "uint32_t u = 5; u -= 10; y = u;", [(-1.8125, 4.2949673e9), (0.5625, 4.2949673e9)]),
    ("", "uint8_t u = 250; u += 10; y = u; u--; u++; ++u; y += u;", [(-1.8125, 9.0), (0.5625, 9.0)]),
    ("", "int n = -1; size_t m = 1; y = (n < m) ? 1 : 2;", [(-1.8125, 2.0), (0.5625, 2.0)]),
    ("", "char c = 'a'; y = c + '\\n' + '\\0' + '\\\\' + (char)('z' - 'a') + '\\x41';", [(-1.8125, 289.0), (0.5625, 289.0)]),
    ("", "y = 1u + 2L + 3UL + 4ull + 1.5f + 1e-3 + .5 + 2.f + 1E2F;", [(-1.8125, 114.001), (0.5625, 114.001)]),
    ("", "y = std::max(x, 0.5f) + std::min<float>(x, 2) + std::max(1, 2) + fmaxf(x, 1) + fminf(x, 0.0f) + std::fmax(x, 2.0f);", [(-1.8125, 1.875), (0.5625, 6.125)]),
    ("", "y = (x > 0 && x < 2) || !(x > -3); y += (bool)x; y += not (x > 0); ", [(-1.8125, 2.0), (0.5625, 2.0)]),
    ("", "y = (x > 0 and x < 2) or (x < -3);", [(-1.8125, 0.0), (0.5625, 1.0)]),
    ("", "int n = 0; if (x > 0 && ++n) { y = n; } if (x > 0 || ++n) { y += n * 10; }", [(-1.8125, 1.0e1), (0.5625, 11.0)]),
    ("", "int n = 3; y = n++ + ++n; y += n-- - --n;", [(-1.8125, 1.0e1), (0.5625, 1.0e1)]),
    ("", "y = x; y++; ++y; y--; float z = y++; y += z;", [(-1.8125, -0.625), (0.5625, 4.125)]),
    ("", "float w[4] = {1, 2, 3}; for (int j = 0; j < 4; j++) y += w[j] * x;", [(-1.8125, -10.875), (0.5625, 3.375)]),
    ("", "const float w[] = {0.5f, 1.5f, 2.5f}; for (int j = 0; j < 3; j++) y += w[j] * x;", [(-1.8125, -8.15625), (0.5625, 2.53125)]),
    ("", "float w[4] = {1,2,3,4}; float* p = w; y = *p + *(p+1) + p[2]; p += 3; y += *p; p--; y += *p++ ; y += *p; y += p - w;", [(-1.8125, 2.0e1), (0.5625, 2.0e1)]),
    ("", "float w[4] = {1,2,3,4}; for (float* p = w; p != w + 4; ++p) y += *p * x;", [(-1.8125, -18.125), (0.5625, 5.625)]),
    ("", "static constexpr int k = 3; const int m = k * 2; constexpr size_t q = 4; float w[q] = {1,1,1,1}; y = m + w[3] + sizeof(w) + sizeof(float) + sizeof(x);", [(-1.8125, 31.0), (0.5625, 31.0)]),
    ("const float kScale = 0.5f;", "y = x * kScale;", [(-1.8125, -0.90625), (0.5625, 0.28125)]),
    ("#define SCALE 2.0f", "y = SCALE * x;", [(-1.8125, -3.625), (0.5625, 1.125)]),
    ("static inline float relu6(float v) { return v < 0 ? 0 : v > 6 ? 6 : v; }\nint addi(int a, int b) { return a + b; }", "y = relu6(x) + addi(2, 3);", [(-1.8125, 5.0), (0.5625, 5.5625)]),
    ("float sq(float v);\nfloat sq(float v) { return v * v; }", "y = sq(x);", [(-1.8125, 3.2851562), (0.5625, 0.31640625)]),
    ("int sgn(float v) { if (v > 0) return 1; if (v < 0) return -1; return 0; }", "y = sgn(x);", [(-1.8125, -1.0), (0.5625, 1.0)]),
    ("void scale(float* p, size_t n, float s) { for (size_t i = 0; i < n; ++i) p[i] *= s; }", "float w[3] = {1,2,3}; scale(w, 3, x); y = w[0] + w[1] + w[2];", [(-1.8125, -10.875), (0.5625, 3.375)]),
    ("int fact(int n) { return n <= 1 ? 1 : n * fact(n - 1); }", "y = fact(5) + x;", [(-1.8125, 118.1875), (0.5625, 120.5625)]),
    ("namespace my { namespace inner { float f(float v) { return v + 1; } } }", "y = my::inner::f(x);", [(-1.8125, -0.8125), (0.5625, 1.5625)]),
    ("namespace my::inner { float f(float v) { return v + 1; } }", "y = my::inner::f(x);", [(-1.8125, -0.8125), (0.5625, 1.5625)]),
    ("namespace { float f(float v) { return v + 1; } constexpr float c = 2; }", "y = f(x);", [(-1.8125, -0.8125), (0.5625, 1.5625)]),
    ("typedef float scalar_t;", "scalar_t z = x; y = z * 2;", [(-1.8125, -3.625), (0.5625, 1.125)]),
    ("", "for (int j = 0; j < 4; j++) for (int k = j; k < 4; k++) { if (k == 2) continue; if (j == 3) break; y += j * k + x; }", [(-1.8125, -0.875), (0.5625, 13.375)]),
    ("", "int p, q; for (p = 0, q = 10; p < q; p++, q--) y += p; y += x;", [(-1.8125, 8.1875), (0.5625, 10.5625)]),
    ("", "int p = 1, q = 2; float u = 1, v; v = u + 1; y = p + q + u + v + x;", [(-1.8125, 4.1875), (0.5625, 6.5625)]),
    ("", "float z{2.5f}; int n{}; auto m = int{3}; y = z + n + m + x;", [(-1.8125, 3.6875), (0.5625, 6.0625)]),
    ("", "float z(2.5f); int n(3); y = z + n + x;", [(-1.8125, 3.6875), (0.5625, 6.0625)]),
    ("", "y = /* a * / b */ x; // c\n    /* multi\n line */ y += 1; // \\\n still a comment y = 0;", [(-1.8125, -0.8125), (0.5625, 1.5625)]),
    ("", "y = 7 / 2 + (-7) / 2 + (-7) % 3 + 7.0 / 2 + 1 / 2 * x;", [(-1.8125, 2.5), (0.5625, 2.5)]),
    ("", "short p = 300, q = 300; y = p * q; int8_t c = 127; y += c + 1;", [(-1.8125, 90128.0), (0.5625, 90128.0)]),
    ("", "int n = -16; y = n >> 2; y += (1 << 10) + (1u << 31);", [(-1.8125, 2.1474847e9), (0.5625, 2.1474847e9)]),
    ("", "int n = 5; y = ~n + ~0u % 10 + -n + +n + !n;", [(-1.8125, 4.2949673e9), (0.5625, 4.2949673e9)]),
    ("", "long long n = 1LL << 40; y = n / 1000000; int64_t m = -5; y += m % 3;", [(-1.8125, 1099509.0), (0.5625, 1099509.0)]),
    ("", "double d = x; d = d * 0.1 + 1e-9; y = d;", [(-1.8125, -0.18125), (0.5625, 0.056250002)]),
    ("", "float z = 16777216.0f; z += 1; y = z - 16777216.0f; y += 0.1f + 0.2f; y += 0.1 + 0.2;", [(-1.8125, 0.6), (0.5625, 0.6)]),
    ("", "float z = NAN; y = std::isnan(z) ? 1 : 0; y += (z == z); y += std::isinf(INFINITY) + std::isfinite(x);", [(-1.8125, 3.0), (0.5625, 3.0)]),
    ("", "if (x > 0) if (x > 1) y = 1; else y = 2;", [(-1.8125, 0.0), (0.5625, 2.0)]),
    ("", ";;; for (int j = 0; j < 3; j++); y = x;", [(-1.8125, -1.8125), (0.5625, 0.5625)]),
    ("", "float p, q; p = q = x; y = p + q; y += (p = 3);", [(-1.8125, -0.625), (0.5625, 4.125)]),
    ("", "y = - -x + -(-x) - +x;", [(-1.8125, -1.8125), (0.5625, 0.5625)]),
    ("", "auto z = x * 2; auto n = 3; auto d = 1.5; const auto c = z; y = z / n + d + c;", [(-1.8125, -3.3333335), (0.5625, 3.0)]),
    ("", "bool p = x > 0; int n = p + p; y = n + true;", [(-1.8125, 1.0), (0.5625, 3.0)]),
    ("", "y = std::clamp(x, -1.0f, 1.0f);", [(-1.8125, -1.0), (0.5625, 0.5625)]),
    ("", "#pragma unroll\n    for (int j = 0; j < 2; j++) y += x;", [(-1.8125, -3.625), (0.5625, 1.125)]),
    ("", "static_assert(sizeof(float) == 4, \"x\"); y = x;", [(-1.8125, -1.8125), (0.5625, 0.5625)]),
    ("", "[[maybe_unused]] int n = 3; y = x; (void)n;", [(-1.8125, -1.8125), (0.5625, 0.5625)]),
    ("", "for (float f = 0; f < 1; f += 0.25f) y += f * x;", [(-1.8125, -2.71875), (0.5625, 0.84375)]),
    ("", "for (int j = 3; j >= 0; --j) y = y * x + j;", [(-1.8125, -13.105225), (0.5625, 1.729248)]),
    ("", "y = (uint32_t)3.9 + (size_t)2.5f + (int)-1.5;", [(-1.8125, 4.0), (0.5625, 4.0)]),
    ("", "unsigned n = 3; int m = -5; y = (n + m > 0) ? 1 : 2; y += (m + (int)n);", [(-1.8125, -1.0), (0.5625, -1.0)]),
    ("", "float* p = nullptr; if (p == nullptr) y = x; if (!p) y += 1;  if (p == NULL) y += 1; float* q = 0; if (!q) y += 1;", [(-1.8125, 1.1875), (0.5625, 3.5625)]),
    ("", "const int n = 2 * 3; float w[n]; for (int j = 0; j < n; j++) w[j] = j; y = w[n-1] + x;", [(-1.8125, 3.1875), (0.5625, 5.5625)]),
    ("", "y = sizeof(int) + sizeof(double) + sizeof(size_t) + sizeof(uint8_t) + sizeof x;", [(-1.8125, 25.0), (0.5625, 25.0)]),
    ("", "y = x \\\n + 1;", [(-1.8125, -0.8125), (0.5625, 1.5625)]),
    ("", "char c = '\\x41'; y = c;", [(-1.8125, 65.0), (0.5625, 65.0)]),
    ("", "char c = 'a'; y = c + '\\n' + '\\0' + '\\\\' + (char)('z' - 'a') + ' ' + '\"';", [(-1.8125, 2.9e2), (0.5625, 2.9e2)]),
    ("", "y = 0xFF + 0b101 + 017 + 1'000 + 0Xab;", [(-1.8125, 1446.0), (0.5625, 1446.0)]),
    ("", "y = (x > 0 && x < 2) || !(x > -3); y += (bool)x;", [(-1.8125, 1.0), (0.5625, 2.0)]),
    ("", "static constexpr float w[3] = {1.f,2.f,3.f}; constexpr float q = 1.0f/3; y = w[2]*x + q;", [(-1.8125, -5.1041665), (0.5625, 2.0208332)]),
    ("", "y = x; /**/ y += 1; /* // */ y += 2; // y = 0;", [(-1.8125, 1.1875), (0.5625, 3.5625)]),
    ("", "int n = 0, m = 0; while (n < 5) { m = 0; do { if (m == 2) { m += 10; continue; } y += n; ++m; } while (m < 4); ++n; }", [(-1.8125, 2.0e1), (0.5625, 2.0e1)]),
    ("", "int j = 0; for (;;) { if (j >= 3) break; y += j++ + x; }", [(-1.8125, -2.4375), (0.5625, 4.6875)]),
    ("", "for (int j = 0, k = 5; j < k; ++j) y += j * k;", [(-1.8125, 5.0e1), (0.5625, 5.0e1)]),
    ("", "y = std::abs(-3) + abs(-2) + std::pow(2, 3) + std::sqrt(16) + std::max(3, 4) + std::min(1u, 2u) + std::fmod(7, 3);", [(-1.8125, 23.0), (0.5625, 23.0)]),
    ("", "y = std::fma(x, 2.0f, 1.0f) + fmaf(x, x, 0.1f);", [(-1.8125, 0.76015616), (0.5625, 2.5414061)]),
    ("", "const float w[3] = {1,2,3}; const float* p = w; y = *(p + 2) * x;", [(-1.8125, -5.4375), (0.5625, 1.6875)]),
    ("", "int n = (int)x - 3; y = n % 4 + n / 2 * 2;", [(-1.8125, -4.0), (0.5625, -5.0)]),
    ("", "auto v = true ? 1 : 2.5; y = v; y += (x > 0 ? 2 : 3u) / 2;", [(-1.8125, 2.0), (0.5625, 2.0)]),
    ("", "y = (float)(int)(double)(x * 2.5f);", [(-1.8125, -4.0), (0.5625, 1.0)]),
    ("", "y = (1 < 2) < 3; y += 3 > 2 > 1;", [(-1.8125, 1.0), (0.5625, 1.0)]),
    ("", "y = 1 + 2 << 3; y += 6 & 3 == 3; y += 5 | 2 ^ 1 & 3;", [(-1.8125, 31.0), (0.5625, 31.0)]),
    ("void neg(float* p) { if (p == nullptr) { return; } p[0] = -p[0]; }", "float w[2] = {1,2}; neg(w); y = w[0] + x;", [(-1.8125, -2.8125), (0.5625, -0.4375)]),
    ("constexpr size_t blocks(size_t n, size_t b) { return (n + b - 1) / b; }", "y = blocks(100, 32);", [(-1.8125, 4.0), (0.5625, 4.0)]),
    ("namespace cfg { constexpr int K = 4; }", "y = cfg::K * x;", [(-1.8125, -7.25), (0.5625, 2.25)]),
    ("", "for (unsigned j = 3; j-- > 0;) y += j * x;", [(-1.8125, -5.4375), (0.5625, 1.6875)]),
    ("", "float z; if (x > 0) { z = 1; } else { z = -1; } y = z;", [(-1.8125, -1.0), (0.5625, 1.0)]),
    ("", "(void)x; y = 1;", [(-1.8125, 1.0), (0.5625, 1.0)]),
    ("", "float z = 1e10; z *= 1e-10; y = z; y += 1e-40f;", [(-1.8125, 1.0), (0.5625, 1.0)]),
    ("", "int n = 2147483647; unsigned u = 4294967295u; long l = 9223372036854775807L; y = n - 2147483640; y += u - 4294967290u; y += l - 9223372036854775800L;", [(-1.8125, 19.0), (0.5625, 19.0)]),
    ("", "int n = -2147483647 - 1; y = n + 2147483647;", [(-1.8125, -1.0), (0.5625, -1.0)]),
    ("", "long n = -2147483648; y = n / 1024;", [(-1.8125, -2097152.0), (0.5625, -2097152.0)]),
    ("", "short w[3] = {1,2,3}; uint8_t u[2] = {255, 1}; u[0] += 2; y = w[1] + u[0];", [(-1.8125, 3.0), (0.5625, 3.0)]),
    ("", "float w[4] = {1,2,3,4}; int j = 1; y = w[j++] + w[j] * 10; w[j++] += 5; y += w[2];", [(-1.8125, 4.0e1), (0.5625, 4.0e1)]),
    ("", "float w[4] = {1,2,3,4}; y = *(w + 2); ", [(-1.8125, 3.0), (0.5625, 3.0)]),
    ("", "float w[4] = {1,2,3,4}; float *p = w, *e = w + 4; while (p != e) y += *p++ * x;", [(-1.8125, -18.125), (0.5625, 5.625)]),
    ("", "float* p = x > 0 ? nullptr : nullptr; y = p ? 1 : 2;", [(-1.8125, 2.0), (0.5625, 2.0)]),
];

fn kernel(before: &str, statements: &str) -> String {
    format!(
        "#include <torch/torch.h>
         {before}
         torch::Tensor k_forward(const torch::Tensor& t) {{
           torch::Tensor o = torch::zeros(t.sizes(), torch::kFloat);
           auto a = t.accessor<float, 1>();
           auto b = o.accessor<float, 1>();
           for (size_t i = 0; i < t.numel(); i++) {{
             float x = a[i];
             float y = 0;
             {statements}
             b[i] = y;
           }}
           return o;
         }}"
    )
}

#[test]
fn kernels_compute_what_a_cpp_compiler_computes() {
    for (before, statements, values) in CASES {
        let program = compile(&kernel(before, statements)).unwrap_or_else(|d| panic!("{}: {statements}", d[0]));
        let input = HbmTensor::from_f32(&[2], &values.map(|v| v.0));
        let options = RunOptions { multicore: false, cores: 1, tcm_pool_bytes: 16 * 1024, step_limit: 100_000 };
        let outcome = run(program.kernel(Role::Forward).unwrap(), &[input], &options, &mut [Quiet]);
        assert!(outcome.complete && outcome.diagnostics.is_empty(), "{statements}: {:?}", outcome.diagnostics);
        let expected: Vec<Option<f32>> = values.iter().map(|v| Some(v.1)).collect();
        assert_eq!(outcome.result, expected, "{before} {statements}");
    }
}

/// Code outside the language is refused at its position, with what to write instead.
#[test]
fn unsupported_syntax_is_refused_with_a_replacement() {
    for (before, statements, place, message) in [
        ("", "float w[2][2] = {{1, 2}, {3, 4}};", "10:24", "one array of rows * columns"),
        ("", "float& r = x; y = r;", "10:23", "use the variable itself"),
        ("", "switch ((int)x) { case 0: y = 1; }", "10:14", "write if (...)"),
        ("", "auto f = [](float v) { return v; };", "10:23", "write a helper function"),
        ("", "for (float v : w) y += v;", "10:25", "for (size_t i = 0; i < n; i++)"),
        ("", "goto end;", "10:14", "a loop with break or continue"),
        ("", "struct P { float a; };", "10:14", "variables and arrays of numbers"),
        ("#define SQ(v) ((v) * (v))", "y = SQ(x);", "2:10", "write a function"),
        ("#ifdef FAST\n#endif", "y = x;", "2:10", "leave the condition out"),
        ("float g(float v, float s = 2) { return v * s; }", "y = g(x);", "2:35", "give the argument at every call"),
        ("void g(float& v) { v = 1; }", "g(x);", "2:17", "return the value, or pass a pointer"),
        ("template <typename T> T g(T v) { return v; }", "y = g(x);", "10:18", "write g<float>(...)"),
        ("", "y = std::numeric_limits<float>::digits10();", "10:18", "write the number"),
        ("", "y = std::clamp(x, 0, 1);", "10:18", "three operands of one type"),
        ("", "auto v = std::vector<float>(3);", "10:23", "TCM buffers"),
    ] {
        let Err(found) = compile(&kernel(before, statements)) else { panic!("{before} {statements} is taken") };
        assert_eq!(found[0].pos.to_string(), place, "{before} {statements}: {}", found[0]);
        assert!(found[0].to_string().contains(message), "{before} {statements}: {}", found[0]);
    }
}
