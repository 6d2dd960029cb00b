//! The page's side: one worker, and the jobs that wait for its answers.

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};

use gloo_events::{EventListener, EventListenerOptions};
use gloo_timers::callback::Timeout;
use wasm_bindgen::JsCast;
use web_sys::{Blob, ErrorEvent, File, MessageEvent, Worker, WorkerOptions, WorkerType};
use yew::Callback;

use super::envelope;
use super::life;
use crate::platform::{download, error_text, page, url};
use ns_base::Few;
use ns_session::protocol::wire::{Decoder, Encoder, decode_event, encode_request};
use ns_session::{Ask, Control, Event, JobId, JobRequest, Message, PROTOCOL_VERSION, Request, build_id};

/// A worker that does not answer a cancel within this time is ended.
const CANCEL_GRACE_MS: u32 = 1_500;
/// A worker that does not send a message within this time after its start is given up. The time includes the download of its program,
/// which takes minutes on a slow line; the user can cancel the run earlier.
const START_LIMIT_MS: u32 = 300_000;

thread_local! {
    static NEXT_JOB: Cell<u32> = const { Cell::new(1) };
    /// What the program asks, and the answers that it reads.
    static PARTS: Cell<(Encoder<Ask>, Decoder<Message>)> =
        const { Cell::new((Encoder::<Ask>::PROFILES, Decoder::<Message>::PROFILES)) };
}

/// Called once by a program that asks for more than profiles: the app does not, and has no code for the rest.
pub fn ask_everything() {
    PARTS.set((Encoder::<Ask>::ALL, Decoder::<Message>::ALL));
}

/// One worker. Clones refer to the same one; dropping the last clone ends it.
#[derive(Clone)]
pub struct Engine(Rc<EngineInner>);

/// A worker that its owners may end.
#[derive(Clone)]
pub struct WeakEngine(Weak<EngineInner>);

impl WeakEngine {
    /// The worker, if it is still alive.
    pub fn upgrade(&self) -> Option<Engine> {
        self.0.upgrade().map(Engine).filter(Engine::is_alive)
    }
}

/// A request and the file that goes with it.
type QueuedRequest = (Request, Option<File>);

struct EngineInner {
    worker: Worker,
    /// Of the worker and its lock.
    name: String,
    /// Requests that wait for Ready; `None` once it came.
    queue: RefCell<Option<Vec<QueuedRequest>>>,
    jobs: RefCell<Few<JobId, SentJob>>,
    /// The last words of a worker that panicked.
    last_words: RefCell<Option<String>>,
    is_alive: Cell<bool>,
    listeners: RefCell<Vec<EventListener>>,
    timers: RefCell<Vec<Timeout>>,
}

struct SentJob {
    /// Its name for the user.
    what: String,
    on_message: Callback<Message>,
}

impl PartialEq for Engine {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

impl Drop for EngineInner {
    fn drop(&mut self) {
        self.worker.terminate();
    }
}

/// What a worker can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Program {
    /// Opens profiles. It is less than half as large as the others.
    Viewer,
    /// Benchmarks models, draws them, and simulates profiles.
    Benchmarks,
    /// Runs studies and experiments.
    Studies,
}

impl Program {
    /// Number of programs.
    pub const COUNT: usize = 3;

    /// The file that starts it.
    const fn loader(self) -> &'static str {
        match self {
            Self::Viewer => "viewer_loader.js",
            Self::Benchmarks => "worker_loader.js",
            Self::Studies => "studies_loader.js",
        }
    }

    /// The one that does a job on models.
    pub const fn of(job: &JobRequest) -> Self {
        if job.is_study() { Self::Studies } else { Self::Benchmarks }
    }
}

impl Engine {
    /// Starts a worker. Fails when the browser refuses.
    pub fn spawn(program: Program) -> Result<Self, String> {
        let options = WorkerOptions::new();
        options.set_type(WorkerType::Module);
        let name = life::new_name();
        options.set_name(&name);
        let worker = Worker::new_with_options(&url::beside_page(program.loader()), &options)
            .map_err(|e| format!("The browser refused to start a worker: {}", error_text(&e)))?;
        let engine = Self(Rc::new(EngineInner {
            worker,
            name,
            queue: RefCell::new(Some(Vec::new())),
            jobs: RefCell::default(),
            last_words: RefCell::default(),
            is_alive: Cell::new(true),
            listeners: RefCell::default(),
            timers: RefCell::default(),
        }));
        engine.listen();
        Ok(engine)
    }

