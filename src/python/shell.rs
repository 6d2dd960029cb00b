//! The class that Python sees.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::worker::{Call, End, Failure, News, THREAD, work};
use super::{Error, UsageError};
use ns_cli::host::{CallError, stop};

/// How often a call looks for Ctrl-C.
const SIGNALS_EVERY: Duration = Duration::from_millis(50);

/// Files that a call wrote, by name.
type WrittenFiles<'py> = BTreeMap<String, Bound<'py, PyBytes>>;

/// Runs commands one after another, and keeps what they open.
#[pyclass(frozen, module = "neuronscope._core")]
pub struct Shell {
    calls: Mutex<Option<Sender<Call>>>,
    /// A forked process has no thread.
    process: u32,
}

#[pymethods]
impl Shell {
    #[new]
    fn new() -> PyResult<Self> {
        let (calls, receiver) = channel();
        let thread = std::thread::Builder::new().name(THREAD.to_owned()).stack_size(8 << 20);
        thread
            .spawn(move || work(&receiver))
            .map_err(|e| PyRuntimeError::new_err(format!("a thread cannot be started: {e}")))?;
        Ok(Self { calls: Mutex::new(Some(calls)), process: std::process::id() })
    }

    /// Runs the command of `args`. Returns what it printed, and the `wanted` files that it wrote by name. `files` are read from memory.
    /// `on_line` takes each line of stderr, `on_progress` the units done, all of them (0: not known) and a label.
    #[pyo3(signature = (args, files=None, wanted=None, on_line=None, on_progress=None))]
    fn call<'py>(
        &self,
        py: Python<'py>,
        args: Vec<String>,
        files: Option<BTreeMap<String, Vec<u8>>>,
        wanted: Option<Vec<String>>,
        on_line: Option<Bound<'py, PyAny>>,
        on_progress: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyBytes>, WrittenFiles<'py>)> {
        let files = files.unwrap_or_default().into_iter().map(|(name, bytes)| (name, Arc::new(bytes))).collect();
        let (to, news) = channel();
        self.send(Call { args, files, wanted: wanted.unwrap_or_default(), to })?;
        let mut waiting = Waiting { news, raised: None };
        let End { out, written, failure } = waiting.end(py, on_line.as_ref(), on_progress.as_ref())?;
        let raised = match (waiting.raised, failure) {
            (Some(raised), _) => Some(raised),
            (None, Some(failure)) => Some(exception(failure)),
            (None, None) => None,
        };
        if let Some(raised) = raised {
            // What had been printed before belongs to whoever catches the exception.
            raised.value(py).setattr("partial", PyBytes::new(py, &out))?;
            return Err(raised);
        }
        let written = written.into_iter().map(|(name, bytes)| (name, PyBytes::new(py, &bytes))).collect();
        Ok((PyBytes::new(py, &out), written))
    }

    /// Forgets everything; later calls are refused.
    fn close(&self) {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

impl Shell {
    fn send(&self, call: Call) -> PyResult<()> {
        if std::process::id() != self.process {
            return Err(Error::new_err(
                "this object was made before the process forked; make it again in the new process",
            ));
        }
        let calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(calls) = calls.as_ref() else { return Err(Error::new_err("this object is closed; open it again")) };
        calls.send(call).map_err(|_| PyRuntimeError::new_err("the thread of this object has ended; open it again"))
    }
}

/// A call that runs in the other thread.
struct Waiting {
    news: Receiver<News>,
    /// The first exception of a signal or of a callback: the call ends early, and then it is raised.
    raised: Option<PyErr>,
}

impl Waiting {
    fn end(
        &mut self,
        py: Python<'_>,
        on_line: Option<&Bound<'_, PyAny>>,
        on_progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<End> {
        loop {
            let news = &mut self.news;
            let next = py.detach(move || news.recv_timeout(SIGNALS_EVERY));
            let done = match next {
                Ok(News::Line(line)) => on_line.map_or(Ok(()), |to| to.call1((line,)).map(drop)),
                Ok(News::Progress(done, total, label)) => {
                    on_progress.map_or(Ok(()), |to| to.call1((done, total, label)).map(drop))
                }
                Ok(News::End(end)) => return Ok(end),
                Err(RecvTimeoutError::Timeout) => Ok(()),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(PyRuntimeError::new_err("the thread of this object has ended; open it again"));
                }
            };
            if let Err(raised) = done.and_then(|()| py.check_signals()) {
                // A second Ctrl-C does not wait: some commands cannot be stopped between their steps.
                if self.raised.is_some() {
                    return Err(raised);
                }
                stop();
                self.raised = Some(raised);
            }
        }
    }
}

fn exception(failure: Failure) -> PyErr {
    match failure {
        Failure::Call(CallError::Usage(said)) => UsageError::new_err(said),
        Failure::Call(CallError::Failed(said)) => Error::new_err(said),
        Failure::Call(CallError::Stopped(said)) => PyKeyboardInterrupt::new_err(said),
        Failure::Panic(said) => PyRuntimeError::new_err(format!(
            "neuronscope {} has a defect at {said}; report it with this line and the call that caused it",
            env!("CARGO_PKG_VERSION")
        )),
    }
}
