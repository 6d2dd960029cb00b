//! The parts of all ranks, summed as an all-reduce does, are the whole layer.

use ns_model::{AtenOp, Graph, Node, evaluate, weight_tensor};
use ns_tensor::{Shape, Tensor};

use crate::families::family;
use crate::model_rows::Sizes;
use crate::segment::{Scores, Segment};
use crate::shard::KvRule;
use crate::{DecoderConfig, Shard};

/// Elements of one dimension, by their index; none is zero (padding).
fn pick(tensor: &Tensor, dim: usize, picked: &[Option<u64>]) -> Tensor {
    let dims = tensor.dims();
    let inner: usize = dims[dim + 1..].iter().product::<u64>() as usize;
    let whole = dims[dim] as usize;
    let outer: usize = dims[..dim].iter().product::<u64>() as usize;
    let mut data = Vec::new();
    for o in 0..outer {
        for p in picked {
            match p {
                Some(p) => {
                    let from = (o * whole + *p as usize) * inner;
                    data.extend_from_slice(&tensor.data()[from..from + inner]);
                }
                None => data.extend(std::iter::repeat_n(0.0, inner)),
            }
        }
    }
    let mut dims = dims.to_vec();
    dims[dim] = picked.len() as u64;
    Tensor::new(Shape::f32(dims), data).unwrap()
}

/// `count` units of rank `rank`, of `all`, in pieces of `size` elements.
fn indices(rank: u64, count: u64, all: u64, size: u64, of: impl Fn(u64) -> u64) -> Vec<Option<u64>> {
    let units = (rank * count..(rank + 1) * count).map(|unit| (unit < all).then(|| of(unit)));
    units.flat_map(|unit| (0..size).map(move |i| unit.map(|u| u * size + i))).collect()
}

/// A rank's part of a weight of the whole layer.
fn part(path: &str, whole: &Tensor, config: &DecoderConfig, shard: &Shard, rank: u64) -> Tensor {
    let size = config.head_size;
    let heads = indices(rank, shard.heads, config.heads, size, |head| head);
    let kv = |size| {
        // Repeated heads: each query head has a copy of its group's; else whole heads.
        let group = config.heads / config.kv_heads;
        match shard.kv_heads * shard.degree > config.kv_heads {
            true => indices(rank, shard.kv_heads, config.heads, size, |head| head / group),
            false => indices(rank, shard.kv_heads, config.kv_heads, size, |head| head),
        }
    };
    let columns = indices(rank, shard.columns, config.intermediate, 1, |c| c);
    match path {
        "q_proj.weight" => pick(whole, 0, &heads),
        "k_proj.weight" | "v_proj.weight" => pick(whole, 0, &kv(size)),
        "o_proj.weight" => pick(whole, 1, &heads),
        "gate_proj.weight" | "up_proj.weight" => pick(whole, 0, &columns),
        "down_proj.weight" => pick(whole, 1, &columns),
        path if path.ends_with("k_cache") || path.ends_with("v_cache") => pick(whole, 1, &kv(1)),
        _ => whole.clone(),
    }
}

/// The result before the all-reduce: the first of a tuple.
fn result(graph: &Graph, given: &dyn Fn(&Node) -> Option<Tensor>) -> Tensor {
    let values = evaluate(graph, given).unwrap();
    let output = &graph.nodes[graph.output];
    let id = if matches!(output.op, AtenOp::Tuple) { output.inputs[0] } else { graph.output };
    values[id].clone()
}

#[test]
fn ranks_summed_are_the_layer() {
    const SIZES: Sizes = [1, 16, 4, 2, 4, 10, 32, 64];
    for name in ["llama", "qwen3", "opt"] {
        let mut sizes = SIZES;
        if name == "opt" {
            sizes[3] = 4;
        }
        let config = DecoderConfig::of_family(family(name).unwrap(), "tiny", sizes);
        let config = DecoderConfig { bias: crate::Bias::NONE, ..config };
        let whole = Shard::of(&config, 1.into(), KvRule::PerQueryHead).unwrap();
        let input = |node: &Node, n: u32| {
            weight_tensor(7, &format!("input {n}"), &node.shape, ns_model::Init::Normal { std: 1.0 })
        };
        let segments = [
            Segment::Decode { batch: 2, bucket: 6 },
            Segment::Prefill { batch: 2, tokens: 5, scores: Scores::Pieces },
            Segment::FeedForward { rows: 3 },
        ];
        for segment in segments {
            let graph = segment.graph(&config, &whole).unwrap();
            let weight = |node: &Node| match &node.op {
                AtenOp::Input(n) => input(node, *n).ok(),
                AtenOp::Weight { path, init, .. } => weight_tensor(3, path, &node.shape, *init).ok(),
                _ => None,
            };
            let expected = result(&graph, &weight);
            let whole_weight = |path: &str| {
                graph
                    .nodes
                    .iter()
                    .find(|n| matches!(&n.op, AtenOp::Weight { path: p, .. } if p == path))
                    .and_then(weight)
            };
            for degree in [2, 3, 4] {
                let shard = Shard::of(&config, degree.into(), KvRule::PerQueryHead).unwrap();
                let of_rank = segment.graph(&config, &shard).unwrap();
                let mut sum = vec![0.0f32; expected.data().len()];
                for rank in 0..u64::from(degree) {
                    let given = |node: &Node| match &node.op {
                        AtenOp::Weight { path, .. } => Some(part(path, &whole_weight(path)?, &config, &shard, rank)),
                        _ => weight(node),
                    };
                    let own = result(&of_rank, &given);
                    sum.iter_mut().zip(own.data()).for_each(|(s, x)| *s += x);
                }
                let far = sum.iter().zip(expected.data()).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
                assert!(far < 1e-4, "{name} {segment:?} at {degree}: {far}");
            }
        }
    }
}
