//! The loss of a training step. It follows from what the model gives: nothing else names the task of a model.

use ns_base::convert::{u64_to_f32, u64_to_u32, usize_to_u32};
use ns_base::{IndexVec, Refusal};
use ns_machine::Phase;
use ns_tensor::kernels::{BinaryOp, UnaryOp};
use ns_tensor::{DType, Shape};

use super::forward::Forward;
use crate::{AtenOp, Distribution, Graph, Init, InputSpec, NodeId};

/// How far a prediction is from its label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// `torch.nn.functional.cross_entropy` of scores of classes: an image's class, the next word at each position.
    CrossEntropy,
    /// `torch.nn.functional.nll_loss` of a model that ends in a log-softmax.
    NegativeLogLikelihood,
    /// Masked language modelling with the words of the model's own embedding, and the next sentence if there is a pooled token.
    MaskedLanguageModel,
    /// `torch.nn.functional.mse_loss` of anything else.
    MeanSquaredError,
}

impl Loss {
    /// The loss for a model's results.
    pub fn of(graph: &Graph) -> Self {
        let result = results(graph)[0];
        let node = &graph.nodes[result];
        let last = node.shape.dims.last().copied();
        match word_table(graph).map(|table| graph.nodes[table].shape.dims.first().copied()) {
            Some(words) if words == last => Self::CrossEntropy,
            Some(_) if node.shape.rank() == 3 => Self::MaskedLanguageModel,
            _ if node.shape.rank() != 2 => Self::MeanSquaredError,
            _ => match node.op {
                AtenOp::LogSoftmax { .. } => Self::NegativeLogLikelihood,
                AtenOp::Addmm => Self::CrossEntropy,
                _ => Self::MeanSquaredError,
            },
        }
    }
}

/// The results of a model.
fn results(graph: &Graph) -> Vec<NodeId> {
    let node = &graph.nodes[graph.output];
    match node.op {
        AtenOp::Tuple if !node.inputs.is_empty() => node.inputs.clone(),
        _ => vec![graph.output],
    }
}

/// The largest table that an input is looked up in: the words of a language model.
fn word_table(graph: &Graph) -> Option<NodeId> {
    let tables = graph.nodes.iter().filter_map(|node| match (&node.op, node.inputs.as_slice()) {
        (AtenOp::Embedding, &[table, ids]) if matches!(graph.nodes[ids].op, AtenOp::Input(_)) => Some(table),
        _ => None,
    });
    tables.max_by_key(|table| graph.nodes[*table].shape.dims.first().copied())
}

/// A loss as part of the graph.
pub(super) struct LossNodes {
    pub value: NodeId,
    /// Values of the forward pass with the gradient of the loss.
    pub seeds: Vec<(NodeId, NodeId)>,
    /// Inputs for the labels.
    pub labels: Vec<InputSpec>,
}

/// Appends the loss of a model's results.
pub(super) fn append(
    forward: &mut Forward,
    graph: &Graph,
    placed: &IndexVec<NodeId, NodeId>,
) -> Result<LossNodes, Refusal> {
    let mut head = Head { forward, inputs: usize_to_u32(graph.inputs.len()), labels: Vec::new(), seeds: Vec::new() };
    let outputs: Vec<NodeId> = results(graph).into_iter().map(|id| placed[id]).collect();
    let first = outputs[0];
    let value = match Loss::of(graph) {
        Loss::CrossEntropy => head.cross_entropy(first, false, "loss")?,
        Loss::NegativeLogLikelihood => head.cross_entropy(first, true, "loss")?,
        Loss::MeanSquaredError => head.mean_squared_error(first)?,
        Loss::MaskedLanguageModel => {
            let table = word_table(graph).map_or(first, |table| placed[table]);
            let words = head.words(first, table)?;
            let loss = head.cross_entropy(words, false, "loss")?;
            match outputs.get(1).copied().filter(|pooled| head.forward.tape.dims(*pooled).len() == 2) {
                Some(pooled) => head.with_next_sentence(loss, pooled)?,
                None => loss,
            }
        }
    };
    let Head { labels, seeds, .. } = head;
    Ok(LossNodes { value, seeds, labels })
}

/// The loss under construction.
struct Head<'f> {
    forward: &'f mut Forward,
    /// Number of inputs so far.
    inputs: u32,
    labels: Vec<InputSpec>,
    seeds: Vec<(NodeId, NodeId)>,
}

