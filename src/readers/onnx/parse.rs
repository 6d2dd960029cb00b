//! Parses ONNX messages from bytes in memory.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::messages::{AttributeValue, Dim, OnnxAttribute, OnnxFunction, OnnxGraph, OnnxNode, ValueInfo};
use super::tensors::{AGAIN, tensor};
use ns_base::refuse;
use ns_base::wire::{Fields, Wire};
use ns_program::{ImportError, Place};

/// Most levels of nested subgraphs: deeper than any model, and shallow enough for the stack of a page.
const MOST_DEEP: u32 = 16;

/// A message at a known place in a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part<'a> {
    /// Its bytes.
    pub bytes: &'a [u8],
    /// Their offset in the file.
    pub base: u64,
}

impl<'a> Part<'a> {
    /// Calls `each` for every field, with the part that holds the field's content. Fails when a field is cut off, or when `each`
    /// fails.
    pub fn each(
        self,
        mut each: impl FnMut(u32, Wire<'a>, Part<'a>) -> Result<(), ImportError>,
    ) -> Result<(), ImportError> {
        let mut fields = Fields::of(self.bytes);
        while let Some((field, value)) = fields.next() {
            let bytes = value.bytes();
            let base = self.base + (fields.offset() - bytes.len()) as u64;
            each(field, value, Part { bytes, base })?;
        }
        if fields.is_done() {
            return Ok(());
        }
        let place = Place::Byte(self.base + fields.offset() as u64);
        Err(ImportError::at(place, refuse!(instead = AGAIN, "a field of the model is cut off or damaged")))
    }
}

/// Shared text.
fn shared(value: Wire<'_>) -> Rc<str> {
    Rc::from(value.text().as_ref())
}

/// The key and the value of an entry of metadata.
pub(super) fn entry(part: Part<'_>) -> Result<(String, String), ImportError> {
    let mut pair = (String::new(), String::new());
    part.each(|field, value, _| {
        match field {
            1 => pair.0 = value.text().into_owned(),
            2 => pair.1 = value.text().into_owned(),
            _ => {}
        }
        Ok(())
    })?;
    Ok(pair)
}

/// A domain and its version.
pub(super) fn opset(part: Part<'_>) -> Result<(String, u64), ImportError> {
    let mut found = (String::new(), 0);
    part.each(|field, value, _| {
        match field {
            1 => found.0 = domain(value),
            2 => found.1 = value.u64(),
            _ => {}
        }
        Ok(())
    })?;
    Ok(found)
}

/// A domain; ONNX's own has two spellings.
fn domain(value: Wire<'_>) -> String {
    match value.text().as_ref() {
        "ai.onnx" => String::new(),
        other => other.to_owned(),
    }
}

/// A node, in at most `depth` nested subgraphs.
pub(super) fn node(part: Part<'_>, depth: u32) -> Result<OnnxNode, ImportError> {
    let mut node = OnnxNode::default();
    part.each(|field, value, content| {
        match field {
            1 => node.inputs.push(shared(value)),
            2 => node.outputs.push(shared(value)),
            3 => node.name = value.text().into_owned(),
            4 => node.op = value.text().into_owned(),
            5 => node.attributes.push(attribute(content, depth)?),
            7 => node.domain = domain(value),
            8 => node.overload = value.text().into_owned(),
            9 => {
                let (key, text) = entry(content)?;
                // Stack traces are two thirds of a file and contain the folders of its author.
                if !key.ends_with("stack_trace") {
                    node.notes.insert(key, text);
                }
            }
            _ => {}
        }
        Ok(())
    })?;
    Ok(node)
}

