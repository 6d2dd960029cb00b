//! Constructs of HLO text, and the errors for wrong text.

use super::*;
use ns_program::{Op, Role, flops};

fn read(text: &str) -> Result<ImportedModel, ImportError> {
    read_hlo_text(text, &ImportOptions::default())
}

fn error(text: &str) -> String {
    read(text).map(|_| ()).unwrap_err().to_string()
}

const LOOP: &str = "HloModule m
body.1 {
  p = (s32[], f32[4,4]{1,0}, f32[4,4]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  one = s32[] constant(2)
  next = s32[] add(i, one)
  x = f32[4,4] get-tuple-element(p), index=1
  w = f32[4,4] get-tuple-element(p), index=2
  y = f32[4,4] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT t = (s32[], f32[4,4], f32[4,4]) tuple(next, y, w)
}
cond.1 {
  p = (s32[], f32[4,4], f32[4,4]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(9)
  ROOT lt = pred[] compare(i, n), direction=LT
}
ENTRY main {
  x = f32[4,4] parameter(0)
  w = f32[4,4] parameter(1)
  zero = s32[] constant(START)
  t = (s32[], f32[4,4], f32[4,4]) tuple(zero, x, w)
  l = (s32[], f32[4,4], f32[4,4]) while(t), condition=cond.1, body=body.1
  ROOT y = f32[4,4] get-tuple-element(l), index=1
}";

#[test]
fn a_loop_runs_as_often_as_its_numbers_say() {
    let imported = read(&LOOP.replace("START", "0")).unwrap();
    assert_eq!(imported.inspection.flops, 5 * 2 * 4 * 4 * 4);
    let roles: Vec<&Role> = imported.program.parameters.iter().map(|p| &p.role).collect();
    assert_eq!(roles, [&Role::Input, &Role::Weight]);
}

#[test]
fn a_loop_of_unknown_length_is_refused_and_a_dead_one_is_not() {
    let data = LOOP.replace("constant(START)", "parameter(2)");
    assert!(error(&data).starts_with("l: a while loop whose number of turns depends on data; "), "{}", error(&data));
    let dead = data.replace("ROOT y = f32[4,4] get-tuple-element(l), index=1", "ROOT y = f32[4,4] add(x, w)");
    let inspection = read(&dead).unwrap().inspection;
    assert_eq!((inspection.flops, inspection.ops.get("while"), inspection.ops["add"]), (0, None, 1));
}

#[test]
fn a_comparison_by_total_order_compares_bits() {
    let text = "HloModule m
ENTRY e {
  a = f32[3] parameter(0)
  b = f32[3] parameter(1)
  ROOT c = pred[3] compare(a, b), direction=LT, type=TOTALORDER
}";
    let program = read(text).unwrap().program;
    let entry = &program.computations[program.entry];
    let compared = &entry.instructions[entry.instructions[entry.root].operands[0]];
    assert_eq!((compared.name.as_str(), compared.ty.to_string()), ("c.key", "s32[3]".to_owned()));
}

#[test]
fn a_tuple_that_feeds_the_entry_becomes_its_parts() {
    let text = "HloModule m
ENTRY e {
  p = (f32[2,3], (f32[3,4], pred[])) parameter(0)
  x = f32[2,3] get-tuple-element(p), index=0
  q = (f32[3,4], pred[]) get-tuple-element(p), index=1
  w = f32[3,4] get-tuple-element(q), index=0
  ROOT d = f32[2,4] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}";
    let program = read(text).unwrap().program;
    let listed: Vec<_> =
        program.parameters.iter().map(|p| (p.name.as_str(), p.ty.to_string(), p.role.clone())).collect();
    assert_eq!(listed[0], ("p.0", "f32[2,3]".to_owned(), Role::Input));
    assert_eq!(listed[1], ("p.1.0", "f32[3,4]".to_owned(), Role::Weight));
    assert_eq!(listed[2], ("p.1.1", "pred[]".to_owned(), Role::Buffer));
}

#[test]
fn calls_by_name_become_what_they_mean_and_unknown_ones_are_listed() {
    let text = "HloModule m
ENTRY e {
  x = f32[2] parameter(0)
  a = f32[2] custom-call(x), custom_call_target=\"AwsNeuronTransferWithStaticRing\", api_version=API_VERSION_UNSPECIFIED
  b = f32[2] custom-call(a), custom_call_target=\"AwsNeuronGelu\"
  c = f32[2] custom-call(b), custom_call_target=\"mhlo.erf\"
  d = f32[2] custom-call(c), custom_call_target=\"my_kernel\", backend_config={\"a\":[1,2]}
  ROOT f = f32[2] stochastic-convert(d, d)
}";
    let ImportedModel { inspection, program } = read(text).unwrap();
    let ops: Vec<&Op> = program.computations[program.entry].instructions.iter().map(|i| &i.op).collect();
    assert!(matches!(ops[1..4], [Op::Barrier, Op::CustomCall(_), Op::Unary(_)]), "{ops:?}");
    let unsupported: Vec<_> =
        inspection.unsupported.iter().map(|u| (u.op.as_str(), u.count, u.first.as_str())).collect();
    assert_eq!(unsupported, [("custom-call my_kernel", 1, "d"), ("stochastic-convert", 1, "f")]);
    assert_eq!(inspection.verdict, Verdict::Partial);
}

#[test]
fn what_is_wrong_is_named_with_its_place() {
    let module = |body: &str| format!("HloModule m\nENTRY e {{\n  x = f32[2,3] parameter(0)\n{body}\n}}\n");
    let cases = [
        ("", "line 1, column 1: the text ends in the middle"),
        ("HloModule m\n", "the module has no ENTRY computation"),
        (
            &module("  ROOT y = f32[2,3] tanh(z)"),
            "line 4, column 26: the operand \"z\" is not defined before it is read",
        ),
        (&module("  ROOT y = f32[2,4] tanh(x)"), "y: its operands give f32[2,3] and the file declares f32[2,4]"),
        (&module("  ROOT y = f32[2,3] add(x)"), "y: it has 1 operands and takes 2"),
        (&module("  ROOT y = f32[3,2] reshape(x), dimensions={0}, x={"), "the text ends in the middle"),
        (&module("  ROOT y = f32[7] reshape(x)"), "y: f32[2,3] and f32[7] have different numbers of elements"),
        (&module("  ROOT y = f32[] call(x), to_apply=nothing"), "a computation \"nothing\" is called and not defined"),
        (&module("  ROOT y = f32[2,3] call(x), to_apply=e"), "e: the computation calls itself"),
        (&module("  ROOT y = f32[-2,3] tanh(x)"), "\"-2\" where a size should be"),
        (&module("  ROOT y = c64[2,3] convert(x)"), "y: complex numbers"),
        (&module("  x = f32[2,3] tanh(x)"), "there are two instructions \"x\""),
        (&module("  ROOT y = f32[2,3] slice(x), slice={[0:2], [0:9]}"), "it takes [0:9:1] of dimension 1, which has 3"),
        (&module("  ROOT y = f32[2,3] parameter(5)"), "y: it is parameter 5 where parameter 1 should be"),
    ];
    for (text, expected) in cases {
        let found = error(text);
        assert!(found.contains(expected), "{found}\nis to contain\n{expected}");
    }
}

#[test]
fn other_forms_of_the_protocol_buffer_are_no_hlo_text() {
    assert!(
        error("name: \"IrToHlo.25\"\nentry_computation_name: \"x\"").contains("the text form of the protocol buffer")
    );
    assert!(error("{\"name\":\"IrToHlo.25\"}").contains("the JSON form of the protocol buffer"));
    assert!(error("module @m {}").contains("where HloModule should be"));
    let error = |bytes: &[u8]| read_hlo_proto(bytes, &ImportOptions::default()).map(|_| ()).unwrap_err().to_string();
    assert!(error(b"").contains("holds no computation"));
    assert!(error(b"\x1f\x8b\x08").contains("has a damaged header"));
    assert!(error(&[0x0a, 0x7f, 1, 2]).contains("runs past its end"));
}

#[test]
fn a_constant_that_its_type_does_not_hold_is_refused() {
    let of = |number: &str| format!("HloModule m\nENTRY main {{\n  ROOT c = s8[2] constant({{1, {number}}})\n}}");
    assert!(read(&of("-128")).is_ok());
    for number in ["256", "-129", "18446744073709551615"] {
        assert!(error(&of(number)).contains("a number of s8"), "{}", error(&of(number)));
    }
}

/// A computation that adds two numbers.
const ADD: &str = "a {\n  p = f32[] parameter(0)\n  q = f32[] parameter(1)\n  ROOT s = f32[] add(p, q)\n}\n";

/// Roles of the parameters of an entry.
fn roles(entry: &str) -> Vec<Role> {
    let text = format!("HloModule m\nENTRY main {{\n{entry}\n}}");
    let imported = read(&text).unwrap_or_else(|e| panic!("{e}"));
    imported.program.parameters.iter().map(|p| p.role.clone()).collect()
}

#[test]
fn fixed_places_make_no_table_and_rows_of_each_sample_are_data() {
    let take = |table: &str, dims: &str| {
        format!(
            "  x = f32[4,6] parameter(0)\n  w = f32[6,2] parameter(1)\n  i = s32[4,1] {table}
  g = f32[4,6] gather(x, i), {dims}
  ROOT y = f32[4,2] dot(g, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}"
        )
    };
    let rows = "offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,6}";
    let own = "offset_dims={1}, collapsed_slice_dims={}, start_index_map={1}, operand_batching_dims={0}, \
               start_indices_batching_dims={0}, index_vector_dim=1, slice_sizes={1,6}";
    let fixed = "constant({{3},{1},{0},{2}})";
    assert_eq!(roles(&take(fixed, rows)), [Role::Input, Role::Weight]);
    assert_eq!(roles(&take("parameter(2)", rows)), [Role::Weight, Role::Weight, Role::Input]);
    assert_eq!(roles(&take("parameter(2)", own)), [Role::Input, Role::Weight, Role::Input]);
}

#[test]
fn frequencies_are_a_buffer_and_the_weight_of_a_state_that_starts_at_zero_is_not() {
    let entry = "  x = f32[4,6] parameter(0)\n  v = f32[6,2] parameter(1)\n  f = f32[4,1] parameter(2)\n  w = f32[2,2] parameter(3)
  places = f32[1,2] constant({{0,1}})
  angles = f32[4,2] dot(f, places), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  factors = f32[4,2] cosine(angles)
  y = f32[4,2] dot(x, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  z = f32[4,2] multiply(y, factors)
  zero = f32[] constant(0)
  state = f32[4,2] broadcast(zero), dimensions={}
  h = f32[4,2] dot(state, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT r = f32[4,2] multiply(z, h)";
    assert_eq!(roles(entry), [Role::Input, Role::Weight, Role::Buffer, Role::Weight]);
}

#[test]
fn two_matrices_of_one_shape_are_tied_beside_positions() {
    let model = |positions: &str| {
        format!(
            "  i = s32[4,1] parameter(0)\n  t = f32[9,6] parameter(1)\n  p = f32[4,6] parameter(2)\n  w = f32[9,6] parameter(3)
  rows = f32[4,6] gather(t, i), offset_dims={{1}}, collapsed_slice_dims={{0}}, start_index_map={{0}}, index_vector_dim=1, slice_sizes={{1,6}}
  at = s32[4,1] constant({{{{0}},{{1}},{{2}},{{3}}}})
  own = f32[4,6] {positions}
  x = f32[4,6] add(rows, own)
  ROOT y = f32[4,9] dot(x, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{1}}"
        )
    };
    let parameters = |entry: &str| {
        read(&format!("HloModule m\nENTRY main {{\n{entry}\n}}"))
            .unwrap_or_else(|e| panic!("{e}"))
            .inspection
            .parameters
    };
    let taken = "gather(p, at), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,6}";
    assert_eq!((parameters(&model(taken)), parameters(&model("negate(p)"))), (54 + 24, 2 * 54 + 24));
}

#[test]
fn a_weight_that_is_divided_by_its_length_is_no_variance() {
    let entry = "  x = f32[4,6] parameter(0)\n  v = f32[6,2] parameter(1)\n  zero = f32[] constant(0)
  square = f32[6,2] multiply(v, v)
  sum = f32[2] reduce(square, zero), dimensions={0}, to_apply=a
  length = f32[2] sqrt(sum)
  lengths = f32[6,2] broadcast(length), dimensions={1}
  w = f32[6,2] divide(v, lengths)
  ROOT y = f32[4,2] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}";
    let imported = read(&format!("HloModule m\n{ADD}ENTRY main {{\n{entry}\n}}")).unwrap();
    assert_eq!((imported.inspection.parameters, imported.inspection.buffers), (12, 1));
}

#[test]
fn what_a_function_without_weights_is_given_is_data() {
    let put = "  x = f32[4,6] parameter(0)\n  u = f32[2,6] parameter(1)\n  i = s32[2,1] constant({{3},{1}})
  ROOT y = f32[4,6] scatter(x, i, u), update_window_dims={1}, inserted_window_dims={0}, \
             scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=a";
    let imported = read(&format!("HloModule m\n{ADD}ENTRY main {{\n{put}\n}}")).unwrap();
    assert_eq!(imported.inspection.inputs.len(), 2);
    assert_eq!((imported.inspection.parameters, imported.inspection.buffers), (0, 2));
    let scores = "  q = f32[2,4,6] parameter(0)\n  k = f32[2,5,6] parameter(1)
  ROOT s = f32[2,4,5] dot(q, k), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={2}";
    assert_eq!(roles(scores), [Role::Input, Role::Input]);
}

#[test]
fn the_first_of_two_joined_counters_ends_a_loop_as_in_tensorflow() {
    let text = "HloModule m
test.1 {
  p = (s32[], s32[], f32[4,4], f32[4,4]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  most = s32[] constant(9)
  a = pred[] compare(i, most), direction=LT
  j = s32[] get-tuple-element(p), index=1
  steps = s32[] constant(6)
  b = pred[] compare(j, steps), direction=LT
  both = pred[] and(a, b)
  same = pred[] reshape(both)
  ROOT t = (pred[]) tuple(same)
}
cond.1 {
  p = (s32[], s32[], f32[4,4], f32[4,4]) parameter(0)
  c = (pred[]) call(p), to_apply=test.1
  ROOT g = pred[] get-tuple-element(c), index=0
}
turn.1 {
  p = (s32[], s32[], f32[4,4], f32[4,4]) parameter(0)
  one = s32[] constant(1)
  i = s32[] get-tuple-element(p), index=0
  i2 = s32[] add(i, one)
  j = s32[] get-tuple-element(p), index=1
  j2 = s32[] add(j, one)
  x = f32[4,4] get-tuple-element(p), index=2
  w = f32[4,4] get-tuple-element(p), index=3
  y = f32[4,4] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT t = (s32[], s32[], f32[4,4], f32[4,4]) tuple(i2, j2, y, w)
}
body.1 {
  p = (s32[], s32[], f32[4,4], f32[4,4]) parameter(0)
  ROOT c = (s32[], s32[], f32[4,4], f32[4,4]) call(p), to_apply=turn.1
}
ENTRY main {
  x = f32[4,4] parameter(0)
  w = f32[4,4] parameter(1)
  zero = s32[] constant(0)
  begin = s32[] constant(BEGIN)
  t = (s32[], s32[], f32[4,4], f32[4,4]) tuple(zero, begin, x, w)
  l = (s32[], s32[], f32[4,4], f32[4,4]) while(t), condition=cond.1, body=body.1
  ROOT y = f32[4,4] get-tuple-element(l), index=2
}";
    let trips = |text: &str| flops(&read(text).unwrap().program).count / (2 * 4 * 4 * 4);
    assert_eq!(trips(&text.replace("BEGIN", "0")), 6);
    assert_eq!(trips(&text.replace("BEGIN", "-20")), 9);
    let data = text.replace("constant(BEGIN)", "parameter(2)");
    assert!(error(&data).contains("a while loop whose number of turns depends on data"), "{}", error(&data));
}

#[test]
fn the_mean_and_variance_of_a_norm_of_keras_are_buffers() {
    let text = "HloModule m
ENTRY e {
  x = f32[2,8] parameter(0)
  k = f32[8,4] parameter(1)
  y = f32[2,4] dot(x, k), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  variance = f32[4] parameter(2)
  c = f32[] constant(0.001)
  epsilon = f32[4] broadcast(c), dimensions={}
  sum = f32[4] add(variance, epsilon)
  root = f32[4] rsqrt(sum)
  scale = f32[4] parameter(3)
  factor = f32[4] multiply(root, scale)
  factors = f32[2,4] broadcast(factor), dimensions={1}
  scaled = f32[2,4] multiply(y, factors)
  offset = f32[4] parameter(4)
  mean = f32[4] parameter(5)
  shift = f32[4] multiply(mean, factor)
  rest = f32[4] subtract(offset, shift)
  rests = f32[2,4] broadcast(rest), dimensions={1}
  ROOT z = f32[2,4] add(scaled, rests)
}";
    let imported = read(text).unwrap();
    assert_eq!(imported.inspection.inputs.len(), 1);
    assert_eq!(imported.inspection.parameters, 8 * 4 + 2 * 4);
    let buffers: Vec<&str> =
        imported.program.parameters.iter().filter(|p| p.role == Role::Buffer).map(|p| p.name.as_str()).collect();
    assert_eq!(buffers, ["variance", "mean"]);
}

#[test]
fn the_mean_and_variance_of_the_inputs_are_buffers() {
    let entry = "  x = f32[2,8] parameter(0)
  mean = f32[1,8] parameter(1)
  row = f32[8] reshape(mean)
  means = f32[2,8] broadcast(row), dimensions={1}
  centred = f32[2,8] subtract(x, means)
  variance = f32[1,8] parameter(2)
  root = f32[1,8] sqrt(variance)
  c = f32[] constant(1e-7)
  least = f32[1,8] broadcast(c), dimensions={}
  spread = f32[1,8] maximum(root, least)
  line = f32[8] reshape(spread)
  spreads = f32[2,8] broadcast(line), dimensions={1}
  y = f32[2,8] divide(centred, spreads)
  k = f32[8,4] parameter(3)
  ROOT z = f32[2,4] dot(y, k), lhs_contracting_dims={1}, rhs_contracting_dims={0}";
    assert_eq!(roles(entry), [Role::Input, Role::Buffer, Role::Buffer, Role::Weight]);
}

#[test]
fn a_size_that_an_array_has_already_is_no_operation() {
    let text = "HloModule m
ENTRY e {
  x = f32[4,3] parameter(0)
  n = s32[] constant(SIZE)
  ROOT y = f32[4,3] set-dimension-size(x, n), dimensions={1}
}";
    let unknown = |size: &str| read(&text.replace("SIZE", size)).unwrap().inspection.unsupported.len();
    assert_eq!((unknown("3"), unknown("2")), (0, 1));
}

#[test]
fn a_bitcast_of_an_optimised_module_may_change_the_type_of_numbers() {
    let text = "HloModule m
ENTRY e {
  x = f32[3] parameter(0)
  ROOT y = s32[3] bitcast(x)
}";
    let program = read(text).unwrap().program;
    let entry = &program.computations[program.entry];
    assert_eq!(entry.instructions[entry.root].op, Op::BitcastConvert);
}

/// A loop of `LIMIT` turns in a loop of three; the inner loop's limit is part of the outer loop's state, as JAX writes it.
const NESTED: &str = "HloModule nested
inner_condition {
  p = (s32[], s32[], f32[4,4]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] get-tuple-element(p), index=1
  ROOT lt = pred[] compare(i, n), direction=LT
}
inner_body {
  p = (s32[], s32[], f32[4,4]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] get-tuple-element(p), index=1
  x = f32[4,4] get-tuple-element(p), index=2
  one = s32[] constant(1)
  next = s32[] add(i, one)
  y = f32[4,4] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT t = (s32[], s32[], f32[4,4]) tuple(next, n, y)
}
outer_condition {
  p = (s32[], s32[], f32[4,4]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  three = s32[] constant(3)
  ROOT lt = pred[] compare(i, three), direction=LT
}
outer_body {
  p = (s32[], s32[], f32[4,4]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] get-tuple-element(p), index=1
  x = f32[4,4] get-tuple-element(p), index=2
  zero = s32[] constant(0)
  begin = (s32[], s32[], f32[4,4]) tuple(zero, n, x)
  l = (s32[], s32[], f32[4,4]) while(begin), condition=inner_condition, body=inner_body
  y = f32[4,4] get-tuple-element(l), index=2
  one = s32[] constant(1)
  next = s32[] add(i, one)
  limit = s32[] add(n, CHANGE)
  ROOT t = (s32[], s32[], f32[4,4]) tuple(next, limit, y)
}
ENTRY main {
  x = f32[4,4] parameter(0)
  zero = s32[] constant(0)
  n = s32[] LIMIT
  t = (s32[], s32[], f32[4,4]) tuple(zero, n, x)
  l = (s32[], s32[], f32[4,4]) while(t), condition=outer_condition, body=outer_body
  ROOT y = f32[4,4] get-tuple-element(l), index=2
}";

#[test]
fn a_loop_in_a_loop_counts_at_each_turn_of_both_and_data_is_said() {
    let product = 2 * 4 * 4 * 4;
    let fixed =
        NESTED.replace("limit = s32[] add(n, CHANGE)\n", "").replace("tuple(next, limit, y)", "tuple(next, n, y)");
    let imported = read(&fixed.replace("LIMIT", "constant(5)")).unwrap();
    assert_eq!((imported.inspection.flops, imported.inspection.notes.len()), (3 * 5 * product, 1));
    let options = ImportOptions { display_only: true, ..ImportOptions::default() };
    let inspect = |text: &str| read_hlo_text(text, &options).unwrap().inspection;
    // A limit that is an input, or that the outer loop changes.
    for open in
        [fixed.replace("LIMIT", "parameter(1)"), NESTED.replace("LIMIT", "constant(5)").replace("CHANGE", "one")]
    {
        let inspection = inspect(&open);
        assert_eq!(inspection.flops, 3 * product);
        let said = "FLOPs count the body of 1 loop once: data decides how often it runs";
        assert!(inspection.notes.iter().any(|note| note == said), "{:?}", inspection.notes);
    }
}

#[test]
fn the_branch_that_runs_counts_or_the_largest_one() {
    let text = "HloModule m
small {
  ROOT p = f32[4,4] parameter(0)
}
large {
  p = f32[4,4] parameter(0)
  ROOT d = f32[4,4] dot(p, p), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
ENTRY main {
  x = f32[4,4] parameter(0)
  i = s32[] INDEX
  ROOT y = f32[4,4] conditional(i, x, x), branch_computations={small, large}
}";
    let options = ImportOptions { display_only: true, ..ImportOptions::default() };
    let inspect = |index: &str| {
        let inspection = read_hlo_text(&text.replace("INDEX", index), &options).unwrap().inspection;
        (inspection.flops, inspection.notes.iter().any(|note| note.contains("largest branch of 1 conditional")))
    };
    let product = 2 * 4 * 4 * 4;
    assert_eq!(
        ["constant(0)", "constant(1)", "constant(-1)", "parameter(1)"].map(inspect),
        [(0, false), (product, false), (product, false), (product, true)]
    );
    assert!(read(&text.replace("INDEX", "constant(0)")).is_ok());
    assert!(error(&text.replace("INDEX", "parameter(1)")).contains("a branch that is chosen by data"));
}
