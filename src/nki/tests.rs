//! Lists that a test writes, from their text to the answer.

use serde_json::{Value, json};

use ns_machine::cost::Limit;

use crate::{Answer, Decisions, List, Setup, answer, executable_of};

/// A list under construction.
struct Author {
    memory: String,
    partitions: Vec<u32>,
    elements: Vec<u64>,
    dtype: Vec<u32>,
    /// Line of each tile's declaration; a site has the number of its line.
    site: Vec<i64>,
    shapes: serde_json::Map<String, Value>,
    patterns: Vec<Vec<i64>>,
    forms: Vec<Value>,
    instructions: Vec<i64>,
    dialect: u32,
    scopes: Vec<i64>,
}

/// Lines of the author's file.
const LINES: usize = 40;

impl Author {
    fn new(dialect: u32) -> Self {
        Self {
            memory: String::new(),
            partitions: Vec::new(),
            elements: Vec::new(),
            dtype: Vec::new(),
            site: Vec::new(),
            shapes: serde_json::Map::new(),
            patterns: Vec::new(),
            forms: Vec::new(),
            instructions: Vec::new(),
            dialect,
            scopes: vec![-1, -1, 0],
        }
    }

    /// A tensor in device memory (`i`, `o`, `h`) or a tile (`s`, `p`, `a`), with its type: 0 fp32, 1 bf16.
    fn tile(&mut self, memory: char, rows: u32, columns: u64, dtype: u32, line: i64) -> i64 {
        let outside = matches!(memory, 'i' | 'o' | 'h');
        let number = self.partitions.len();
        self.memory.push(memory);
        self.partitions.push(if outside { 0 } else { rows });
        self.elements.push(if outside { u64::from(rows) * columns } else { columns });
        self.dtype.push(dtype);
        self.site.push(line);
        if outside {
            self.shapes.insert(number.to_string(), json!([rows, columns]));
        }
        number as i64
    }

    fn pattern(&mut self, pattern: Vec<i64>) -> i64 {
        let place = self.patterns.iter().position(|p| *p == pattern);
        place.unwrap_or_else(|| {
            self.patterns.push(pattern);
            self.patterns.len() - 1
        }) as i64
    }

    /// An instruction on tensors, each with its start and its pattern.
    fn call(&mut self, op: &str, line: i64, operands: &[(i64, i64, Vec<i64>)], args: Value) {
        let roles = ["dst", "a", "b", "c"];
        let form = json!({
            "op": op, "engine": "any", "writes": 1, "operands": roles[..operands.len()], "args": args,
        });
        let place = self.forms.iter().position(|f| *f == form).unwrap_or_else(|| {
            self.forms.push(form);
            self.forms.len() - 1
        });
        let scope = self.scopes.len() as i64 / 3 - 1;
        self.instructions.extend([place as i64, line, scope]);
        for (tensor, start, pattern) in operands {
            let pattern = self.pattern(pattern.clone());
            self.instructions.extend([*tensor, *start, pattern]);
        }
    }

    /// The next iteration of the one loop.
    fn turn(&mut self, iteration: i64) {
        self.scopes.extend([0, 0, iteration]);
    }

    fn text(&self) -> String {
        let n = self.partitions.len();
        let sites: Vec<Value> = (0..LINES).map(|line| json!([0, line, "kernel"])).collect();
        json!({
            "format": "neuronscope-nki-list", "version": 1, "builds": true, "chip": "trn2", "dialect": self.dialect,
            "kernel": {"function": "kernel", "line": 1}, "files": ["kernel.py"], "sites": sites,
            "loops": [["affine", 0, 4]], "scopes": self.scopes,
            "tensors": {
                "memory": self.memory, "dtype": self.dtype, "partitions": self.partitions, "elements": self.elements,
                "scope": vec![0; n], "site": self.site, "of": vec![-1; n], "name": vec![0; n],
            },
            "names": [""], "dtypes": [["float32", 4], ["bfloat16", 2]], "shapes": self.shapes,
            "patterns": self.patterns, "forms": self.forms, "instructions": self.instructions,
        })
        .to_string()
    }

