//! Which initialisers are trained weights, and how many parameters the model had before its exporter changed them.
//!
//! Exporters store equal arrays once, fold batch normalisation into convolutions and add tables of constants. PyTorch's newer
//! exporter records for each node which parameters (`%p_layer1_weight`) and buffers (`%b_cos`) it came from; its older one leaves an
//! `Identity` where one array stands for several. If a file does not say, floating point arrays are weights.

use rustc_hash::{FxHashMap, FxHashSet};

use super::count::each_node;
use super::derived::{DerivedArrays, equal_arrays};
use super::messages::{AttributeValue, Model, OnnxNode, Tensor};
use super::scope::mentioned;
use ns_program::ElementType;

/// What the file says about its weights.
#[derive(Default)]
pub(super) struct OnnxWeights {
    /// Plain names of floating point arrays that are not weights: running statistics, scales, zero points, tables.
    buffers: FxHashSet<String>,
    /// Plain names of parameters that the notes mention.
    parameters: FxHashSet<String>,
    /// Initialisers read by a node whose notes mention a parameter.
    read: FxHashSet<String>,
    /// Names of the values that products and norms read as weights.
    products: FxHashSet<String>,
    /// Arrays whose parameters are counted elsewhere: copies, and rows that were looked up in a table.
    counted: FxHashSet<String>,
    /// Elements of parameters that the exporter merged, folded or left out.
    pub merged: u64,
}

/// A name with the spelling differences between exporters removed: dots and slashes become underscores.
fn plain(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}

impl OnnxWeights {
    /// Collects this information from a model.
    pub fn of(model: &Model) -> Self {
        let arrays: FxHashMap<&str, &Tensor> = model.graph.initializers.iter().map(|t| (&*t.name, &**t)).collect();
        let mut found = Self::default();
        let mut look = |node: &OnnxNode| {
            found.buffers.extend(buffer_operands(node).filter_map(|at| node.inputs.get(at)).map(|name| plain(name)));
            found.buffers.extend(mentioned(node, "%b_").map(str::to_owned));
            found
                .products
                .extend(weight_operands(node).filter_map(|at| node.inputs.get(at)).map(|name| name.to_string()));
            found.parameters.extend(mentioned(node, "%p_").map(str::to_owned));
            if mentioned(node, "%p_").next().is_some() {
                found.read.extend(node.inputs.iter().map(|name| name.to_string()));
            }
        };
        each_node(&model.graph, &mut look);
        model.functions.iter().flat_map(|f| &f.nodes).for_each(look);
        found.buffers.remove("");
        // The scales of quantised weights: they multiply the products of integers.
        found.buffers.extend(
            arrays.keys().filter_map(|name| Some(plain(&format!("{}_scale", name.strip_suffix("_quantized")?)))),
        );
        let derived = DerivedArrays::of(model, &arrays, !found.parameters.is_empty());
        found.counted = found.copies_of(model, &arrays);
        found.counted.extend(derived.arrays);
        found.merged = found.stand_ins(model, &arrays) + folded_norms(model, &arrays) + dropped_biases(model, &arrays);
        found.merged = found.merged.saturating_add(shared_rows(model, &arrays)).saturating_add(derived.elements);
        found
    }

    /// Whether an initialiser is a weight.
    pub fn is_trained(&self, name: &str, tensor: &Tensor) -> bool {
        let is_single = tensor.ty.elements() == Some(1);
        // PyTorch's names of parameters are paths of modules with dots.
        let is_path = name.contains('.') && !name.contains(['/', ':']);
        let is_named = name.ends_with("weight") || name.ends_with("bias") || is_path;
        let is_quantised = tensor.ty.element.is_integer() && self.products.contains(name) && !tensor.ty.dims.is_empty();
        if is_quantised && !name.ends_with("zero_point") {
            return true;
        }
        let has_kind = match tensor.ty.element {
            ElementType::S8 | ElementType::U8 | ElementType::S4 | ElementType::U4 => !name.ends_with("zero_point"),
            element => element.is_float(),
        };
        // An array with the name of a node's result was computed by an optimiser: a mask, or a table of factors.
        let is_computed = name.starts_with('/') && name.contains("_output_");
        // PyTorch's older exporter writes parameters as initialisers: its constants are settings, such as the factors of one that a
        // group norm gives to an InstanceNormalization.
        if is_computed && name.contains("/Constant_") {
            return false;
        }
        if is_computed && !self.products.contains(name) && !name.contains("embedding") {
            return false;
        }
        let own = plain(name);
        if !has_kind || is_single && !is_named || tensor.ty.dims.is_empty() && !is_path {
            return false;
        }
        // An array that stands for several may be both a statistic and a weight.
        if self.buffers.contains(&own) && !self.parameters.contains(&own) {
            return false;
        }
        // Rows of a table that the exporter looked up itself are named after the operation.
        let is_said = self.parameters.contains(&own) || self.read.contains(name) || name.starts_with("embedding");
        self.parameters.is_empty() || is_said
    }

