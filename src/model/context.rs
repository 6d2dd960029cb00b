//! The context that a forward function is written against: aten functions that record under a tracer and compute in
//! an eager run.

use std::collections::BTreeMap;
use std::rc::Rc;

use ns_base::{IndexVec, Refusal, refuse};
use ns_tensor::kernels::{BinaryOp, UnaryOp};
use ns_tensor::{Shape, Tensor};

use super::eager::compute;
use super::infer::{Problem, check_linear, check_size, infer};
use super::module::join;
use super::tracer::foreign;
use super::{AtenOp, Graph, Module, Node, NodeId, Parameter, weight_tensor};

/// A value in a forward function: its shape, and the tensor in an eager run. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Value {
    shape: Shape,
    source: ValueSource,
}

#[derive(Clone, Debug)]
enum ValueSource {
    Node(NodeId),
    Tensor(Rc<Tensor>),
}

impl Value {
    /// Element type and dimensions.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Dimensions, outermost first.
    pub fn dims(&self) -> &[u64] {
        &self.shape.dims
    }

    pub(super) fn tensor(&self) -> Option<&Rc<Tensor>> {
        match &self.source {
            ValueSource::Tensor(t) => Some(t),
            ValueSource::Node(_) => None,
        }
    }

    pub(super) fn node(&self) -> Option<NodeId> {
        match self.source {
            ValueSource::Node(id) => Some(id),
            ValueSource::Tensor(_) => None,
        }
    }
}

/// One module call on the stack.
struct Frame {
    /// Module path of profiles: `NN[model]/Linear[layer1]`.
    scope: String,
    /// Path of its weights: `layer1`.
    weights: String,
    /// Number of constants that ops of this call have made so far.
    constants: u32,
}

enum Mode {
    Trace { nodes: IndexVec<NodeId, Node>, weights: BTreeMap<String, Value> },
    Eager { seed: u64, weights: BTreeMap<String, Value> },
}

/// The context of one forward pass: it knows the module being called, and records or computes.
pub struct Ctx {
    frames: Vec<Frame>,
    mode: Mode,
}

impl Ctx {
    pub(super) fn tracing() -> Self {
        Self { frames: Vec::new(), mode: Mode::Trace { nodes: IndexVec::new(), weights: BTreeMap::new() } }
    }

    pub(super) fn eager(seed: u64) -> Self {
        Self { frames: Vec::new(), mode: Mode::Eager { seed, weights: BTreeMap::new() } }
    }

    pub(super) fn into_graph(self, name: &str, inputs: Vec<NodeId>, output: NodeId) -> Graph {
        let nodes = match self.mode {
            Mode::Trace { nodes, .. } => nodes,
            Mode::Eager { .. } => IndexVec::new(),
        };
        Graph { name: name.to_owned(), nodes, inputs, output }
    }

    /// Calls the root module, whose attribute name in profiles is `model`.
    pub(super) fn call_root(&mut self, module: &dyn Module, inputs: &[Value]) -> Result<Value, Refusal> {
        self.frames.push(Frame { scope: root_scope(module), weights: String::new(), constants: 0 });
        let result = module.forward(self, inputs);
        self.frames.pop();
        result
    }

    /// Calls a child module under its attribute name. [`super::Child::call`] is the usual way. Fails when shapes do not fit.
    pub fn call(&mut self, name: &str, module: &dyn Module, inputs: &[Value]) -> Result<Value, Refusal> {
        let frame = Frame {
            // As in PyTorch, a member of a list is shown by its index only: BertLayer[0], not BertLayer[layer.0].
            scope: format!("{}/{}[{}]", self.scope(), module.class(), name.rsplit('.').next().unwrap_or(name)),
            weights: self.frames.last().map_or_else(|| name.to_owned(), |f| join(&f.weights, name)),
            constants: 0,
        };
        self.frames.push(frame);
        let result = module.forward(self, inputs);
        self.frames.pop();
        result
    }

    /// The module path of the call in progress: `NN[model]/Linear[layer1]`.
    pub fn scope(&self) -> &str {
        self.frames.last().map_or("", |f| &f.scope)
    }