impl Head<'_> {
    fn label(&mut self, shape: Shape, distribution: Distribution) -> NodeId {
        let index = self.inputs;
        self.inputs += 1;
        self.labels.push(InputSpec { shape: shape.clone(), distribution });
        self.forward.tape.source(AtenOp::Input(index), Vec::new(), shape)
    }

    fn parameter(&mut self, path: &str, dims: impl Into<Vec<u64>>, init: Init) -> NodeId {
        let op = AtenOp::Weight { path: path.to_owned(), init, buffer: matches!(init, Init::Columns) };
        self.forward.weight(op, Shape::f32(dims))
    }

    /// The scope in which gradients of the loss itself are computed.
    fn seed_scope(&mut self, module: &str) {
        self.forward.tape.scope = format!("{}/{module}", Phase::Backward.scope(&self.forward.class));
    }

    /// Mean over the rows of minus the logarithm of the probability of their class. `x` has the classes last; it holds scores, or
    /// logarithms of probabilities.
    fn cross_entropy(&mut self, x: NodeId, are_logarithms: bool, name: &str) -> Result<NodeId, Refusal> {
        let class = if are_logarithms { "NLLLoss" } else { "CrossEntropyLoss" };
        let module = format!("{class}[{name}]");
        self.forward.enter(&format!("/{module}"));
        let dims = self.forward.tape.dims(x).to_vec();
        let classes = dims.last().copied().unwrap_or(1);
        let rows: u64 = dims.iter().rev().skip(1).product();
        let leading = dims[..dims.len().saturating_sub(1)].to_vec();
        let labels = self.label(Shape::new(DType::S32, leading), Distribution::Below(u64_to_u32(classes)));
        let columns = self.parameter(&format!("{name}.classes"), [classes], Init::Columns);
        let flat = Shape::f32([rows, classes]);
        let mut x = if dims.len() == 2 { x } else { self.forward.op_as(AtenOp::View, &[x], Some(&flat))? };
        if !are_logarithms {
            x = self.forward.op(AtenOp::LogSoftmax { dim: 1 }, &[x])?;
        }
        let tape = &mut self.forward.tape;
        tape.scope.push_str("/nll_loss_forward");
        let labels = tape.op(AtenOp::To(DType::F32), &[labels])?;
        let labels = tape.view(labels, &[rows, 1])?;
        let one_hot = tape.binary(BinaryOp::Equal, labels, columns)?;
        let picked = tape.mul(one_hot, x)?;
        let total = tape.sum(picked, &[0, 1], false)?;
        let share = -1.0 / u64_to_f32(rows.max(1));
        let value = tape.scale(total, share)?;
        self.seed_scope(&format!("{module}/nll_loss_backward"));
        let gradient = self.forward.tape.scale(one_hot, share)?;
        self.seeds.push((x, gradient));
        Ok(value)
    }

    fn mean_squared_error(&mut self, x: NodeId) -> Result<NodeId, Refusal> {
        self.forward.enter("/MSELoss[loss]");
        let shape = self.forward.tape.shape(x);
        let target = self.label(shape.clone(), Distribution::Normal);
        let share = 1.0 / u64_to_f32(shape.elements().max(1));
        let all: Vec<u32> = (0..usize_to_u32(shape.rank())).collect();
        let tape = &mut self.forward.tape;
        let off = tape.sub(x, target)?;
        let square = tape.mul(off, off)?;
        let total = if all.is_empty() { square } else { tape.sum(square, &all, false)? };
        let value = tape.scale(total, share)?;
        self.seed_scope("MSELoss[loss]/mse_loss_backward");
        let gradient = self.forward.tape.scale(off, 2.0 * share)?;
        self.seeds.push((x, gradient));
        Ok(value)
    }

    /// Scores of every word at every position: `BertLMPredictionHead`, whose decoder is the table of words itself.
    fn words(&mut self, hidden: NodeId, table: NodeId) -> Result<NodeId, Refusal> {
        let dims = self.forward.tape.dims(hidden).to_vec();
        let (&[batch, seq, width], &[words, features]) = (dims.as_slice(), self.forward.tape.dims(table)) else {
            return Ok(hidden);
        };
        self.forward.enter("/LMPredictionHead[predictions]/Linear[dense]");
        let rows = self.forward.op_as(AtenOp::View, &[hidden], Some(&Shape::f32([batch * seq, width])))?;
        let dense = "cls.predictions.transform.dense";
        let x = self.linear(rows, dense, [width, features])?;
        self.forward.enter("/LMPredictionHead[predictions]/GELUActivation[transform_act_fn]");
        let x = self.forward.op(AtenOp::Unary(UnaryOp::Gelu), &[x])?;
        self.forward.enter("/LMPredictionHead[predictions]/LayerNorm[LayerNorm]");
        let norm = "cls.predictions.transform.LayerNorm";
        let weight = self.parameter(&format!("{norm}.weight"), [features], Init::Constant(1.0));
        let bias = self.parameter(&format!("{norm}.bias"), [features], Init::Constant(0.0));
        let x = self.forward.norm(&AtenOp::LayerNorm { eps: 1e-12 }, &[x, weight, bias])?;
        self.forward.enter("/LMPredictionHead[predictions]/Linear[decoder]");
        let bias = self.parameter("cls.predictions.bias", [words], Init::Constant(0.0));
        let turned = self.forward.op(AtenOp::Permute { dims: vec![1, 0] }, &[table])?;
        let x = self.forward.op(AtenOp::Addmm, &[x, turned, bias])?;
        self.forward.op_as(AtenOp::View, &[x], Some(&Shape::f32([batch, seq, words])))
    }

    fn linear(&mut self, x: NodeId, path: &str, [width, out]: [u64; 2]) -> Result<NodeId, Refusal> {
        let init = Init::linear_default(width);
        let weight = self.parameter(&format!("{path}.weight"), [out, width], init);
        let bias = self.parameter(&format!("{path}.bias"), [out], init);
        let turned = self.forward.op(AtenOp::Permute { dims: vec![1, 0] }, &[weight])?;
        self.forward.op(AtenOp::Addmm, &[x, turned, bias])
    }

    /// Adds the loss of the next sentence, which the pooled first token predicts.
    fn with_next_sentence(&mut self, loss: NodeId, pooled: NodeId) -> Result<NodeId, Refusal> {
        self.forward.enter("/Linear[seq_relationship]");
        let width = self.forward.tape.dims(pooled).last().copied().unwrap_or(1);
        let scores = self.linear(pooled, "cls.seq_relationship", [width, 2])?;
        let sentence = self.cross_entropy(scores, false, "next_sentence_loss")?;
        self.forward.enter("");
        self.forward.tape.add(loss, sentence)
    }
}
