//! Reading HLO text.

use std::collections::BTreeMap;

use crate::hlo::{FusionBody, HloInstruction, HloModule, InstrId, Opcode, verify};
use crate::{UnknownWorkflow, Workflow};
use ns_base::convert::narrow;
use ns_base::{Idx as _, IndexVec};
use ns_tensor::kernels::SliceDim;
use ns_tensor::{DType, Shape};

use super::attributes::{Arguments, Attributes, opcode};
use super::error::{Expected, ParseError, ParseProblem};
use super::lexer::{Placed, Token, tokens};
use super::window::parse_window;

/// Reads a module. The result is verified.
///
/// # Errors
/// The line and column at which the text cannot be read.
pub fn parse(text: &str) -> Result<HloModule, ParseError> {
    let tokens = tokens(text)?;
    let mut parser = Parser { tokens: &tokens, at: 0, names: BTreeMap::new(), members: 0 };
    let (name, workflow) = parser.header()?;
    let mut module = HloModule { name, workflow, instructions: IndexVec::new(), root: InstrId(0) };
    let mut root = None;
    parser.word("ENTRY")?;
    parser.mark('{')?;
    while !parser.skip_mark('}') {
        let place = parser.here().clone();
        let (instruction, is_root) = parser.instruction(true)?;
        let name = instruction.name.clone();
        let id = module.instructions.push(instruction);
        parser.define(&place, &name, id)?;
        if is_root && root.replace(id).is_some() {
            return Err(place.error(ParseProblem::SecondRoot));
        }
    }
    parser.end()?;
    let end = parser.here();
    module.root = root.ok_or_else(|| end.error(ParseProblem::NoRoot))?;
    place_members(&mut module);
    verify(&module).map_err(|e| {
        let place = e.instruction().and_then(|name| parser.names.get(name));
        place.map_or(end, |(_, place)| place).error(e)
    })?;
    Ok(module)
}

/// Ids given to members while the number of instructions is unknown count down from the largest; moves them behind the
/// instructions.
fn place_members(module: &mut HloModule) {
    let first = narrow(module.instructions.len());
    let moved = |id: InstrId, limit: u32| if id.0 >= limit { InstrId(first + (u32::MAX - 1 - id.0)) } else { id };
    for instruction in module.instructions.iter_mut() {
        if let Opcode::Fusion(body) = &mut instruction.opcode {
            let ids = body.ids.iter_mut().chain(body.members.iter_mut().flat_map(|m| &mut m.operands));
            for id in ids {
                *id = moved(*id, u32::MAX / 2);
            }
        }
    }
}

struct Parser<'t> {
    tokens: &'t [Placed],
    at: usize,
    /// Values defined so far, by name.
    names: BTreeMap<String, (InstrId, Placed)>,
    /// Members so far, over all fusions.
    members: u32,
}