    fn list(&self) -> List {
        List::read(&self.text()).unwrap()
    }
}

fn whole(rows: i64, columns: i64) -> Vec<i64> {
    vec![0, rows, 1, columns]
}

fn setup(flags: &[&str], without: &[&str]) -> Setup {
    let owned = |list: &[&str]| list.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>();
    Setup::new("trn2.48xlarge", 1, &owned(flags), &owned(without)).unwrap()
}

fn run(author: &Author) -> Answer {
    answer(&author.list(), &setup(&[], &[])).unwrap()
}

/// Loads, doubles and stores `turns` tiles of `columns` columns, each in an iteration.
fn doubled(dialect: u32, turns: i64, columns: i64) -> Author {
    let mut author = Author::new(dialect);
    let all = turns * columns;
    let x = author.tile('i', 128, all as u64, 0, 1);
    let out = author.tile('o', 128, all as u64, 0, 2);
    for turn in 0..turns {
        author.turn(turn);
        let (a, b) = (author.tile('s', 128, columns as u64, 0, 3), author.tile('s', 128, columns as u64, 0, 4));
        let outside = vec![all, 128, 1, columns];
        author.call("dma_copy", 5, &[(a, 0, whole(128, columns)), (x, turn * columns, outside.clone())], json!({}));
        let operands = [(b, 0, whole(128, columns)), (a, 0, whole(128, columns)), (a, 0, whole(128, columns))];
        author.call("tensor_tensor", 6, &operands, json!({"op": "add"}));
        author.call("dma_copy", 7, &[(out, turn * columns, outside), (b, 0, whole(128, columns))], json!({}));
    }
    author
}

/// A sum in PSUM of `blocks` products of 128 x 128 and 128 x `columns`, whose operands are all loaded before.
fn product(blocks: i64, columns: i64, dtype: u32) -> Author {
    let mut author = Author::new(2);
    let x = author.tile('i', 128, (128 * blocks) as u64, dtype, 1);
    let w = author.tile('i', 128, (columns * blocks) as u64, dtype, 2);
    let out = author.tile('o', 128, 512, 0, 3);
    let sum = author.tile('p', 128, 512, 0, 4);
    let mut operands = Vec::new();
    for block in 0..blocks {
        let (a, b) = (author.tile('s', 128, 128, dtype, 5), author.tile('s', 128, columns as u64, dtype, 6));
        author.call(
            "dma_copy",
            7,
            &[(a, 0, whole(128, 128)), (x, 128 * block, vec![128 * blocks, 128, 1, 128])],
            json!({}),
        );
        let outside = vec![columns * blocks, 128, 1, columns];
        author.call("dma_copy", 8, &[(b, 0, whole(128, columns)), (w, columns * block, outside)], json!({}));
        operands.push((a, b));
    }
    for (block, (a, b)) in operands.into_iter().enumerate() {
        let operands = [(sum, 0, whole(128, 512)), (a, 0, whole(128, 128)), (b, 0, whole(128, 512))];
        author.call("nc_matmul", 9, &operands, json!({"accumulate": block > 0}));
    }
    let result = author.tile('s', 128, 512, 0, 10);
    author.call("tensor_copy", 11, &[(result, 0, whole(128, 512)), (sum, 0, whole(128, 512))], json!({}));
    author.call("dma_copy", 12, &[(out, 0, vec![512, 128, 1, 512]), (result, 0, whole(128, 512))], json!({}));
    author
}

#[test]
fn a_product_counts_its_instructions_bytes_and_lines() {
    let found = run(&product(8, 512, 0));
    assert!(found.builds && found.errors.is_empty());
    assert_eq!((found.instructions["matmul"], found.instructions["dma"]), (16, 17));
    let bytes = 128 * 4 * 8 * (128 + 512);
    assert_eq!((found.hbm.read_bytes, found.hbm.write_bytes), (bytes, 128 * 512 * 4));
    assert_eq!(found.hbm.floor_bytes, bytes + 128 * 512 * 4);
    let line = found.lines.iter().find(|line| line.line == 9).unwrap();
    assert!(line.engine_us > 6.0 && line.bytes == 0, "{line:?}");
    assert_eq!(run(&product(8, 512, 1)).instructions["matmul"], 8);
    let [low, high] = found.interval_us.unwrap();
    assert!(low < found.total_us.unwrap() && found.total_us.unwrap() < high);
}