fn attribute(part: Part<'_>, depth: u32) -> Result<OnnxAttribute, ImportError> {
    let mut name = String::new();
    let (mut kind, mut reference) = (0, None);
    let mut found = None;
    let (mut floats, mut ints, mut texts, mut graphs) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    part.each(|field, value, content| {
        match field {
            1 => name = value.text().into_owned(),
            2 => found = Some(AttributeValue::Float(value.f64())),
            3 => found = Some(AttributeValue::Int(value.i64())),
            4 => found = Some(AttributeValue::Text(value.text().into_owned())),
            5 => found = Some(AttributeValue::Tensor(Rc::new(tensor(content)?))),
            6 => found = Some(AttributeValue::Graph(Rc::new(graph(content, depth + 1)?))),
            7 => match value {
                Wire::Bytes(packed) => floats.extend(packed.chunks_exact(4).map(float)),
                one => floats.push(one.f64()),
            },
            8 => ints.extend(value.varints().map(|n| n.cast_signed())),
            9 => texts.push(value.text().into_owned()),
            11 => graphs.push(Rc::new(graph(content, depth + 1)?)),
            20 => kind = value.u64(),
            21 => reference = Some(value.text().into_owned()).filter(|r| !r.is_empty()),
            _ => {}
        }
        Ok(())
    })?;
    // Lists follow from the attribute's kind, which early files leave out, or from their content; a kind without a field is an empty value.
    let value = match (reference, found, kind) {
        (Some(name), _, _) => AttributeValue::Reference(name),
        (None, Some(value), kind) if kind < 6 || floats.len() + ints.len() + texts.len() == 0 && graphs.is_empty() => {
            value
        }
        (None, _, 6) => AttributeValue::Floats(floats),
        (None, _, 7) => AttributeValue::Ints(ints),
        (None, _, 8) => AttributeValue::Texts(texts),
        (None, _, 10) => AttributeValue::Graphs(graphs),
        (None, _, 1) => AttributeValue::Float(0.0),
        (None, _, 2) => AttributeValue::Int(0),
        (None, _, 3) => AttributeValue::Text(String::new()),
        _ if !ints.is_empty() => AttributeValue::Ints(ints),
        _ if !floats.is_empty() => AttributeValue::Floats(floats),
        _ if !texts.is_empty() => AttributeValue::Texts(texts),
        _ => AttributeValue::Other,
    };
    Ok(OnnxAttribute { name, value })
}

/// A number from four bytes.
fn float(bytes: &[u8]) -> f64 {
    f64::from(f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
}

/// A subgraph in an attribute.
pub(super) fn graph(part: Part<'_>, depth: u32) -> Result<OnnxGraph, ImportError> {
    if depth > MOST_DEEP {
        let what = refuse!(
            instead = "export the model without nested control flow",
            "graphs are nested more than {MOST_DEEP} deep"
        );
        return Err(ImportError::at(Place::Byte(part.base), what));
    }
    let mut graph = OnnxGraph::default();
    part.each(|field, _, content| graph_field(&mut graph, field, content, depth))?;
    Ok(graph)
}

pub(super) fn graph_field(graph: &mut OnnxGraph, field: u32, content: Part<'_>, depth: u32) -> Result<(), ImportError> {
    match field {
        1 => graph.nodes.push(node(content, depth)?),
        2 => graph.name = String::from_utf8_lossy(content.bytes).into_owned(),
        5 => graph.initializers.push(Rc::new(tensor(content)?)),
        11 => graph.inputs.push(value_info(content)?),
        12 => graph.outputs.push(value_info(content)?),
        13 => graph.value_info.push(value_info(content)?),
        15 => graph.has_sparse = true,
        _ => {}
    }
    Ok(())
}

/// Name and type of a value.
pub(super) fn value_info(part: Part<'_>) -> Result<ValueInfo, ImportError> {
    let mut info = ValueInfo::default();
    part.each(|field, value, content| {
        match field {
            1 => info.name = shared(value),
            2 => content.each(|field, _, content| {
                if field != 1 {
                    // Field 6 holds documentation; the others are sequences, maps and similar types.
                    info.is_other |= field != 6;
                    return Ok(());
                }
                array_type(content, &mut info)
            })?,
            _ => {}
        }
        Ok(())
    })?;
    Ok(info)
}

fn array_type(part: Part<'_>, info: &mut ValueInfo) -> Result<(), ImportError> {
    part.each(|field, value, content| {
        match field {
            1 => info.element = value.u64(),
            2 => {
                let mut dims = Vec::new();
                content.each(|field, _, content| {
                    if field == 1 {
                        dims.push(dim(content)?);
                    }
                    Ok(())
                })?;
                info.dims = Some(dims);
            }
            _ => {}
        }
        Ok(())
    })
}

fn dim(part: Part<'_>) -> Result<Dim, ImportError> {
    let mut dim = Dim::Unknown;
    part.each(|field, value, _| {
        match field {
            1 => dim = Dim::Size(value.i64()),
            2 if !value.bytes().is_empty() => dim = Dim::Named(value.text().into_owned()),
            _ => {}
        }
        Ok(())
    })?;
    Ok(dim)
}

pub(super) fn function(part: Part<'_>) -> Result<OnnxFunction, ImportError> {
    let mut function = OnnxFunction::default();
    let mut opsets = BTreeMap::new();
    part.each(|field, value, content| {
        match field {
            1 => function.name = value.text().into_owned(),
            4 => function.inputs.push(shared(value)),
            5 => function.outputs.push(shared(value)),
            7 => function.nodes.push(node(content, 0)?),
            9 => {
                let (domain, version) = opset(content)?;
                opsets.insert(domain, version);
            }
            10 => function.domain = domain(value),
            11 => function.defaults.push(attribute(content, 0)?),
            13 => function.overload = value.text().into_owned(),
            _ => {}
        }
        Ok(())
    })?;
    function.opsets = opsets;
    Ok(function)
}
