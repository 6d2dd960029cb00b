//! Custom operators: every construct, restriction and problem of the kernel language, and realistic kernels.

use neuronscope::kernel::BUILT_IN;
use neuronscope::kernel::{HbmTensor, Meter, Outcome, Role, RunOptions, Work, compile, run};
use neuronscope::machine::cost::CostTable;
use neuronscope::neuron::gpsimd::{CustomOpSpec, run as run_spec};
use proptest::prelude::*;

struct Quiet;

impl Meter for Quiet {
    fn line(&mut self, _line: u32) {}
    fn work(&mut self, _line: u32, _work: Work) {}
}

fn options(cores: Option<u32>) -> RunOptions {
    RunOptions { multicore: cores.is_some(), cores: cores.unwrap_or(1), tcm_pool_bytes: 16 * 1024, step_limit: 200_000 }
}

fn run_on(source: &str, input: &HbmTensor, cores: Option<u32>) -> Outcome {
    let program = compile(source).unwrap_or_else(|d| panic!("{}\n{source}", d[0]));
    let kernel = program.kernel(Role::Forward).unwrap();
    let inputs = vec![input.clone(); kernel.inputs()];
    let mut meters: Vec<Quiet> = (0..cores.unwrap_or(1)).map(|_| Quiet).collect();
    run(kernel, &inputs, &options(cores), &mut meters)
}

/// Runs statements for each element of a small input: `x` is the element, `y` is what is stored.
fn mapped(statements: &str, x: f32) -> f32 {
    let source = format!(
        "float helper(float a, float b) {{ return a * b; }}
         int factorial(int n) {{ return n <= 1 ? 1 : n * factorial(n - 1); }}
         float sum_of(const float* p, size_t n) {{ float s = 0; for (size_t i = 0; i < n; ++i) s += p[i]; return s; }}
         torch::Tensor f_forward(const torch::Tensor& t) {{
           torch::Tensor out = torch::empty(t.sizes(), torch::kFloat);
           auto a = t.accessor<float, 1>();
           auto o = out.accessor<float, 1>();
           for (int i = 0; i < t.size(0); i++) {{
             float x = a[i]; float y = 0;
             {statements}
             o[i] = y;
           }}
           return out;
         }}"
    );
    let outcome = run_on(&source, &HbmTensor::from_f32(&[1], &[x]), None);
    assert!(outcome.complete && outcome.diagnostics.is_empty(), "{statements}: {:?}", outcome.diagnostics);
    outcome.result[0].unwrap()
}

#[test]
fn every_construct_computes_what_cpp_computes() {
    let cases: &[(&str, f32, f32)] = &[
        ("y = x > 0.0 ? x : 0.0;", -2.0, 0.0),
        ("if (x < 0) y = -x; else if (x == 0) { y = 7; } else y = x;", 0.0, 7.0),
        ("for (int k = 0; k < 5; k++) { if (k == 1) continue; if (k == 4) break; y += k; }", 0.0, 5.0),
        ("int k = 0; while (k < 3) { y += x; ++k; } do { y -= 1; } while (y > 5);", 2.0, 5.0),
        (
            "int k = 7; k += 2; k -= 1; k *= 3; k /= 5; k %= 3; k <<= 4; k >>= 1; k |= 3; k &= 10; k ^= 1; y = k;",
            0.0,
            11.0,
        ),
        ("unsigned int u = 0; u--; y = u > 4000000000u ? 1 : 2;", 0.0, 1.0),
        ("uint8_t b = 250; b += 10; y = b;", 0.0, 4.0),
        ("int8_t c = -1; uint32_t u = c; y = u == 0xFFFFFFFF;", 0.0, 1.0),
        ("size_t n = 3; y = n - 4 > 100 ? 1 : 0;", 0.0, 1.0),
        ("int q = -7 / 2; int r = -7 % 2; y = q * 10 + r;", 0.0, -31.0),
        ("y = (int)x + static_cast<float>(3) / 2 + float(1);", 2.9, 4.5),
        ("float t[4] = {1, 2}; t[3] = x; y = t[0] + t[1] + t[2] + t[3];", 4.0, 7.0),
        (
            "float t[3] = {1, 2, 3}; float *p = t; p++; *p += 10; p[1] *= 2; y = *(t + 1) + *(p + 1) + (p - t);",
            0.0,
            19.0,
        ),
        ("float t[2] = {x, 1}; y = sum_of(t, 2) + helper(x, 2);", 3.0, 10.0),
        ("y = factorial(5);", 0.0, 120.0),
        ("bool b = x > 1 && !(x > 5) || false; y = b;", 3.0, 1.0),
        (
            "static constexpr int n = 2 * 3; int t[n]; for (int k = 0; k < n; k++) t[k] = k * k; y = t[n - 1];",
            0.0,
            25.0,
        ),
        ("y = std::max(x, 2.0f) + std::min<float>(x, 1) + std::abs(-3) + fabsf(x);", -1.0, 5.0),
        ("y = std::sqrt(x) + floorf(2.7f) + ceil(0.2) + pow(x, 2.0f);", 4.0, 21.0),
        ("{ float x = 5; y = x; } y += x;", 1.0, 6.0),
        ("auto d = x * 2; const auto e = d + 1; y = e;", 3.0, 7.0),
        ("int k = 3; y = k++ * 10 + k; y = y * 10 + --k;", 0.0, 343.0),
        ("y = ~5 + 'a' + sizeof(float) + 0b101 + 010;", 0.0, 108.0),
        ("double big = 16777217.0; y = big - 16777216.0;", 0.0, 1.0),
        ("using namespace torch; /* nothing */ ; // end\n y = 2e-1f * 10;", 0.0, 2.0),
    ];
    for (statements, x, expected) in cases {
        assert_eq!(mapped(statements, *x).to_bits(), expected.to_bits(), "{statements}");
    }
}