#[test]
fn only_what_device_memory_moves_is_counted_there() {
    let mut author = Author::new(2);
    let table = author.tile('i', 1_000, 128, 1, 1);
    let out = author.tile('o', 128, 128, 1, 2);
    let (rows, turned) = (author.tile('s', 128, 128, 1, 3), author.tile('s', 128, 128, 1, 4));
    let tile = 128 * 128 * 2;
    author.call("dma_copy", 5, &[(rows, 0, whole(128, 128)), (table, 0, vec![128, 128, 1, 128])], json!({}));
    author.call("dma_transpose", 6, &[(turned, 0, whole(128, 128)), (rows, 0, whole(128, 128))], json!({}));
    author.call("dma_transpose", 7, &[(out, 0, vec![128, 128, 1, 128]), (turned, 0, whole(128, 128))], json!({}));
    let found = run(&author);
    // A table of 1,000 rows, of which 128 are looked up: no kernel needs to read more.
    assert_eq!((found.hbm.read_bytes, found.hbm.write_bytes, found.hbm.floor_bytes), (tile, tile, 2 * tile));
    assert!(found.lines.iter().all(|line| line.bytes == tile), "{:?}", found.lines);
    let us = |line| found.lines.iter().find(|l| l.line == line).unwrap().dma_us;
    assert!(us(5) < us(7) && us(7) < us(6), "{:?}", found.lines);
}

#[test]
fn operands_of_one_sum_that_do_not_fit_do_not_build() {
    // 24 blocks of 128 and 2,048 columns: 204 KiB in a partition; one more: 212.5.
    assert!(run(&product(24, 2_048, 0)).builds);
    let too_large = run(&product(25, 2_048, 0));
    assert!(!too_large.builds && too_large.total_us.is_none());
    assert_eq!((too_large.errors[0].code.as_str(), too_large.errors[0].line), ("NCC_IBIR229", 9));
    assert_eq!(run(&product(27, 2_048, 0)).errors[0].code, "NCC_IBIR229");
    assert_eq!(run(&product(2, 28_000, 0)).errors[0].code, "NCC_INLA001");
}

/// Sums of four products each that take turns.
fn sums_in_turn(dialect: u32, sums: i64) -> Answer {
    let mut author = Author::new(dialect);
    let (x, out) = (author.tile('i', 128, 512, 1, 1), author.tile('o', 128, 512, 0, 2));
    let tile = author.tile('s', 128, 512, 1, 3);
    author.call("dma_copy", 4, &[(tile, 0, whole(128, 512)), (x, 0, vec![512, 128, 1, 512])], json!({}));
    let banks: Vec<i64> = (0..sums).map(|_| author.tile('p', 128, 512, 0, 5)).collect();
    for turn in 0..4 {
        for bank in &banks {
            let operands = [(*bank, 0, whole(128, 512)), (tile, 0, whole(128, 128)), (tile, 0, whole(128, 512))];
            author.call("nc_matmul", 6, &operands, json!({"accumulate": turn > 0}));
        }
    }
    let result = author.tile('s', 128, 512, 0, 7);
    for bank in banks {
        author.call("tensor_copy", 8, &[(result, 0, whole(128, 512)), (bank, 0, whole(128, 512))], json!({}));
        author.call("dma_copy", 9, &[(out, 0, vec![512, 128, 1, 512]), (result, 0, whole(128, 512))], json!({}));
    }
    run(&author)
}

#[test]
fn sums_that_are_open_at_once_have_to_fit_psum() {
    assert!(sums_in_turn(2, 8).builds);
    let found = sums_in_turn(2, 9);
    assert_eq!((found.builds, found.errors[0].line), (false, 6));
    assert!(found.errors[0].message.contains("2.25 MiB of PSUM, which has 2.00 MiB"), "{found:?}");
    // The compiler of the first dialect may do one sum after the other.
    assert!(sums_in_turn(1, 9).builds);
}