    /// A handle of the worker that does not keep it alive.
    pub fn downgrade(&self) -> WeakEngine {
        WeakEngine(Rc::downgrade(&self.0))
    }

    /// Whether requests can still be answered.
    pub fn is_alive(&self) -> bool {
        self.0.is_alive.get()
    }

    /// Whether it can take a request at once, and nobody else has a handle of it.
    pub fn is_free(&self) -> bool {
        self.is_alive() && Rc::strong_count(&self.0) == 1 && self.0.jobs.borrow().is_empty()
    }

    /// A number for a request that is sent later.
    pub fn next_job() -> JobId {
        NEXT_JOB.with(|n| JobId(n.replace(n.get() + 1)))
    }

    /// Sends a request and returns its number; `on_message` receives the answers. A dead worker answers with a failure.
    pub fn send(&self, ask: impl Into<Ask>, file: Option<File>, on_message: Callback<Message>) -> JobId {
        let job = Self::next_job();
        self.send_as(job, ask.into(), file, on_message);
        job
    }

    /// Sends a request under a number of [`Engine::next_job`].
    pub fn send_as(&self, job: JobId, ask: Ask, file: Option<File>, on_message: Callback<Message>) {
        if !self.is_alive() {
            on_message.emit(Message::Failed("The worker has stopped. Run or open it again.".to_owned()));
            return;
        }
        self.0.jobs.borrow_mut().insert(job, SentJob { what: ask.describe(), on_message });
        self.0.post_or_queue(Request::Ask(job, ask), file);
    }

    /// Sends a message about an earlier request.
    pub fn tell(&self, control: Control) {
        // While the worker starts, the message waits behind the request that it concerns.
        if self.is_alive() {
            self.0.post_or_queue(Request::Control(control), None);
        }
    }

    /// Asks a job to stop, and ends the worker if it does not stop in time. Either way the job gets `Cancelled`.
    pub fn cancel(&self, job: JobId) {
        if self.0.queue.borrow().is_some() {
            self.0.end("it was cancelled while it started", Some(job));
            return;
        }
        self.tell(Control::Cancel(job));
        let weak = Rc::downgrade(&self.0);
        let timer = Timeout::new(CANCEL_GRACE_MS, move || {
            if let Some(inner) = weak.upgrade()
                && inner.jobs.borrow().get(&job).is_some()
            {
                inner.end("it did not stop when asked", Some(job));
            }
        });
        self.0.timers.borrow_mut().push(timer);
    }

    /// Drops the answers to this job from now on.
    pub fn forget(&self, job: JobId) {
        self.0.jobs.borrow_mut().remove(&job);
    }

    /// Forgets this job, and asks it to stop if it has not ended.
    pub fn give_up(&self, job: JobId) {
        let waiting = self.0.jobs.borrow_mut().remove(&job);
        if waiting.is_some() {
            self.tell(Control::Cancel(job));
        }
    }

    fn listen(&self) {
        let inner = &self.0;
        let on = |name: &'static str, f: fn(&Rc<EngineInner>, &web_sys::Event)| {
            let weak: Weak<EngineInner> = Rc::downgrade(inner);
            let options = EventListenerOptions::enable_prevent_default();
            EventListener::new_with_options(&inner.worker, name, options, move |event| {
                if let Some(inner) = weak.upgrade() {
                    f(&inner, event);
                }
            })
        };
        inner.listeners.borrow_mut().extend([
            on("message", |inner, event| {
                if let Some(event) = event.dyn_ref::<MessageEvent>() {
                    inner.receive(&event.data());
                }
            }),
            on("error", |inner, event| {
                event.prevent_default();
                let said = event.dyn_ref::<ErrorEvent>().map(ErrorEvent::message).unwrap_or_default();
                let words = inner.last_words.take().unwrap_or(said);
                let reason = if words.is_empty() { "its files could not be loaded".to_owned() } else { words };
                inner.end(&reason, None);
            }),
            on("messageerror", |inner, _| inner.end("a message could not be delivered", None)),
        ]);
        let weak = Rc::downgrade(inner);
        let timer = Timeout::new(START_LIMIT_MS, move || {
            if let Some(inner) = weak.upgrade()
                && inner.queue.borrow().is_some()
            {
                inner.end("it did not start within five minutes; check the connection and reload the page", None);
            }
        });
        inner.timers.borrow_mut().push(timer);
    }
}

