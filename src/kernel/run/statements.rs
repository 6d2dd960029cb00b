//! Statements and calls. A pause unwinds them up to the kernel's call, and each level leaves its position in a path. To
//! continue, the interpreter follows the path back, the outermost level first.

use std::sync::Arc;

use super::machine::{Machine, Stop, stop};
use super::work::{Meter, Work};
use crate::problem::{Pos, Problem};
use crate::program::{Expr, Function, Stmt, StmtKind};
use crate::types::Scalar;
use crate::value::{Pointer, Value};
use ns_base::convert::{u64_to_usize, usize_to_u32};

/// Most levels of calls, statements and expressions together: the interpreter's own stack must hold them.
const MAX_DEPTH: usize = 500;

/// How a statement ended.
pub(super) enum Flow {
    Next,
    Break,
    Continue,
    Return(Value),
    /// The kernel pauses; every level has left its position in the path.
    Pause,
}

/// The state to restore when a call ends.
pub(super) struct Frame {
    base: usize,
    streams: usize,
    blocks: usize,
}

// Positions at which a statement that contains statements can be paused.
/// Paused in the first branch.
const THEN: usize = 0;
/// Paused in the second branch.
const OTHERWISE: usize = 1;
/// Before a turn of a loop that does not test its condition: the first turn of a `do`.
const TURN: usize = 0;
/// Before a turn that tests the condition.
const TESTED_TURN: usize = 1;
/// Paused in a loop's body.
const BODY: usize = 2;