#[test]
fn operators_run_on_the_engines_that_have_them() {
    let busy = |op: &str, args: Value| {
        let mut author = Author::new(1);
        let (x, out) = (author.tile('i', 128, 512, 0, 1), author.tile('o', 128, 512, 0, 2));
        let tiles: Vec<i64> = (0..9).map(|_| author.tile('s', 128, 512, 0, 3)).collect();
        author.call("dma_copy", 4, &[(tiles[0], 0, whole(128, 512)), (x, 0, vec![512, 128, 1, 512])], json!({}));
        for pair in tiles.windows(2) {
            let mut operands = vec![(pair[1], 0, whole(128, 512)), (pair[0], 0, whole(128, 512))];
            operands.extend((op == "tensor_tensor").then(|| (pair[0], 0, whole(128, 512))));
            author.call(op, 5, &operands, args.clone());
        }
        author.call("dma_copy", 6, &[(out, 0, vec![512, 128, 1, 512]), (tiles[8], 0, whole(128, 512))], json!({}));
        let found = run(&author);
        ["vector", "scalar", "gpsimd"].map(|engine| found.engines[engine].busy_us > 0.0)
    };
    assert_eq!(busy("tensor_scalar", json!({"op0": "multiply", "operand0": 2.0, "op1": "add"})), [true, true, false]);
    assert_eq!(busy("tensor_scalar", json!({"op0": "maximum", "operand0": 0.0})), [true, false, false]);
    assert_eq!(busy("tensor_tensor", json!({"op": "add"})), [true, false, false]);
    assert_eq!(busy("tensor_tensor", json!({"op": "power"})), [false, false, true]);
}

#[test]
fn a_transfer_that_adds_reads_all_that_it_adds() {
    let bytes = |op: &str, sources: usize, args: Value| {
        let mut author = Author::new(2);
        let (x, y) = (author.tile('i', 128, 512, 0, 1), author.tile('i', 128, 512, 0, 1));
        let out = author.tile('o', 128, 512, 0, 2);
        let all = vec![512, 128, 1, 512];
        let operands = [(out, 0, all.clone()), (x, 0, all.clone()), (y, 0, all)];
        author.call(op, 3, &operands[..=sources], args);
        let found = run(&author);
        (found.hbm.read_bytes / (128 * 512 * 4), found.hbm.write_bytes / (128 * 512 * 4))
    };
    assert_eq!(bytes("dma_copy", 1, json!({})), (1, 1));
    assert_eq!(bytes("dma_copy", 1, json!({"dst_op": "add"})), (2, 1));
    assert_eq!(bytes("dma_compute", 2, json!({"reduce_op": "add"})), (2, 1));
}

#[test]
fn more_work_never_takes_less_and_every_limit_is_one() {
    let totals = [1, 2, 5, 20].map(|turns| run(&doubled(2, turns, 1_024)).total_us.unwrap());
    assert!(totals.is_sorted(), "{totals:?}");
    let found = run(&doubled(2, 20, 1_024));
    assert_eq!(found.saves_us.len(), Limit::ALL.len());
    assert!(found.saves_us.values().all(|us| *us >= 0.0), "{:?}", found.saves_us);
    assert_eq!(found.bound.as_deref(), Some("dma_rate"));
}

#[test]
fn short_iterations_of_the_first_dialect_are_joined() {
    let counts = |dialect, without: &[&str]| {
        let found = answer(&doubled(dialect, 8, 128).list(), &setup(&["disable-dge"], without)).unwrap();
        (found.instructions["tensor_tensor"], found.instructions["dma"], found.hbm.read_bytes)
    };
    let bytes = 128 * 8 * 128 * 4;
    assert_eq!(counts(1, &[]), (2, 4, bytes));
    assert_eq!(counts(1, &["widen"]), (8, 16, bytes));
    assert_eq!(counts(2, &[]), (8, 16, bytes));
}