    /// Whether the parameters behind an initialiser are counted elsewhere: with an equal array, or as the table of its rows.
    pub fn is_counted_elsewhere(&self, name: &str) -> bool {
        self.counted.contains(name)
    }

    /// Computed arrays that hold a parameter again: a module that is called twice has two transposed weights. A product reads its whole parameter:
    /// parts of one are the operands of other nodes.
    fn copies_of(&self, model: &Model, arrays: &FxHashMap<&str, &Tensor>) -> FxHashSet<String> {
        let mut holders: FxHashMap<String, &str> = FxHashMap::default();
        let mut copies = FxHashSet::default();
        let products = |n: &&OnnxNode| matches!(n.op.as_str(), "MatMul" | "Gemm" | "Conv" | "ConvTranspose");
        for node in model.graph.nodes.iter().filter(products) {
            let parameters: Vec<&str> = mentioned(node, "%p_").collect();
            for (at, operand) in node.inputs.iter().enumerate().take(2) {
                let Some((&name, tensor)) = arrays.get_key_value(&**operand) else { continue };
                let Some(parameter) = claimed(node, at, name, tensor, &parameters) else { continue };
                let first = *holders.entry(parameter).or_insert(name);
                let is_own = self.parameters.contains(&plain(name));
                if first != name && !is_own && arrays[first].ty.elements() == tensor.ty.elements() {
                    copies.insert(name.to_owned());
                }
            }
        }
        copies
    }

    /// Whether the numbers of a node are a weight: an operator multiplies by them, or they are added to a product.
    pub fn is_weight_of_node(&self, name: &str) -> bool {
        self.products.contains(name)
    }

    /// Elements of parameters that are stored as an array with another name.
    fn stand_ins(&self, model: &Model, arrays: &FxHashMap<&str, &Tensor>) -> u64 {
        let names: FxHashSet<String> = arrays.keys().map(|name| plain(name)).collect();
        let tables: FxHashSet<&str> = model
            .graph
            .nodes
            .iter()
            .filter(|n| n.op == "Gather")
            .filter_map(|n| n.inputs.first().map(|name| &**name))
            .collect();
        let readers = readers(model);
        // A transposed weight has a number for a name, one for each call of its module: the module says which parameter it is.
        let parameter = |name: &str| match readers.get(name) {
            Some(module) if name.starts_with("onnx::") => plain(module),
            _ => plain(name),
        };
        let mut stands_for: FxHashMap<&str, FxHashSet<String>> = FxHashMap::default();
        for node in &model.graph.nodes {
            if node.op == "Identity"
                && let (Some(from), Some(to)) = (node.inputs.first(), node.outputs.first())
                && let Some((&name, _)) = arrays.get_key_value(&**from).filter(|(name, _)| !tables.contains(*name))
            {
                let all = stands_for.entry(name).or_default();
                // The mean of an untrained norm shares the array of its bias, but is not a parameter.
                all.extend([parameter(name), parameter(to)].into_iter().filter(|one| !self.buffers.contains(one)));
            }
            let parameters: Vec<&str> = mentioned(node, "%p_").collect();
            for (at, operand) in node.inputs.iter().enumerate() {
                let Some((&name, tensor)) = arrays.get_key_value(&**operand) else { continue };
                let Some(claimed) = claimed(node, at, name, tensor, &parameters) else { continue };
                let all = stands_for.entry(name).or_default();
                if self.parameters.contains(&plain(name)) {
                    all.insert(plain(name));
                }
                all.insert(claimed);
            }
        }
        let more = |(name, all): (&str, FxHashSet<String>)| {
            let own = plain(name);
            let count = all.iter().filter(|p| **p == own || !names.contains(*p)).count() as u64;
            let elements = arrays.get(name).and_then(|t| t.ty.elements()).unwrap_or(0);
            let is_whole = self.is_trained(name, arrays[name]) && !self.is_counted_elsewhere(name);
            if is_whole { count.saturating_sub(1).saturating_mul(elements) } else { 0 }
        };
        stands_for.into_iter().map(more).fold(0, u64::saturating_add)
    }
}

