//! Statements and calls.

use super::machine::{Machine, Stop, stop};
use super::work::{Meter, Work};
use crate::kernel::problem::{Pos, Problem};
use crate::kernel::program::{Expr, Stmt, StmtKind};
use crate::kernel::types::Scalar;
use crate::kernel::value::{Pointer, Value};

/// Levels of calls, statements and expressions together: the interpreter's own stack must hold them.
const MAX_DEPTH: usize = 500;

/// How a statement ends.
pub(super) enum Flow {
    Next,
    Break,
    Continue,
    Return(Value),
}

impl<M: Meter> Machine<'_, M> {
    /// Goes one level deeper; the caller comes back with `depth -= 1`.
    pub(super) fn deeper(&mut self, pos: Pos) -> Result<(), Stop> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(stop(pos, Problem::StackOverflow { limit: MAX_DEPTH }));
        }
        Ok(())
    }

    /// Calls a function of the file.
    pub(super) fn call(&mut self, index: usize, arguments: Vec<Value>, pos: Pos) -> Result<Value, Stop> {
        let program = self.program;
        let Some(function) = program.functions.get(index) else { return Ok(Value::Void) };
        self.deeper(pos)?;
        let before = self.base;
        self.base = self.slots.len();
        self.slots.resize(self.base + function.slots, Value::Uninit);
        for (slot, value) in self.slots[self.base..].iter_mut().zip(arguments) {
            *slot = value;
        }
        let (streams, blocks) = (self.streams.len(), self.memory.blocks());
        let flow = self.block(&function.body)?;
        self.end_streams(streams, pos)?;
        self.memory.end_stack_from(blocks);
        self.slots.truncate(self.base);
        self.base = before;
        self.depth -= 1;
        match flow {
            Flow::Return(value) => Ok(value),
            _ if function.returns == crate::kernel::types::Type::Void => Ok(Value::Void),
            _ => {
                let what = format!("{}() ends without a return statement", function.name);
                Err(stop(function.pos, Problem::Invalid { what, instead: "return a value on every path".to_owned() }))
            }
        }
    }

    fn block(&mut self, statements: &[Stmt]) -> Result<Flow, Stop> {
        for s in statements {
            match self.statement(s)? {
                Flow::Next => {}
                other => return Ok(other),
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
        if !matches!(s.kind, StmtKind::Loop { .. }) {
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
            let what = "the local arrays need more than 400 KiB of stack".to_owned();
            return Err(stop(pos, Problem::Invalid { what, instead: "use smaller arrays or TCM buffers".to_owned() }));
        };
        if outgrown {
            let (bytes, fast) = (self.memory.stack_bytes(), super::memory::Memory::fast_stack_bytes());
            self.note(pos, Problem::LargeStack { bytes, fast });
        }
        self.slots[self.base + slot] = Value::Pointer(pointer);
        let Some(init) = init else { return Ok(()) };
        // What is not listed is zero.
        let zero = crate::kernel::arithmetic::convert(Value::Int(0), Scalar::I32, of).unwrap_or(Value::Int(0));
        for i in 0..len {
            let value = match init.get(i as usize) {
                Some(e) => self.eval(e)?,
                None => zero,
            };
            let at = Pointer { offset: (i * of.bytes()) as i64, ..pointer };
            self.memory.store(at, of, value).map_err(|p| stop(pos, p))?;
        }
        Ok(())
    }

    fn if_statement(&mut self, condition: &Expr, then: &Stmt, otherwise: Option<&Stmt>) -> Result<Flow, Stop> {
        let chosen = self.eval(condition)?.is_true();
        self.work(condition.pos, Work::Integer);
        if chosen {
            return self.statement(then);
        }
        self.work(condition.pos, Work::Jump);
        otherwise.map_or(Ok(Flow::Next), |s| self.statement(s))
    }

    fn loop_statement(
        &mut self,
        pos: Pos,
        init: Option<&Stmt>,
        (condition, test_first): (Option<&Expr>, bool),
        step: Option<&Expr>,
        body: &Stmt,
    ) -> Result<Flow, Stop> {
        if let Some(init) = init {
            match &init.kind {
                // The line counts the turns, not the start.
                StmtKind::Block(inner) => self.loop_init(inner)?,
                _ => return Ok(Flow::Next),
            }
        }
        let mut test = test_first;
        loop {
            self.step(pos)?;
            if test && let Some(condition) = condition {
                let goes_on = self.eval(condition)?.is_true();
                self.work(condition.pos, Work::Integer);
                if !goes_on {
                    self.work(condition.pos, Work::Jump);
                    return Ok(Flow::Next);
                }
            }
            test = true;
            match self.statement(body)? {
                Flow::Next | Flow::Continue => {}
                Flow::Break => return Ok(Flow::Next),
                done @ Flow::Return(_) => return Ok(done),
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