impl EngineInner {
    fn post_or_queue(&self, request: Request, file: Option<File>) {
        if let Some(queue) = self.queue.borrow_mut().as_mut() {
            queue.push((request, file));
            return;
        }
        self.post(request, file.as_ref());
    }

    fn post(&self, request: Request, file: Option<&File>) {
        let job = request.job();
        let sent = encode_request(request, PARTS.get().0).and_then(|bytes| {
            let e = envelope::pack(&bytes, file.map(AsRef::as_ref));
            self.worker.post_message_with_transfer(&e.message, &e.transfer).map_err(|error| error_text(&error))
        });
        if let (Err(message), Some(job)) = (sent, job) {
            self.deliver(job, Message::Failed(message));
        }
    }

    fn receive(self: &Rc<Self>, data: &wasm_bindgen::JsValue) {
        if let Some(words) = data.as_string() {
            if words == life::ALIVE {
                let weak = Rc::downgrade(self);
                let end = move || weak.upgrade().into_iter().for_each(|inner| inner.end("the browser closed it", None));
                life::when_ended(&self.name, end);
                return;
            }
            *self.last_words.borrow_mut() = Some(words);
            return;
        }
        let unpacked =
            envelope::unpack(data).and_then(|(bytes, beside)| Ok((decode_event(&bytes, PARTS.get().1)?, beside)));
        match unpacked {
            Ok((Event::Ready { protocol, build }, _)) => self.ready(protocol, &build),
            // The file of a forgotten job is dropped too.
            // A page behind its stored example has no bar to show it in.
            Ok((Event::Message(_, Message::Progress { .. }), _)) if page::is_behind_example() => {}
            Ok((Event::Message(job, message), beside)) => {
                if self.jobs.borrow().get(&job).is_some() {
                    self.deliver(job, save_file(message, beside));
                }
            }
            Err(message) => self.end(&format!("{message}; reload the page"), None),
        }
    }

    fn ready(&self, protocol: u32, build: &str) {
        if protocol != PROTOCOL_VERSION || build != build_id() {
            let mine = build_id();
            self.end(&format!("it is from another build ({build}, the page is {mine}); reload the page"), None);
            return;
        }
        let queued = self.queue.take().unwrap_or_default();
        for (request, file) in queued {
            self.post(request, file.as_ref());
        }
    }

    fn deliver(&self, job: JobId, message: Message) {
        let callback = if message.is_last() {
            self.jobs.borrow_mut().remove(&job).map(|j| j.on_message)
        } else {
            self.jobs.borrow().get(&job).map(|j| j.on_message.clone())
        };
        if let Some(callback) = callback {
            callback.emit(message);
        }
    }

    /// Ends the worker; all waiting jobs get the reason and the input that caused it.
    fn end(&self, reason: &str, cancelled: Option<JobId>) {
        if !self.is_alive.replace(false) {
            return;
        }
        self.worker.terminate();
        for (job, waiting) in self.jobs.take() {
            let message = if Some(job) == cancelled {
                Message::Cancelled
            } else {
                Message::Failed(format!("The worker stopped during {}: {reason}. You can run it again.", waiting.what))
            };
            waiting.on_message.emit(message);
        }
    }
}

/// Downloads a file that came with the message at once.
fn save_file(message: Message, file: Option<Blob>) -> Message {
    match (message, file) {
        (Message::File(made), Some(file)) => match download::save_blob(&made.file_name, &file) {
            Ok(()) => Message::File(made),
            Err(message) => Message::Failed(message),
        },
        (message, _) => message,
    }
}