#[test]
fn what_repeats_without_a_change_is_done_once() {
    let mut author = Author::new(1);
    let x = author.tile('i', 128, 64, 0, 1);
    let out = author.tile('o', 128, 64 * 6, 0, 2);
    for turn in 0..6 {
        let (a, b) = (author.tile('s', 128, 64, 0, 3), author.tile('s', 128, 64, 0, 4));
        author.call("dma_copy", 5, &[(a, 0, whole(128, 64)), (x, 0, vec![64, 128, 1, 64])], json!({}));
        author.call("activation", 6, &[(b, 0, whole(128, 64)), (a, 0, whole(128, 64))], json!({"op": "exp"}));
        author.call("dma_copy", 7, &[(out, 64 * turn, vec![64 * 6, 128, 1, 64]), (b, 0, whole(128, 64))], json!({}));
    }
    let found = answer(&author.list(), &setup(&[], &[])).unwrap();
    assert_eq!((found.instructions["activate"], found.hbm.read_bytes), (1, 128 * 64 * 4));
    let all = answer(&author.list(), &setup(&[], &["hoist"])).unwrap();
    assert_eq!((all.instructions["activate"], all.hbm.read_bytes), (6, 6 * 128 * 64 * 4));
    assert!(all.total_us > found.total_us);
}

#[test]
fn a_loop_that_is_written_out_is_the_loop() {
    // Each iteration of the outer loop loads a tile, and four times the same exponential of it, as in a loop or in lines of their own.
    let found = |written_out: bool, dtypes: [u32; 4]| {
        let mut author = Author::new(1);
        let x = author.tile('i', 128, 64 * 3, 0, 1);
        let out = author.tile('o', 128, 64 * 12, 0, 2);
        for turn in 0..3 {
            author.turn(turn);
            let a = author.tile('s', 128, 64, 0, 3);
            author.call("dma_copy", 4, &[(a, 0, whole(128, 64)), (x, 64 * turn, vec![64 * 3, 128, 1, 64])], json!({}));
            for (inner, dtype) in (0..).zip(dtypes) {
                let line = if written_out { 4 * inner } else { 0 };
                // What no iteration changes is done once in all.
                let zero = author.tile('s', 128, 64, 0, 8 + line);
                author.call("memset", 8 + line, &[(zero, 0, whole(128, 64))], json!({"value": 0}));
                let b = author.tile('s', 128, 64, dtype, 5 + line);
                let operands = [(b, 0, whole(128, 64)), (a, 0, whole(128, 64))];
                author.call("activation", 6 + line, &operands, json!({"op": "exp"}));
                let to = (out, 64 * (4 * turn + inner), vec![64 * 12, 128, 1, 64]);
                author.call("dma_copy", 7 + line, &[to, (b, 0, whole(128, 64))], json!({}));
            }
        }
        let found = run(&author);
        (found.instructions["activate"], found.instructions["memset"], found.total_us.unwrap())
    };
    assert_eq!(found(true, [0; 4]), found(false, [0; 4]));
    assert_eq!((found(true, [0; 4]).0, found(true, [0; 4]).1), (3, 1));
    // A result of another type is another one.
    assert_eq!([found(true, [0, 1, 0, 0]).0, found(false, [0, 0, 1, 1]).0], [6, 6]);
}

#[test]
fn two_rows_of_fp8_in_one_of_the_array_take_the_time_of_one() {
    let busy = |dtype, rows: i64, args: Value| {
        let mut author = Author::new(2);
        let x = author.tile('i', 128, 1_024, dtype, 1);
        let (a, b) = (author.tile('s', 128, 256, dtype, 2), author.tile('s', 128, 1_024, dtype, 3));
        author.call("dma_copy", 4, &[(a, 0, whole(128, 256)), (x, 0, vec![1_024, 128, 1, 256])], json!({}));
        author.call("dma_copy", 5, &[(b, 0, whole(128, 1_024)), (x, 0, whole(128, 1_024))], json!({}));
        for line in 0..9 {
            let sum = author.tile('p', 128, 512, 0, 6);
            let operands = [(sum, 0, whole(128, 512)), (a, 0, whole(128, 128 * rows)), (b, 0, whole(128, 512 * rows))];
            author.call("nc_matmul", 10 + line, &operands, args.clone());
        }
        run(&author).engines["tensor"].busy_us
    };
    assert_eq!(busy(1, 2, json!({"perf_mode": "double_row"})), busy(1, 1, json!({})));
}