/// Operands that are settings or statistics, whatever their names.
fn buffer_operands(node: &OnnxNode) -> impl Iterator<Item = usize> {
    let operands: &[usize] = match node.op.as_str() {
        "BatchNormalization" => &[3, 4],
        "DequantizeLinear" | "QuantizeLinear" | "DynamicQuantizeLinear" => &[1, 2],
        "MatMulInteger" | "ConvInteger" => &[2, 3],
        "QLinearMatMul" | "QLinearConv" => &[1, 2, 4, 5, 6, 7],
        "QGemm" => &[1, 2, 4, 5, 7, 8],
        "Resize" | "Upsample" | "Pad" | "Clip" | "Range" | "OneHot" => &[1, 2],
        "LSTM" | "GRU" | "RNN" => &[5, 6],
        _ => &[],
    };
    operands.iter().copied()
}

/// Operands that products and norms multiply with or add.
fn weight_operands(node: &OnnxNode) -> impl Iterator<Item = usize> {
    let operands: &[usize] = match node.op.as_str() {
        "Conv"
        | "FusedConv"
        | "ConvTranspose"
        | "Gemm"
        | "LayerNormalization"
        | "InstanceNormalization"
        | "BatchNormalization"
        | "GroupNormalization" => &[1, 2],
        "MatMul" | "FusedMatMul" => &[0, 1],
        "MatMulInteger" | "ConvInteger" | "RMSNormalization" | "PRelu" => &[1],
        "LSTM" | "GRU" | "RNN" => &[1, 2, 3],
        "QLinearMatMul" => &[3],
        "QLinearConv" => &[3, 8],
        "QGemm" => &[3, 6],
        "DequantizeLinear" | "Gather" => &[0],
        _ => &[],
    };
    operands.iter().copied()
}

/// The parameter for operand `at` of a node, among those that the node's notes mention.
fn claimed(node: &OnnxNode, at: usize, name: &str, tensor: &Tensor, parameters: &[&str]) -> Option<String> {
    let own = plain(name);
    if let Some(itself) = parameters.iter().find(|p| **p == own) {
        return Some((*itself).to_owned());
    }
    let is_array = !tensor.ty.dims.is_empty() && tensor.ty.element.is_float();
    if let (&[only], "Add" | "Mul") = (parameters, node.op.as_str()) {
        // The scale of a layer has a name of its own: `gamma`, `layer_scale`.
        return is_array.then(|| only.to_owned());
    }
    let end = match (node.op.as_str(), at) {
        ("LayerNormalization" | "BatchNormalization" | "InstanceNormalization" | "GroupNormalization", 2)
        | ("Gemm" | "Conv" | "ConvTranspose", 2)
        | ("Add", _) => "bias",
        ("LayerNormalization" | "BatchNormalization" | "InstanceNormalization" | "GroupNormalization", 1)
        | ("Gemm" | "Conv" | "ConvTranspose" | "MatMul", 0 | 1)
        | ("Mul" | "RMSNormalization", _) => "weight",
        _ => return None,
    };
    parameters.iter().find(|p| p.ends_with(end)).filter(|_| is_array).map(|p| (*p).to_owned())
}

/// Elements of batch normalisations that were folded into convolutions: a factor and a summand for each channel; if the
/// convolution had no bias before, its new bias already counts as one of them.
fn folded_norms(model: &Model, arrays: &FxHashMap<&str, &Tensor>) -> u64 {
    // A weight that is kept in 8 bits comes after the node that dequantises it.
    let quantised: FxHashMap<&str, &str> = model
        .graph
        .nodes
        .iter()
        .filter(|n| n.op == "DequantizeLinear")
        .filter_map(|n| Some((&**n.outputs.first()?, &**n.inputs.first()?)))
        .collect();
    let equal = equal_arrays(model);
    let of_node = |node: &OnnxNode| -> u64 {
        let (at, bias_at) = match node.op.as_str() {
            "Conv" | "FusedConv" | "ConvInteger" => (1, 2),
            "QLinearConv" => (3, 8),
            _ => return 0,
        };
        let stored = |name: &str| {
            let (source, equal) = (quantised.get(name), equal.get(name));
            arrays.get(name).or_else(|| arrays.get(source?)).or_else(|| arrays.get(equal?)).copied()
        };
        let Some(weight) = node.inputs.get(at).and_then(|name| stored(name)) else { return 0 };
        let channels = weight.ty.dims.first().copied().unwrap_or(0);
        let bias = node.inputs.get(bias_at).filter(|name| !name.is_empty());
        let is_noted = mentioned(node, "%p_").next().is_some()
            && node.notes.values().any(|note| note.contains("batch_norm.") || note.contains("batch_norm_legit"));
        let is_named_norm = node.outputs.first().is_some_and(|name| name.contains("/batchnorm/"));
        match bias {
            // The exporter's own name: the bias was made from the batch normalisation.
            Some(bias) if is_noted && !bias.ends_with(".bias") => channels,
            _ if is_noted => channels.saturating_mul(2),
            Some(_) if weight.name.starts_with("onnx::Conv_") => channels,
            // tf2onnx names a convolution after the last operation that it folded into it.
            Some(_) if is_named_norm => channels,
            None if is_named_norm => channels.saturating_mul(2),
            // The bias of an integer product is a node of its own.
            None if node.op == "ConvInteger" && weight.name.starts_with("onnx::Conv_") => channels,
            _ => 0,
        }
    };
    model.graph.nodes.iter().map(of_node).fold(0, u64::saturating_add)
}

