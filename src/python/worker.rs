//! The thread that runs calls. A session belongs to one thread; Python's threads send it their calls.

use std::any::Any;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, Mutex, Once};
use std::time::{Duration, Instant};

use ns_cli::host::{CallError, Host, Memory, call};

/// Files in memory, by the names that arguments give them.
pub type Files = BTreeMap<String, Arc<Vec<u8>>>;

/// The name of the threads that run calls.
pub const THREAD: &str = "neuronscope";

/// How a test gets a panic. Only a debug assertion knows these arguments, so the published package has no command that ends like this, and
/// no setting that a program could meet by accident.
const PANIC_OF_A_TEST: [&str; 1] = ["panic-of-a-test"];

/// The shortest time between two messages about progress.
const PROGRESS_PAUSE: Duration = Duration::from_millis(50);

/// One call.
pub struct Call {
    pub args: Vec<String>,
    pub files: Files,
    /// Names of files that stay in memory when the command writes them.
    pub wanted: Vec<String>,
    pub to: Sender<News>,
}

/// What a call sends back.
pub enum News {
    Line(String),
    Progress(u64, u64, String),
    End(End),
}

/// A call has ended.
pub struct End {
    pub out: Vec<u8>,
    /// The wanted files that were written.
    pub written: Vec<(String, Vec<u8>)>,
    pub failure: Option<Failure>,
}

/// Why a call failed.
pub enum Failure {
    Call(CallError),
    /// A defect: where, and the message of the panic.
    Panic(String),
}

/// What a call has given, shared by the host and the thread.
#[derive(Default)]
struct CallOutput {
    out: Vec<u8>,
    written: Vec<(String, Vec<u8>)>,
}

struct Channel {
    files: Files,
    wanted: Vec<String>,
    to: Sender<News>,
    output: Arc<Mutex<CallOutput>>,
    last_progress: Option<Instant>,
}

impl Channel {
    fn output(&self) -> std::sync::MutexGuard<'_, CallOutput> {
        self.output.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// A message that nobody waits for any more is dropped.
fn send(to: &Sender<News>, news: News) {
    drop(to.send(news));
}

impl Host for Channel {
    fn print(&mut self, bytes: &[u8]) {
        self.output().out.extend_from_slice(bytes);
    }

    fn say(&mut self, line: &str) {
        send(&self.to, News::Line(line.to_owned()));
    }

    #[expect(clippy::disallowed_methods, reason = "a shell has a clock")]
    fn progress(&mut self, done: u64, total: u64, label: &str) {
        let is_due = self.last_progress.is_none_or(|last| last.elapsed() >= PROGRESS_PAUSE);
        if is_due {
            self.last_progress = Some(Instant::now());
            send(&self.to, News::Progress(done, total, label.to_owned()));
        }
    }

    fn file(&self, path: &Path) -> Option<Arc<Vec<u8>>> {
        self.files.get(path.to_str()?).cloned()
    }

    fn write(&mut self, path: &Path, content: &[u8]) -> bool {
        let Some(name) = path.to_str().filter(|name| self.wanted.iter().any(|wanted| wanted == name)) else {
            return false;
        };
        self.output().written.push((name.to_owned(), content.to_owned()));
        true
    }
}

thread_local! {
    /// Where the last panic of this thread was.
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Keeps the place of a panic of this thread for its exception: whoever catches a panic has its message only, and a notebook does not show
/// what is written to stderr.
fn keep_places_of_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |panic| {
            if std::thread::current().name() == Some(THREAD) {
                PLACE.set(panic.location().map(ToString::to_string));
            } else {
                before(panic);
            }
        }));
    });
}

/// Runs calls until nobody can send one.
pub fn work(calls: &Receiver<Call>) {
    keep_places_of_panics();
    let mut memory = Memory::default();
    while let Ok(Call { args, files, wanted, to }) = calls.recv() {
        let output = Arc::new(Mutex::new(CallOutput::default()));
        let channel = Channel { files, wanted, to: to.clone(), output: Arc::clone(&output), last_progress: None };
        let done = catch_unwind(AssertUnwindSafe(|| {
            debug_assert!(args != PANIC_OF_A_TEST, "a test asked for it");
            call(Box::new(channel), &mut memory, &args)
        }));
        let failure = match done {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(Failure::Call(error)),
            Err(panic) => {
                memory = Memory::default();
                Some(Failure::Panic(message_of(&*panic)))
            }
        };
        let CallOutput { out, written } =
            std::mem::take(&mut *output.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
        send(&to, News::End(End { out, written, failure }));
    }
}

fn message_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".to_owned());
    let place = PLACE.take().unwrap_or_else(|| "an unknown place".to_owned());
    format!("{place}: {text}")
}