#[test]
fn single_precision_is_exact() {
    // The sum is rounded to single precision after every addition.
    assert_eq!(mapped("y = x; y += 1; y += 1;", 16_777_216.0), 16_777_216.0);
    assert_eq!(mapped("y = x / 3 * 3 - x;", 0.1).to_bits(), (0.1_f32 / 3.0 * 3.0 - 0.1).to_bits());
    // 0.1 is not a float: the product is computed in double and rounded once.
    assert_eq!(mapped("y = x * 0.1;", 3.0).to_bits(), ((3.0_f64 * 0.1) as f32).to_bits());
    assert_eq!(mapped("y = std::exp(x);", 1.5).to_bits(), libm::expf(1.5).to_bits());
    assert!(mapped("y = x - x / 0.5f * 0.5f; y = INFINITY; y -= INFINITY;", 1.0).is_nan());
}

/// The code and position of the first problem of a source, found when it is compiled or run.
fn problem(source: &str, cores: Option<u32>) -> String {
    let values: Vec<f32> = (0..64).map(|i| i as f32 - 30.0).collect();
    let found = match compile(source) {
        Err(problems) => problems,
        Ok(_) => run_on(source, &HbmTensor::from_f32(&[64], &values), cores).diagnostics,
    };
    found.first().map_or("fine".to_owned(), |d| format!("{} {}", d.problem.code(), d.pos))
}

/// The same for the body of a kernel on one processor, whose first line is line 1.
fn in_body(body: &str) -> String {
    problem(&format!("torch::Tensor f(const torch::Tensor& t) {{\n{body}\nreturn t; }}"), None)
}