impl<M: Meter> Machine<M> {
    /// Goes one level deeper; the caller comes back with `depth -= 1`.
    pub(super) fn deeper(&mut self, pos: Pos) -> Result<(), Stop> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            let text = format!(
                "calls nest deeper than {MAX_DEPTH} levels: the stack overflows; replace the recursion by a loop"
            );
            return Err(stop(pos, Problem::error("stack_overflow", text)));
        }
        Ok(())
    }

    /// Calls a function of the file.
    pub(super) fn call(&mut self, index: usize, arguments: Vec<Value>, pos: Pos) -> Result<Value, Stop> {
        let functions = Arc::clone(&self.program.functions);
        let Some(function) = functions.get(index) else { return Ok(Value::Void) };
        let frame = self.enter(function, arguments, pos)?;
        let flow = self.block(&function.body)?;
        self.leave(function, &frame, flow, pos)
    }

    /// Calls the kernel itself on the first tensors, or continues where it paused. `None` when it pauses.
    pub(super) fn kernel_call(&mut self, index: usize, inputs: usize, pos: Pos) -> Result<Option<Value>, Stop> {
        let functions = Arc::clone(&self.program.functions);
        let Some(function) = functions.get(index) else { return Ok(Some(Value::Void)) };
        let frame = match self.outer.take() {
            Some(frame) => frame,
            None => self.enter(function, (0..usize_to_u32(inputs)).map(Value::Tensor).collect(), pos)?,
        };
        let flow = self.block(&function.body)?;
        if matches!(flow, Flow::Pause) {
            self.outer = Some(frame);
            return Ok(None);
        }
        self.leave(function, &frame, flow, pos).map(Some)
    }

    fn enter(&mut self, function: &Function, arguments: Vec<Value>, pos: Pos) -> Result<Frame, Stop> {
        self.deeper(pos)?;
        self.calls += 1;
        let frame = Frame { base: self.base, streams: self.streams.len(), blocks: self.memory.blocks() };
        self.base = self.slots.len();
        self.slots.resize(self.base + function.slots, Value::Uninit);
        for (slot, value) in self.slots[self.base..].iter_mut().zip(arguments) {
            *slot = value;
        }
        Ok(frame)
    }

    fn leave(&mut self, function: &Function, frame: &Frame, flow: Flow, pos: Pos) -> Result<Value, Stop> {
        self.end_streams(frame.streams, pos)?;
        self.memory.end_stack_from(frame.blocks);
        self.slots.truncate(self.base);
        self.base = frame.base;
        self.depth -= 1;
        self.calls -= 1;
        match flow {
            Flow::Return(value) => Ok(value),
            _ if function.returns == crate::types::Type::Void => Ok(Value::Void),
            _ => {
                let name = &function.name;
                let text = format!("{name}() ends without a return statement; return a value on every path");
                Err(stop(function.pos, Problem::error("invalid", text)))
            }
        }
    }

    fn block(&mut self, statements: &[Stmt]) -> Result<Flow, Stop> {
        let mut at = 0;
        if let Some(paused) = self.path.pop() {
            at = paused;
        } else if self.pauses() {
            self.path.push(0);
            return Ok(Flow::Pause);
        }
        while let Some(s) = statements.get(at) {
            match self.statement(s)? {
                Flow::Next => at += 1,
                Flow::Pause => {
                    self.path.push(at);
                    return Ok(Flow::Pause);
                }
                other => return Ok(other),
            }
            if self.pauses() {
                self.path.push(at);
                return Ok(Flow::Pause);
            }
        }
        Ok(Flow::Next)
    }

    fn statement(&mut self, s: &Stmt) -> Result<Flow, Stop> {
        if let StmtKind::Block(inner) = &s.kind {
            self.deeper(s.pos)?;
            let flow = self.block(inner);
            self.depth -= 1;
            return flow;
        }
        let resumed = !self.path.is_empty();
        if !matches!(s.kind, StmtKind::Loop { .. }) && !resumed {
            self.step(s.pos)?;
        }
        match &s.kind {
            StmtKind::Expr(e) => {
                self.eval(e)?;
                Ok(Flow::Next)
            }
            StmtKind::Declare { slot, init } => {
                let value = match init {
                    Some(e) => self.eval(e)?,
                    None => Value::Uninit,
                };
                self.slots[self.base + slot] = value;
                Ok(Flow::Next)
            }
            StmtKind::DeclareArray { slot, of, len, init } => {
                self.declare_array(s.pos, *slot, *of, *len, init.as_deref())?;
                Ok(Flow::Next)
            }
            StmtKind::Block(_) => Ok(Flow::Next),
            StmtKind::If { condition, then, otherwise } => {
                self.deeper(s.pos)?;
                let flow = self.if_statement(condition, then, otherwise.as_deref());
                self.depth -= 1;
                flow
            }
            StmtKind::Loop { init, condition, step, body, test_first } => {
                self.deeper(s.pos)?;
                let flow =
                    self.loop_statement(s.pos, init.as_deref(), (condition.as_ref(), *test_first), step.as_ref(), body);
                self.depth -= 1;
                flow
            }
            StmtKind::Break => {
                self.work(s.pos, Work::Jump);
                Ok(Flow::Break)
            }
            StmtKind::Continue => {
                self.work(s.pos, Work::Jump);
                Ok(Flow::Continue)
            }
            StmtKind::Return(value) => Ok(Flow::Return(match value {
                Some(e) => self.eval(e)?,
                None => Value::Void,
            })),
        }
    }

    fn declare_array(
        &mut self,
        pos: Pos,
        slot: usize,
        of: Scalar,
        len: u64,
        init: Option<&[Expr]>,
    ) -> Result<(), Stop> {
        if let Value::Pointer(before) = self.slots[self.base + slot] {
            // The body of a loop declares it again.
            self.memory.end_stack_array(before);
        }
        let bytes = len * of.bytes();
        let Some((pointer, outgrown)) = self.memory.stack_array(bytes, pos) else {
            let text = "the local arrays need more than 400 KiB of stack; use smaller arrays or TCM buffers";
            return Err(stop(pos, Problem::error("invalid", text)));
        };
        if outgrown {
            let (bytes, fast) = (self.memory.stack_bytes(), super::memory::Memory::fast_stack_bytes());
            let text = format!(
                "local arrays take {bytes} bytes of stack; beyond {fast} bytes the stack lies in slower memory"
            );
            self.note(pos, Problem::warning("large_stack", text));
        }
        self.slots[self.base + slot] = Value::Pointer(pointer);
        let Some(init) = init else { return Ok(()) };
        // Elements that are not listed are zero.
        let zero = crate::arithmetic::convert(Value::Int(0), Scalar::I32, of).unwrap_or(Value::Int(0));
        for i in 0..len {
            let value = match init.get(u64_to_usize(i)) {
                Some(e) => self.eval(e)?,
                None => zero,
            };
            let at = Pointer { offset: (i * of.bytes()).cast_signed(), ..pointer };
            self.memory.store(at, of, value).map_err(|p| stop(pos, p))?;
        }
        Ok(())
    }

    fn if_statement(&mut self, condition: &Expr, then: &Stmt, otherwise: Option<&Stmt>) -> Result<Flow, Stop> {
        let chosen = match self.path.pop() {
            Some(paused) => paused == THEN,
            None => {
                let chosen = self.eval(condition)?.is_true();
                self.work(condition.pos, Work::Integer);
                if !chosen {
                    self.work(condition.pos, Work::Jump);
                }
                chosen
            }
        };
        let branch = if chosen { Some(then) } else { otherwise };
        let flow = branch.map_or(Ok(Flow::Next), |s| self.statement(s))?;
        if matches!(flow, Flow::Pause) {
            self.path.push(if chosen { THEN } else { OTHERWISE });
        }
        Ok(flow)
    }

    fn loop_statement(
        &mut self,
        pos: Pos,
        init: Option<&Stmt>,
        (condition, test_first): (Option<&Expr>, bool),
        step: Option<&Expr>,
        body: &Stmt,
    ) -> Result<Flow, Stop> {
        let paused = self.path.pop();
        if let (Some(init), None) = (init, paused) {
            match &init.kind {
                // The line counts the turns, not the start of the loop.
                StmtKind::Block(inner) => self.loop_init(inner)?,
                _ => return Ok(Flow::Next),
            }
        }
        let mut in_body = paused == Some(BODY);
        let mut test = test_first || paused == Some(TESTED_TURN);
        loop {
            if !in_body {
                if self.pauses() {
                    self.path.push(if test { TESTED_TURN } else { TURN });
                    return Ok(Flow::Pause);
                }
                self.step(pos)?;
                if test && let Some(condition) = condition {
                    let goes_on = self.eval(condition)?.is_true();
                    self.work(condition.pos, Work::Integer);
                    if !goes_on {
                        self.work(condition.pos, Work::Jump);
                        return Ok(Flow::Next);
                    }
                }
            }
            (in_body, test) = (false, true);
            match self.statement(body)? {
                Flow::Next | Flow::Continue => {}
                Flow::Break => return Ok(Flow::Next),
                done @ Flow::Return(_) => return Ok(done),
                Flow::Pause => {
                    self.path.push(BODY);
                    return Ok(Flow::Pause);
                }
            }
            if let Some(step) = step {
                self.eval(step)?;
            }
            self.work(pos, Work::Jump);
        }
    }

    fn loop_init(&mut self, statements: &[Stmt]) -> Result<(), Stop> {
        for s in statements {
            match &s.kind {
                StmtKind::Declare { slot, init: Some(e) } => {
                    let value = self.eval(e)?;
                    self.slots[self.base + slot] = value;
                }
                StmtKind::Expr(e) => {
                    self.eval(e)?;
                }
                _ => {
                    self.statement(s)?;
                }
            }
        }
        Ok(())
    }
}
