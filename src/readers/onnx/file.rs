//! The model in a file: the graph is held in memory, large weights stay in the file and are referred to by offset.

use std::rc::Rc;

use super::messages::{Model, OnnxGraph};
use super::parse::{Part, function, graph_field, opset};
use super::spans::{Span, Spans, read};
use super::tensors::tensor_in_file;
use ns_base::refuse;
use ns_container::ByteSource;
use ns_program::{ImportError, Place};

/// Most bytes of nodes, types and functions together: a graph of 100,000 nodes with all notes of its exporter has 200 MB.
const MOST_BYTES: u64 = 1 << 29;

/// Most nodes of the main graph and of all functions.
const MOST_NODES: usize = 1_000_000;

/// Reads the parts of a file that are held in memory, up to a limit.
struct Source<'b> {
    bytes: &'b dyn ByteSource,
    left: u64,
}

impl Source<'_> {
    fn content(&mut self, span: Span) -> Result<Vec<u8>, ImportError> {
        let too_long = || {
            let what = refuse!(
                instead = "export a smaller part of the model",
                "the graph without its weights has more than {MOST_BYTES} bytes"
            );
            ImportError::at(Place::Byte(span.offset), what)
        };
        self.left = self.left.checked_sub(span.len).ok_or_else(too_long)?;
        read(self.bytes, span.offset, usize::try_from(span.len).unwrap_or(usize::MAX))
    }

    fn text(&mut self, span: Span) -> Result<String, ImportError> {
        Ok(String::from_utf8_lossy(&self.content(span)?).into_owned())
    }
}

/// Reads the model of a file.
pub(super) fn model(bytes: &dyn ByteSource) -> Result<Model, ImportError> {
    let mut source = Source { bytes, left: MOST_BYTES };
    let mut model = Model::default();
    let (mut name, mut version) = (String::new(), String::new());
    let mut graph = None;
    let mut spans = Spans::new(bytes, 0, bytes.size());
    while let Some(span) = spans.next()? {
        match span.field {
            1 => model.ir_version = span.number,
            2 => name = source.text(span)?,
            3 => version = source.text(span)?,
            7 => graph = Some(main_graph(&mut source, span)?),
            8 => {
                let (domain, version) = opset(Part { bytes: &source.content(span)?, base: span.offset })?;
                model.opsets.insert(domain, version);
            }
            25 => {
                let content = source.content(span)?;
                model.functions.push(Rc::new(function(Part { bytes: &content, base: span.offset })?));
            }
            _ => {}
        }
    }
    let Some(graph) = graph else {
        let instead = "export it with torch.onnx.export";
        return Err(refuse!(instead = instead, "the file holds no graph of ONNX").into());
    };
    let nodes = graph.nodes.len() + model.functions.iter().map(|f| f.nodes.len()).sum::<usize>();
    if nodes > MOST_NODES {
        return Err(refuse!(
            instead = "export a smaller part of it",
            "the model has {nodes} nodes and at most {MOST_NODES} are read"
        )
        .into());
    }
    model.graph = graph;
    model.producer = format!("{name} {version}").trim().to_owned();
    Ok(model)
}

fn main_graph(source: &mut Source<'_>, whole: Span) -> Result<OnnxGraph, ImportError> {
    let mut graph = OnnxGraph::default();
    let mut spans = Spans::new(source.bytes, whole.offset, whole.end());
    while let Some(span) = spans.next()? {
        match span.field {
            5 => graph.initializers.push(Rc::new(tensor_in_file(source.bytes, span.offset, span.end())?)),
            1 | 2 | 11 | 12 | 13 | 15 => {
                let content = source.content(span)?;
                graph_field(&mut graph, span.field, Part { bytes: &content, base: span.offset }, 0)?;
            }
            _ => {}
        }
    }
    Ok(graph)
}