/// Elements of rows that are stored once for several modules with the same numbers. PyTorch's older exporter writes an `Identity` for
/// each module, and optimisers remove it. Nodes are named after their modules: `/encoder/layer.0/norm/Add`.
fn shared_rows(model: &Model, arrays: &FxHashMap<&str, &Tensor>) -> u64 {
    let mut modules: FxHashMap<&str, FxHashSet<String>> = FxHashMap::default();
    for node in &model.graph.nodes {
        let operands: &[usize] = match node.op.as_str() {
            "LayerNormalization" | "InstanceNormalization" | "GroupNormalization" | "BatchNormalization" => &[1, 2],
            "Conv" | "FusedConv" | "Gemm" => &[2],
            _ => &[],
        };
        let Some((module, _)) = node.name.rsplit_once('/').filter(|_| node.name.starts_with('/')) else { continue };
        for name in operands.iter().filter_map(|&at| node.inputs.get(at)).filter(|name| arrays.contains_key(&***name)) {
            modules.entry(name).or_default().insert(without_calls(module));
        }
    }
    let more = |(name, modules): (&str, FxHashSet<String>)| {
        let elements = arrays.get(name).filter(|t| t.ty.dims.len() == 1).and_then(|t| t.ty.elements()).unwrap_or(0);
        elements.saturating_mul(modules.len().saturating_sub(1) as u64)
    };
    modules.into_iter().map(more).fold(0, u64::saturating_add)
}

/// The module that reads each value, of values that a product reads.
fn readers(model: &Model) -> FxHashMap<&str, String> {
    let products = model.graph.nodes.iter().filter(|n| matches!(n.op.as_str(), "MatMul" | "Gemm"));
    let of_node = |node: &'_ OnnxNode| {
        let (module, _) = node.name.rsplit_once('/').filter(|_| node.name.starts_with('/'))?;
        Some(without_calls(module))
    };
    products
        .filter_map(|node| Some((node, of_node(node)?)))
        .flat_map(|(node, module)| node.inputs.iter().map(move |name| (&**name, module.clone())))
        .collect()
}

/// The path of a module without the numbers of its calls: `/encoder_1/norm` is the second call of `/encoder`.
fn without_calls(path: &str) -> String {
    let plain = |part: &str| match part.rsplit_once('_') {
        Some((name, number)) if number.bytes().all(|b| b.is_ascii_digit()) => name.to_owned(),
        _ => part.to_owned(),
    };
    path.split('/').map(plain).collect::<Vec<_>>().join("/")
}

/// Elements of biases that the exporter left out because all their numbers are 0.
fn dropped_biases(model: &Model, arrays: &FxHashMap<&str, &Tensor>) -> u64 {
    let of_node = |node: &OnnxNode| -> u64 {
        let is_norm = node.notes.values().any(|note| note.contains("batch_norm"));
        let has_bias = node.inputs.get(2).is_some_and(|name| !name.is_empty());
        let mentions = mentioned(node, "%p_").any(|p| p.ends_with("_bias"));
        let weight = node.inputs.get(1).and_then(|name| arrays.get(&**name));
        let (Some(weight), false, false, true) = (weight, is_norm, has_bias, mentions) else { return 0 };
        let is_turned = node.attributes.iter().any(|a| a.name == "transB" && a.value == AttributeValue::Int(1));
        let at = match node.op.as_str() {
            "Conv" => 0,
            "Gemm" => usize::from(!is_turned),
            _ => return 0,
        };
        weight.ty.dims.get(at).copied().unwrap_or(0)
    };
    model.graph.nodes.iter().map(of_node).fold(0, u64::saturating_add)
}