#[test]
fn tiles_that_have_no_room_leave_and_come_back() {
    // Seven tiles of 32 KiB in a partition are live until each is stored: 224 KiB.
    let spilled = |tiles: i64| {
        let mut author = Author::new(2);
        let x = author.tile('i', 128, (8_192 * tiles) as u64, 0, 1);
        let out = author.tile('o', 128, (8_192 * tiles) as u64, 0, 2);
        let outside = vec![8_192 * tiles, 128, 1, 8_192];
        let kept: Vec<i64> = (0..tiles).map(|_| author.tile('s', 128, 8_192, 0, 3)).collect();
        for (at, tile) in kept.iter().enumerate() {
            let operands = [(*tile, 0, whole(128, 8_192)), (x, 8_192 * at as i64, outside.clone())];
            author.call("dma_copy", 5, &operands, json!({}));
        }
        for (at, tile) in kept.iter().enumerate() {
            let operands = [(out, 8_192 * at as i64, outside.clone()), (*tile, 0, whole(128, 8_192))];
            author.call("dma_copy", 6, &operands, json!({}));
        }
        run(&author)
    };
    assert_eq!(spilled(6).spill.bytes, 0);
    let seven = spilled(7);
    // One tile goes and returns, which leaves 192 KiB.
    assert_eq!((seven.sbuf_peak_bytes, seven.spill.bytes), (7 * 32 * 1024, 2 * 128 * 32 * 1024));
    assert!(seven.saves_us["sbuf"] > 0.0, "{:?}", seven.saves_us);
    // What is in use at once never exceeds what there is, and fills it where something has to leave.
    let most = |found: &Answer| found.occupancy.as_ref().unwrap().sbuf_bytes.iter().max().copied().unwrap();
    assert_eq!((most(&spilled(3)), most(&seven)), (3 * 32 * 1024, 6 * 32 * 1024));
}

#[test]
fn copies_of_the_second_dialect_stay_on_the_vector_engine() {
    let scalar = |dialect: u32| {
        let mut author = Author::new(dialect);
        let (x, out) = (author.tile('i', 128, 512, 0, 1), author.tile('o', 128, 512, 0, 2));
        let (from, to) = (author.tile('s', 128, 512, 0, 3), author.tile('s', 128, 512, 0, 4));
        let outside = vec![512, 128, 1, 512];
        author.call("dma_copy", 5, &[(from, 0, whole(128, 512)), (x, 0, outside.clone())], json!({}));
        for _ in 0..8 {
            author.call("tensor_copy", 6, &[(to, 0, whole(128, 512)), (from, 0, whole(128, 512))], json!({}));
        }
        author.call("dma_copy", 7, &[(out, 0, outside), (to, 0, whole(128, 512))], json!({}));
        run(&author).engines["scalar"].busy_us
    };
    assert!(scalar(1) > 0.0 && scalar(2) <= 0.0, "{} {}", scalar(1), scalar(2));
}

#[test]
fn engines_of_a_dma_serve_their_own_partitions() {
    let of = |partitions: i64, columns: i64| {
        let mut author = Author::new(2);
        let x = author.tile('i', partitions as u32, columns as u64, 0, 1);
        let out = author.tile('o', partitions as u32, columns as u64, 0, 2);
        let tile = author.tile('s', partitions as u32, columns as u64, 0, 3);
        let outside = vec![columns, partitions, 1, columns];
        author.call("dma_copy", 5, &[(tile, 0, whole(partitions, columns)), (x, 0, outside.clone())], json!({}));
        author.call("dma_copy", 6, &[(out, 0, outside), (tile, 0, whole(partitions, columns))], json!({}));
        run(&author).total_us.unwrap()
    };
    let (half, all) = (of(64, 16_384), of(128, 8_192));
    assert!(half > 1.8 * all && half < 2.0 * all, "{half} {all}");
}