#[test]
fn problems_are_reported_with_their_position() {
    let mut wrong = Vec::new();
    let mut check = |found: String, expected: &str, source: &str| {
        if found != expected {
            wrong.push(format!("{found} instead of {expected}: {source}"));
        }
    };
    for (body, expected) in [
        ("int a = ;", "syntax 2:9"),
        ("int a = 1\nint b;", "syntax 3:1"),
        ("int a = b;", "unknown_name 2:9"),
        ("while (true) { }", "step_limit 2:1"),
        ("for (size_t i = 10; i >= 0; i--) { }", "step_limit 2:1"),
        ("int z = t.dim() - 1; int q = 5 / z;", "divide_by_zero 2:32"),
        ("int z = t.dim() - 1; float q = 5.0f / z;", "float_divide_by_zero 2:37"),
        ("int big = t.dim() * 2147483647; big++;", "overflow 2:36"),
        ("float h = 3e9f; int i = h;", "overflow 2:25"),
        ("float b[4]; b[t.dim() + 3] = 1;", "out_of_bounds 2:13"),
        ("float b[4]; float x = b[2];", "uninitialised 2:23"),
        ("int i; int j = i + 1;", "uninitialised 2:16"),
        ("float* p = nullptr; *p = 1;", "null_pointer 2:21"),
        (
            "float* p = (float*)torch::neuron::tcm_malloc(16); p[4] = 1; torch::neuron::tcm_free(p);",
            "out_of_bounds 2:51",
        ),
        (
            "float* p = (float*)torch::neuron::tcm_malloc(16); torch::neuron::tcm_free(p); p[0] = 1;",
            "use_after_free 2:79",
        ),
        (
            "float* p = (float*)torch::neuron::tcm_malloc(16); torch::neuron::tcm_free(p); torch::neuron::tcm_free(p);",
            "double_free 2:79",
        ),
        ("float b[2]; torch::neuron::tcm_free(b);", "bad_free 2:13"),
        ("float* p = (float*)torch::neuron::tcm_malloc(16);", "tcm_leak 2:12"),
        ("float* p = (float*)torch::neuron::tcm_malloc(20000); torch::neuron::tcm_free(p);", "tcm_exhausted 2:12"),
        ("float b[3000];", "large_stack 2:7"),
        ("auto a = t.accessor<float, 2>();", "invalid 2:12"),
        ("auto a = t.accessor<int, 1>();", "invalid 2:12"),
        ("auto a = t.accessor<float, 1>(); float x = a[64];", "out_of_bounds 2:44"),
        ("auto a = t.accessor<float, 1>(); float x = a[-1];", "out_of_bounds 2:44"),
        (
            "torch::Tensor e = torch::empty({4}, torch::kFloat); float x = e.accessor<float, 1>()[0];",
            "uninitialised 2:65",
        ),
        ("auto r = t.read_stream_accessor<float>(); for (int i = 0; i < 65; i++) r.read();", "out_of_bounds 2:74"),
        ("auto r = t.read_stream_accessor<float>(); r.close(); r.read();", "invalid 2:56"),
        (
            "torch::Tensor e = t; auto r = t.read_stream_accessor<float>(); auto w = e.write_stream_accessor<float>();",
            "incoherent 2:75",
        ),
        ("float b[70]; t.tcm_accessor().tensor_to_tcm<float>(b, 0, 70);", "out_of_bounds 2:31"),
        ("float b[2]; t.tcm_accessor().tensor_to_tcm<float>(b, 0, 4);", "out_of_bounds 2:30"),
        ("assert(t.numel() == 3);", "assertion 2:1"),
        ("std::vector<float> v;", "not_supported 2:1"),
        ("switch (1) { }", "not_supported 2:1"),
        ("auto g = [](float x) { return x; };", "not_supported 2:10"),
        ("float* p = new float[4];", "not_supported 2:12"),
        ("float m[2][2];", "not_supported 2:11"),
        ("int a = 1; int* p = &a;", "not_supported 2:21"),
        ("for (auto x : t) { }", "not_supported 2:11"),
        ("int a = 1, b = 2; a = 1, b = 2;", "fine"),
        ("const int c = 1; c = 2;", "const 2:18"),
        ("t.fill_(1);", "const 2:3"),
        ("goto end;", "not_supported 2:1"),
        ("throw 1;", "not_supported 2:1"),
        ("float x = torch::erf(t);", "not_supported 2:11"),
    ] {
        check(in_body(body), expected, body);
    }
    for (source, expected) in [
        ("template <int N> int f() { return N; }", "not_supported 1:11"),
        ("struct S { int a; };", "not_supported 1:1"),
        ("#define SQ(x) ((x) * (x))", "not_supported 1:1"),
        ("void f(float& x) { x = 1; }", "not_supported 1:8"),
        ("int f() { return 1; } int f() { return 2; }", "not_supported 1:23"),
        (
            "int none(int n) { if (n > 5) return 1; } torch::Tensor f(const torch::Tensor& t) { none(0); return t; }",
            "invalid 1:1",
        ),
        ("torch::Tensor f(const torch::Tensor& t) { return torch::zeros({3}, torch::kFloat); }", "invalid 1:1"),
        (
            "namespace a { namespace b { static inline float g(float x) { return x; } } }\nusing namespace a::b;\ntorch::Tensor f(const torch::Tensor& t) { a::b::g(1); return t; }",
            "fine",
        ),
    ] {
        check(problem(source, None), expected, source);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn endless_recursion_is_reported() {
    let source =
        "int loop(int n) {\nreturn loop(n + 1); }\ntorch::Tensor f(const torch::Tensor& t) { loop(0); return t; }";
    let found = problem(source, None);
    assert!(found.starts_with("stack_overflow 2:"), "{found}");
}

#[test]
fn deep_and_long_sources_are_refused_and_do_not_overflow() {
    for (open, close) in [
        ("(", ")"),
        ("sizeof ", ""),
        ("int{", "}"),
        ("1, ", ""),
        ("-", ""),
        ("!", ""),
        ("{", "}"),
        ("if (1) ", ""),
        ("(float)", ""),
        ("a[", "]"),
    ] {
        let source = format!("int f() {{ {}1{}; }}", open.repeat(20_000), close.repeat(20_000));
        assert!(compile(&source).is_err(), "{open}");
    }
    let sum = format!("int f() {{ return {}1; }}", "1 + ".repeat(20_000));
    assert_eq!(compile(&sum).unwrap_err()[0].problem.code(), "too_deep");
    let fine = format!("int f() {{ return {}1; }}", "1 + ".repeat(100));
    assert!(compile(&fine).is_ok());
}

#[test]
fn multicore_allows_tcm_accessors_only() {
    let body = |body: &str| format!("torch::Tensor f(const torch::Tensor& t) {{\n{body}\nreturn t; }}");
    for (kernel, expected) in [
        (body("auto d = get_dst_tensor(); auto a = t.accessor<float, 1>();"), "single_core_only 2:39"),
        (body("auto d = get_dst_tensor(); auto r = t.read_stream_accessor<float>();"), "single_core_only 2:39"),
        (body("int id = get_cpu_id();"), "no_dst_tensor 1:1"),
        (body("auto d = get_dst_tensor();"), "unwritten 1:1"),
        (
            body(
                "auto d = get_dst_tensor(); float b[64]; t.tcm_accessor().tensor_to_tcm<float>(b, 0, 64);\nd.tcm_accessor().tcm_to_tensor<float>(b, 0, 64);",
            ),
            "race 3:18",
        ),
    ] {
        assert_eq!(problem(&kernel, Some(8)), expected, "{kernel}");
    }
}

#[test]
fn streams_beyond_four_are_slow() {
    let open: String = (0..5).map(|i| format!("auto r{i} = t.read_stream_accessor<float>();\n")).collect();
    assert_eq!(in_body(&open), "many_streams 6:13");
}

/// The tutorial's multicore partition with a correct offset, as a user would fix it.
const MENDED: &str = include_str!("fixtures/kernels/mended.cpp");

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn right_kernels_agree_on_any_size_and_any_number_of_processors(n in 1_usize..5_000, cores in 1_u32..12) {
        let values: Vec<f32> = (0..n).map(|i| (i as f32 - n as f32 / 2.0) / 8.0).collect();
        let expected: Vec<Option<f32>> = values.iter().map(|x| Some(x.max(0.0))).collect();
        let flat = HbmTensor::from_f32(&[n as u64], &values);
        let source = |name: &str| BUILT_IN.iter().find(|k| k.name == name).unwrap().source;
        let single = run_on(source("relu-tcm"), &flat, None);
        prop_assert_eq!(&single.result, &expected);
        for kernel in [source("relu-multicore-fixed"), MENDED] {
            let multi = run_on(kernel, &flat, Some(cores));
            prop_assert!(multi.complete && multi.diagnostics.is_empty(), "{:?}", multi.diagnostics);
            prop_assert_eq!(&multi.result, &expected);
        }
        let columns = HbmTensor::from_f32(&[n as u64, 1], &values);
        prop_assert_eq!(&run_on(source("relu-element"), &columns, None).result, &expected);
        // The tutorial's partition is right exactly when the elements divide evenly.
        let tutorial = run_on(source("relu-multicore"), &flat, Some(cores));
        prop_assert_eq!(tutorial.diagnostics.is_empty(), n % cores as usize == 0);
    }

    #[test]
    fn any_text_is_answered(text in "[a-z(){}\\[\\];=+*<>0-9., :/#\"'!&|?-]{0,200}") {
        if let Ok(program) = compile(&text) {
            prop_assert!(program.kernel(Role::Forward).is_none());
        }
    }

    #[test]
    fn a_changed_kernel_is_answered(at in 0_usize..900, with in "[a-z(){};=+*0-9]{0,3}") {
        let mut source = BUILT_IN[1].source.to_owned();
        let at = at.min(source.len() - 1);
        source.replace_range(at..=at, &with);
        if let Ok(program) = compile(&source)
            && let Some(kernel) = program.kernel(Role::Forward)
        {
            let input = HbmTensor::from_f32(&[40], &[1.5; 40]);
            let inputs = vec![input; kernel.inputs()];
            let outcome = run(kernel, &inputs, &options(None), &mut [Quiet]);
            prop_assert!(outcome.complete || !outcome.diagnostics.is_empty());
        }
    }
}

#[test]
fn larger_blocks_need_fewer_copies_and_less_time() {
    let rate = |block: u32| {
        let source = BUILT_IN[1].source.replace("buffer_size = 1024", &format!("buffer_size = {block}"));
        let spec = CustomOpSpec { layers: vec![8, 2048, 8], ..CustomOpSpec::new("relu_tcm.cpp", &source, false) };
        run_spec(&spec, &CostTable::neuroncore_v2()).unwrap()
    };
    let (small, large) = (rate(128), rate(2048));
    assert!(small.breakdown_ns.dma > 4.0 * large.breakdown_ns.dma);
    assert!(small.ns_per_element > large.ns_per_element);
    // Two buffers of 4,096 floats do not fit in 16 KB: every element stays zero.
    let too_large = rate(8192);
    assert!(too_large.diagnostics.iter().any(|d| d.code == "tcm_exhausted"));
    assert!(too_large.max_abs_error.unwrap() > 0.0);
}