    /// The input of a module that takes exactly one. Fails when there is not exactly one.
    pub fn one_input<'v>(&self, inputs: &'v [Value]) -> Result<&'v Value, Refusal> {
        match inputs {
            [x] => Ok(x),
            _ => Err(self.wrong_inputs(1, inputs.len())),
        }
    }

    /// The error of a module that is called with the wrong number of inputs.
    pub fn wrong_inputs(&self, expected: usize, found: usize) -> Refusal {
        refuse!("{} takes {expected} input(s), {found} were given", self.scope())
    }

    pub(super) fn input(&mut self, index: u32, shape: &Shape, root: &dyn Module) -> Result<Value, Refusal> {
        let op = AtenOp::Input(index);
        let scope = root_scope(root);
        check_size(shape).map_err(|p| p.at(op.name(), &scope))?;
        match &mut self.mode {
            Mode::Trace { nodes, .. } => {
                let id = nodes.push(Node { op, inputs: Vec::new(), shape: shape.clone(), scope });
                Ok(Value { shape: shape.clone(), source: ValueSource::Node(id) })
            }
            Mode::Eager { .. } => Err(foreign(op.name(), &scope)),
        }
    }

    pub(super) fn value(tensor: Tensor) -> Value {
        Value { shape: tensor.shape().clone(), source: ValueSource::Tensor(Rc::new(tensor)) }
    }

    /// A weight of the module being called. Its values are made when an eager run first asks for the weight, never under
    /// the tracer. Fails when it is too large.
    pub fn weight(&mut self, parameter: &Parameter) -> Result<Value, Refusal> {
        let path = self.frames.last().map_or_else(|| parameter.name.to_owned(), |f| join(&f.weights, parameter.name));
        let scope = self.scope().to_owned();
        let shape = &parameter.shape;
        check_size(shape).map_err(|p| p.at("xla::device_data", &scope))?;
        let (Mode::Trace { weights, .. } | Mode::Eager { weights, .. }) = &self.mode;
        if let Some(known) = weights.get(&path) {
            return Ok(known.clone());
        }
        let op = AtenOp::Weight { path: path.clone(), init: parameter.init, buffer: parameter.buffer };
        let source = match &mut self.mode {
            Mode::Trace { nodes, .. } => {
                ValueSource::Node(nodes.push(Node { op, inputs: Vec::new(), shape: shape.clone(), scope }))
            }
            Mode::Eager { seed, .. } => {
                let tensor = weight_tensor(*seed, &path, shape, parameter.init);
                let at = |source| refuse!("{} in {scope}: {source}", op.name());
                ValueSource::Tensor(Rc::new(tensor.map_err(at)?))
            }
        };
        let value = Value { shape: shape.clone(), source };
        let (Mode::Trace { weights, .. } | Mode::Eager { weights, .. }) = &mut self.mode;
        weights.insert(path, value.clone());
        Ok(value)
    }

    /// `torch.nn.functional.linear`: `x @ weight^T + bias` over the last dimension; `weight` is `[out, in]`. An operand of
    /// more than two dimensions is viewed as a matrix and back, as in PyTorch. Fails when shapes do not fit.
    pub fn linear(&mut self, x: &Value, weight: &Value, bias: Option<&Value>) -> Result<Value, Refusal> {
        let op = if bias.is_some() { AtenOp::Addmm } else { AtenOp::Mm };
        check_linear(&x.shape, &weight.shape, bias.map(|b| &b.shape)).map_err(|p| p.at(op.name(), self.scope()))?;
        let turned = self.permute(weight, &[1, 0])?;
        let rank = x.shape.rank();
        let flat = if rank == 2 {
            x.clone()
        } else {
            let rows = x.dims()[..rank - 1].iter().product();
            self.view(x, &[rows, x.dims()[rank - 1]])?
        };
        let y = match bias {
            Some(bias) => self.addmm(bias, &flat, &turned)?,
            None => self.mm(&flat, &turned)?,
        };
        if rank == 2 {
            return Ok(y);
        }
        let mut dims = x.dims().to_vec();
        dims[rank - 1] = weight.dims()[0];
        self.view(&y, &dims)
    }

    /// `torch.addmm`: `x @ weight + bias`; `weight` is `[in, out]`. Fails when shapes do not fit.
    pub fn addmm(&mut self, bias: &Value, x: &Value, weight: &Value) -> Result<Value, Refusal> {
        self.apply(AtenOp::Addmm, &[x, weight, bias], None)
    }

    /// `torch.mm`: the product of two matrices. Fails when shapes do not fit.
    pub fn mm(&mut self, x: &Value, weight: &Value) -> Result<Value, Refusal> {
        self.apply(AtenOp::Mm, &[x, weight], None)
    }

    /// `torch.permute`: result dimension `i` is dimension `dims[i]` of `x`. Fails when `dims` is not a permutation.
    pub fn permute(&mut self, x: &Value, dims: &[u32]) -> Result<Value, Refusal> {
        self.apply(AtenOp::Permute { dims: dims.to_vec() }, &[x], None)
    }

    /// `Tensor.view`: the same elements with other dimensions. Fails when the number of elements differs.
    pub fn view(&mut self, x: &Value, dims: &[u64]) -> Result<Value, Refusal> {
        let wanted = Shape::new(x.shape.dtype, dims);
        self.apply(AtenOp::View, &[x], Some(&wanted))
    }

    /// `torch.relu`. Fails when memory runs out in an eager run.
    pub fn relu(&mut self, x: &Value) -> Result<Value, Refusal> {
        self.apply(AtenOp::Relu, &[x], None)
    }

    /// `torch.tanh`. Fails when memory runs out in an eager run.
    pub fn tanh(&mut self, x: &Value) -> Result<Value, Refusal> {
        self.unary(UnaryOp::Tanh, x)
    }

    /// `torch.log_softmax` along a dimension. Fails when the dimension does not exist.
    pub fn log_softmax(&mut self, x: &Value, dim: u32) -> Result<Value, Refusal> {
        self.apply(AtenOp::LogSoftmax { dim }, &[x], None)
    }

    /// `Tensor.mean()`: the mean of all elements. Fails when there are no elements.
    pub fn mean(&mut self, x: &Value) -> Result<Value, Refusal> {
        self.apply(AtenOp::Mean, &[x], None)
    }

    /// An elementwise function. Fails when memory runs out in an eager run.
    pub fn unary(&mut self, op: UnaryOp, x: &Value) -> Result<Value, Refusal> {
        self.apply(AtenOp::Unary(op), &[x], None)
    }

    /// An elementwise function of two operands, broadcasting. Fails when the shapes cannot be broadcast together.
    pub fn binary(&mut self, op: BinaryOp, a: &Value, b: &Value) -> Result<Value, Refusal> {
        self.apply(AtenOp::Binary(op), &[a, b], None)
    }

    /// An elementwise operator of the user's own library: `my_ops::relu` with kernel `relu`. Fails when memory runs out in an eager
    /// run, or the kernel does not finish there.
    pub fn custom(&mut self, name: &str, target: &str, x: &Value) -> Result<Value, Refusal> {
        self.apply(AtenOp::Custom { name: name.to_owned(), target: target.to_owned() }, &[x], None)
    }

    pub(super) fn apply(&mut self, op: AtenOp, inputs: &[&Value], wanted: Option<&Shape>) -> Result<Value, Refusal> {
        let scope = self.op_scope(&op);
        let shapes: Vec<&Shape> = inputs.iter().map(|v| &v.shape).collect();
        let shape = infer(&op, &shapes, wanted).map_err(|p: Problem| p.at(op.name(), &scope))?;
        let foreign = || foreign(op.name(), &scope);
        match &mut self.mode {
            Mode::Trace { nodes, .. } => {
                let known = |v: &&Value| v.node().filter(|id| nodes.get(*id).is_some());
                let inputs = inputs.iter().map(known).collect::<Option<Vec<_>>>().ok_or_else(foreign)?;
                let id = nodes.push(Node { op, inputs, shape: shape.clone(), scope });
                Ok(Value { shape, source: ValueSource::Node(id) })
            }
            Mode::Eager { .. } => {
                let tensor_of = |v: &&Value| v.tensor().cloned();
                let tensors = inputs.iter().map(tensor_of).collect::<Option<Vec<_>>>().ok_or_else(foreign)?;
                let tensors: Vec<&Tensor> = tensors.iter().map(Rc::as_ref).collect();
                let at = |source| refuse!("{} in {scope}: {source}", op.name());
                Ok(Self::value(compute(&op, &tensors, &shape).map_err(at)?))
            }
        }
    }

    /// The scope in which an op is recorded: the module's, or one level deeper for ops that bring a constant.
    fn op_scope(&mut self, op: &AtenOp) -> String {
        match self.frames.last_mut() {
            Some(frame) if op.makes_constant() => {
                frame.constants += 1;
                format!("{}/Tensor_{}", frame.scope, frame.constants)
            }
            Some(frame) => frame.scope.clone(),
            None => String::new(),
        }
    }
}

pub(super) fn root_scope(module: &dyn Module) -> String {
    format!("{}[model]", module.class())
}