#[test]
fn a_list_that_was_damaged_is_a_sentence() {
    let good = product(2, 512, 0).text();
    for (from, to) in [
        ("\"version\":1", "\"version\":2"),
        ("\"format\":\"neuronscope-nki-list\"", "\"format\":\"x\""),
        ("\"dtype\":[0", "\"dtype\":[9"),
        ("\"scopes\":[-1,-1,0]", "\"scopes\":[3,-1,0]"),
        ("\"of\":[-1", "\"of\":[77"),
        ("\"patterns\":[[0,128,1,128]", "\"patterns\":[[0]"),
        ("\"instructions\":[0,", "\"instructions\":[99,"),
    ] {
        assert!(good.contains(from), "{from}");
        let read = List::read(&good.replace(from, to));
        // What can be read, can be run.
        match read {
            Err(error) => assert!(!error.to_string().is_empty()),
            Ok(list) => drop(answer(&list, &setup(&[], &[])).unwrap()),
        }
    }
    for cut in (0..good.len()).step_by(97) {
        assert!(List::read(&good[..cut]).is_err());
    }
}

#[test]
fn the_timeline_names_lines_and_the_same_list_gives_the_same_program() {
    let list = product(4, 512, 0).list();
    let (one, two) = (executable_of(&list, &setup(&[], &[])), executable_of(&list, &setup(&[], &[])));
    assert_eq!(one, two);
    assert_eq!(one.sources[ns_machine::SourceId(9)].framework_op, "nc_matmul kernel.py:9");
    assert_eq!(Decisions::NAMES.len(), 8);
}

#[test]
fn what_values_differ_by_comes_with_the_answer() {
    let with = |check: &str| {
        let text = include_str!("../../tests/nki/lists/second_views-views.json").replacen(
            '{',
            &format!("{{\"check\":{check},"),
            1,
        );
        answer(&List::read(&text).unwrap(), &setup(&[], &[])).unwrap().check.unwrap()
    };
    let found = with(r#"{"expression": "x", "relative_error": "inf", "got": 1.5}"#);
    assert_eq!(
        (found.number("relative_error"), found.number("got"), found.error()),
        (Some(f64::INFINITY), Some(1.5), None)
    );
    let failed = with(r#"{"expression": "x", "error": "No such name.", "fix": "correct it", "file": 0, "line": 0}"#);
    assert_eq!(failed.error().as_deref(), Some("No such name. Correct it."));
}

#[test]
fn recorded_lists_run() {
    for text in [
        include_str!("../../tests/nki/lists/first_views-blocks.json"),
        include_str!("../../tests/nki/lists/first_views-functions.json"),
        include_str!("../../tests/nki/lists/first_views-ragged_rows.json"),
        include_str!("../../tests/nki/lists/second_views-products.json"),
        include_str!("../../tests/nki/lists/second_views-registers.json"),
        include_str!("../../tests/nki/lists/second_views-views.json"),
    ] {
        let list = List::read(text).unwrap();
        let found = answer(&list, &setup(&[], &[])).unwrap();
        assert!(found.total_us.is_some_and(|us| us > 0.0) == found.builds, "{found:?}");
    }
}

/// What cores send each other is a transfer that leaves device memory alone, and a barrier takes no time of an engine, whatever it names.
#[test]
fn what_is_between_cores_is_no_work_of_an_engine() {
    let alone = run(&doubled(2, 1, 512));
    let mut author = doubled(2, 1, 512);
    let (sent, got) = (author.tile('s', 128, 4_096, 0, 3), author.tile('s', 128, 4_096, 0, 4));
    author.call("memset", 8, &[(sent, 0, whole(128, 4_096))], json!({"value": 0.0}));
    author.call("sendrecv", 9, &[(got, 0, whole(128, 4_096)), (sent, 0, whole(128, 4_096))], json!({"pipe_id": 0}));
    author.call("core_barrier", 10, &[(got, 0, whole(128, 4_096))], json!({"cores": [0, 1]}));
    let found = run(&author);
    assert_eq!(found.hbm, alone.hbm);
    assert_eq!((found.instructions["dma"], alone.instructions["dma"]), (3, 2));
    assert!(!found.instructions.contains_key("other"), "{:?}", found.instructions);
}