impl Parser<'_> {
    fn here(&self) -> &Placed {
        // The last token is the end; the position does not go beyond it.
        &self.tokens[self.at.min(self.tokens.len() - 1)]
    }

    fn next(&mut self) -> Placed {
        let placed = self.here().clone();
        self.at += 1;
        placed
    }

    fn expected<T>(&self, expected: Expected) -> Result<T, ParseError> {
        let found = self.here().token.describe();
        Err(self.here().error(ParseProblem::Expected { expected, found }))
    }

    fn skip_mark(&mut self, mark: char) -> bool {
        let found = self.here().token == Token::Mark(mark);
        self.at += usize::from(found);
        found
    }

    fn mark(&mut self, mark: char) -> Result<(), ParseError> {
        if self.skip_mark(mark) { Ok(()) } else { self.expected(Expected::Mark(mark)) }
    }

    fn any_word(&mut self, part: &'static str) -> Result<String, ParseError> {
        match self.here().token.clone() {
            Token::Word(w) => {
                self.at += 1;
                Ok(w)
            }
            _ => self.expected(Expected::Part(part)),
        }
    }

    fn word(&mut self, word: &'static str) -> Result<(), ParseError> {
        if self.here().token == Token::Word(word.to_owned()) {
            self.at += 1;
            return Ok(());
        }
        self.expected(Expected::Part(word))
    }

    fn word_or_text(&mut self, part: &'static str) -> Result<String, ParseError> {
        match self.here().token.clone() {
            Token::Word(t) | Token::Text(t) => {
                self.at += 1;
                Ok(t)
            }
            _ => self.expected(Expected::Part(part)),
        }
    }

    fn number<T: std::str::FromStr>(&mut self, part: &'static str) -> Result<T, ParseError> {
        let place = self.here().clone();
        let word = self.any_word(part)?;
        let expected = Expected::Part(part);
        word.parse().map_err(|_| place.error(ParseProblem::Expected { expected, found: format!("{word:?}") }))
    }

    fn end(&self) -> Result<(), ParseError> {
        if self.here().token == Token::End { Ok(()) } else { self.expected(Expected::Part("the end")) }
    }

    fn header(&mut self) -> Result<(String, Workflow), ParseError> {
        self.word("HloModule")?;
        let name = self.word_or_text("the module's name")?;
        if !self.skip_mark(',') {
            return Ok((name, Workflow::default()));
        }
        self.word("workflow")?;
        self.mark('=')?;
        let place = self.here().clone();
        let workflow = self.any_word("a workflow")?.parse().map_err(|e: UnknownWorkflow| place.error(e))?;
        Ok((name, workflow))
    }

    fn define(&mut self, place: &Placed, name: &str, id: InstrId) -> Result<(), ParseError> {
        if self.names.insert(name.to_owned(), (id, place.clone())).is_some() {
            return Err(place.error(ParseProblem::DefinedTwice(name.to_owned())));
        }
        Ok(())
    }

    /// `[ROOT] %name = shape opcode(operands), attributes`
    fn instruction(&mut self, may_fuse: bool) -> Result<(HloInstruction, bool), ParseError> {
        let root = self.here().token == Token::Word("ROOT".to_owned());
        self.at += usize::from(root);
        let name = match self.next() {
            Placed { token: Token::Value(name), .. } => name,
            other => {
                let (expected, found) = (Expected::Part("an instruction"), other.token.describe());
                return Err(other.error(ParseProblem::Expected { expected, found }));
            }
        };
        self.mark('=')?;
        let shape = self.shape()?;
        let place = self.here().clone();
        let op = self.any_word("an opcode")?;
        if op == "fusion" && !may_fuse {
            return Err(place.error(ParseProblem::NestedFusion));
        }
        self.mark('(')?;
        let (arguments, operands) = self.arguments()?;
        let mut attributes = Attributes::default();
        while self.skip_mark(',') {
            self.attribute(&mut attributes)?;
        }
        let opcode = opcode(&place, &op, &arguments, &mut attributes)?;
        let metadata = attributes.metadata;
        Ok((HloInstruction { name, opcode, operands, shape, metadata }, root))
    }

    fn shape(&mut self) -> Result<Shape, ParseError> {
        let place = self.here().clone();
        let name = self.any_word("a shape, such as f32[4,2]")?;
        let dtype = DType::from_hlo_name(&name).ok_or_else(|| place.error(ParseProblem::Element(name)))?;
        self.mark('[')?;
        let mut dims: Vec<u64> = Vec::new();
        while !self.skip_mark(']') {
            if !dims.is_empty() {
                self.mark(',')?;
            }
            dims.push(self.number("a dimension")?);
        }
        Ok(Shape::new(dtype, dims))
    }

    fn arguments(&mut self) -> Result<(Arguments, Vec<InstrId>), ParseError> {
        if let Token::Word(number) = self.here().token.clone() {
            self.at += 1;
            self.mark(')')?;
            return Ok((Arguments::Number(number), Vec::new()));
        }
        let mut operands = Vec::new();
        while !self.skip_mark(')') {
            if !operands.is_empty() {
                self.mark(',')?;
            }
            let place = self.next();
            let Token::Value(name) = &place.token else {
                let (expected, found) = (Expected::Part("an operand"), place.token.describe());
                return Err(place.error(ParseProblem::Expected { expected, found }));
            };
            let known = self.names.get(name).map(|(id, _)| *id);
            operands.push(known.ok_or_else(|| place.error(ParseProblem::Undefined(name.clone())))?);
        }
        Ok((Arguments::Values, operands))
    }

    fn attribute(&mut self, attributes: &mut Attributes) -> Result<(), ParseError> {
        let place = self.here().clone();
        let name = self.any_word("an attribute")?;
        self.mark('=')?;
        match name.as_str() {
            "metadata" => {
                self.mark('{')?;
                while !self.skip_mark('}') {
                    let place = self.here().clone();
                    let key = self.any_word("op_type or op_name")?;
                    self.mark('=')?;
                    let value = self.word_or_text("a text")?;
                    match key.as_str() {
                        "op_type" => attributes.metadata.op_type = value,
                        "op_name" => attributes.metadata.op_name = value,
                        _ => return Err(place.error(ParseProblem::Metadata(key))),
                    }
                }
            }
            "calls" => attributes.body = Some(self.body()?),
            "slice" => attributes.ranges = Some(self.ranges()?),
            "window" => {
                self.mark('{')?;
                let mut parts = Vec::new();
                while !self.skip_mark('}') {
                    let key = self.any_word("size, stride, pad, lhs_dilate, rhs_dilate or rhs_reversal")?;
                    self.mark('=')?;
                    parts.push((key, self.any_word("numbers such as 3x3")?));
                }
                attributes.window = Some(parse_window(&parts).map_err(|problem| place.error(problem))?);
            }
            _ if self.skip_mark('{') => {
                let mut list: Vec<u32> = Vec::new();
                while !self.skip_mark('}') {
                    if !list.is_empty() {
                        self.mark(',')?;
                    }
                    list.push(self.number("a dimension")?);
                }
                if attributes.lists.iter().any(|(n, _)| *n == name) {
                    return Err(place.error(ParseProblem::GivenTwice(name)));
                }
                attributes.lists.push((name, list));
            }
            _ => {
                let value = self.word_or_text("a value")?;
                if attributes.words.iter().any(|(n, _)| *n == name) {
                    return Err(place.error(ParseProblem::GivenTwice(name)));
                }
                attributes.words.push((name, value));
            }
        }
        Ok(())
    }

    /// `{[0:2], [1:9:2]}`
    fn ranges(&mut self) -> Result<Vec<SliceDim>, ParseError> {
        self.mark('{')?;
        let mut ranges = Vec::new();
        while !self.skip_mark('}') {
            if !ranges.is_empty() {
                self.mark(',')?;
            }
            self.mark('[')?;
            let start = self.number("the first element")?;
            self.mark(':')?;
            let limit = self.number("the end of the range")?;
            let stride = if self.skip_mark(':') { self.number("a stride")? } else { 1 };
            self.mark(']')?;
            ranges.push(SliceDim { start, limit, stride });
        }
        Ok(ranges)
    }

    fn body(&mut self) -> Result<FusionBody, ParseError> {
        self.mark('{')?;
        let mut body = FusionBody { members: Vec::new(), ids: Vec::new() };
        let mut rooted = false;
        while !self.skip_mark('}') {
            let place = self.here().clone();
            if rooted {
                return Err(place.error(ParseProblem::FusionRootFirst));
            }
            let (member, is_root) = self.instruction(false)?;
            let id = InstrId::from_usize((u32::MAX - 1 - self.members) as usize);
            self.members += 1;
            self.define(&place, &member.name, id)?;
            rooted = is_root;
            body.members.push(member);
            body.ids.push(id);
        }
        if !rooted {
            return Err(self.here().error(ParseProblem::NoFusionRoot));
        }
        Ok(body)
    }
}
