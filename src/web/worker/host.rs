//! The worker's side: takes requests, steps the session, posts events.

use std::cell::RefCell;
use std::rc::Rc;

use gloo_timers::callback::Timeout;
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Blob, DedicatedWorkerGlobalScope, MessageChannel, MessageEvent, MessagePort};

use super::clock::WorkerClock;
use super::envelope;
use super::life;
use super::panic_message::{install_panic_hook, post_text};
use super::reader::read_model;
use super::recorder::{self, PagePython};
use super::source::FileSource;
use crate::platform::{download, error_text};
use ns_session::protocol::wire::{Decoder, Encoder, decode_request, encode_event};
use ns_session::{Ask, ByteSource, Event, ExportedFile, Message, PROTOCOL_VERSION, Session, StepResult, build_id};

/// Target duration of a step: a cancel is read at most this much later.
const STEP_MS: f64 = 16.0;
const LEAST_BUDGET: u32 = 1_000;
const MOST_BUDGET: u32 = 16_000_000;
/// Shortest time between two progress messages: the page renders for each, on a core that the worker may need.
const PROGRESS_MS: f64 = 80.0;
/// How an idle worker warms up: the delay after its start, the time between two rounds, and the number of rounds.
const WARM_UP_AFTER_MS: u32 = 300;
const WARM_UP_EVERY_MS: u32 = 15;
const WARM_UP_ROUNDS: u32 = 16;

type Parts = (Decoder<Ask>, Encoder<Message>);

struct Host {
    scope: DedicatedWorkerGlobalScope,
    session: Session,
    /// What it is asked, and what it answers.
    parts: Parts,
    /// Posting here schedules the next step behind messages that are already waiting: `setTimeout` would add 4 ms.
    next_step: MessagePort,
    is_scheduled: bool,
    budget: u32,
    /// Time of the last progress message.
    progress_ms: f64,
    /// Whether no request has come yet.
    is_fresh: bool,
}

/// Starts the worker that opens profiles. It has no simulator in it.
pub fn start_viewer() {
    let parts = (Decoder::<Ask>::PROFILES, Encoder::<Message>::PROFILES);
    start(|_| Session::for_profiles(), parts, Some(ns_session::warm_up));
}

/// Starts the worker of benchmarks.
pub fn start_benchmarks() {
    start(
        |scope| of_models(Session::for_benchmarks(), scope),
        (Decoder::<Ask>::BENCHMARKS, Encoder::<Message>::BENCHMARKS),
        None,
    );
}

/// Starts the worker of studies and experiments.
pub fn start_studies() {
    start(
        |scope| of_models(Session::for_studies(), scope).with_recorder(Rc::new(PagePython)),
        (Decoder::<Ask>::STUDIES, Encoder::<Message>::STUDIES),
        None,
    );
}

/// A session with what measuring and model files need.
fn of_models(session: Session, scope: &DedicatedWorkerGlobalScope) -> Session {
    session.with_clock(Rc::new(WorkerClock::new(scope.clone()))).with_model_reader(read_model)
}

/// Listens and reports that the worker is ready. Does nothing outside a worker.
fn start(session: fn(&DedicatedWorkerGlobalScope) -> Session, parts: Parts, warm_up: Option<fn() -> usize>) {
    let Ok(scope) = js_sys::global().dyn_into::<DedicatedWorkerGlobalScope>() else { return };
    install_panic_hook();
    let Ok(channel) = MessageChannel::new() else {
        post_text(&scope, "this browser has no MessageChannel");
        return;
    };
    let host = Rc::new(RefCell::new(Host {
        scope: scope.clone(),
        session: session(&scope),
        parts,
        next_step: channel.port2(),
        is_scheduled: false,
        budget: 50_000,
        progress_ms: f64::NEG_INFINITY,
        is_fresh: true,
    }));

    let on_step = {
        let host = Rc::clone(&host);
        Closure::<dyn FnMut(MessageEvent)>::new(move |_| host.borrow_mut().step())
    };
    channel.port1().set_onmessage(Some(on_step.as_ref().unchecked_ref()));
    on_step.forget(); // lives as long as the worker

    let on_message = {
        let host = Rc::clone(&host);
        Closure::<dyn FnMut(MessageEvent)>::new(move |event: MessageEvent| host.borrow_mut().take(&event.data()))
    };
    scope.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
    on_message.forget(); // lives as long as the worker

    life::hold(&scope, |scope| {
        post(scope, Encoder::<Message>::PROFILES, Event::Ready { protocol: PROTOCOL_VERSION, build: build_id() });
    });
    if let Some(warm_up) = warm_up {
        warm_up_later(warm_up, host, WARM_UP_AFTER_MS, WARM_UP_ROUNDS);
    }
}

/// Warms up while no job is waiting.
fn warm_up_later(warm_up: fn() -> usize, host: Rc<RefCell<Host>>, after_ms: u32, rounds: u32) {
    Timeout::new(after_ms, move || {
        if rounds > 0 && host.borrow().is_fresh {
            warm_up();
            warm_up_later(warm_up, host, WARM_UP_EVERY_MS, rounds - 1);
        }
    })
    .forget();
}

impl Host {
    fn take(&mut self, data: &JsValue) {
        self.is_fresh = false;
        let unpacked =
            envelope::unpack(data).and_then(|(bytes, beside)| Ok((decode_request(&bytes, self.parts.0)?, beside)));
        match unpacked {
            Ok((request, beside)) => match beside.and_then(|b| b.dyn_into().ok()).map(FileSource::new).transpose() {
                Ok(source) => {
                    self.session.handle(request, source.map(|s| Box::new(s) as Box<dyn ByteSource>));
                    self.schedule();
                }
                Err(message) => {
                    if let Some(job) = request.job() {
                        post(&self.scope, self.parts.1, Event::Message(job, Message::Failed(message)));
                    }
                }
            },
            Err(message) => post_text(&self.scope, &message),
        }
    }

    fn schedule(&mut self) {
        if !self.is_scheduled {
            self.is_scheduled = self.next_step.post_message(&JsValue::NULL).is_ok();
        }
    }

    /// Waits a little if the last step waited for Python; returns whether it did.
    fn rest(&mut self) -> bool {
        let port = self.next_step.clone();
        self.is_scheduled = recorder::rest(move || drop(port.post_message(&JsValue::NULL)));
        self.is_scheduled
    }

    fn step(&mut self) {
        self.is_scheduled = false;
        let scope = &self.scope;
        let start = now_ms(scope);
        let (progress_ms, answers) = (&mut self.progress_ms, self.parts.1);
        let result = self.session.step(self.budget, &mut |event| {
            if matches!(event, Event::Message(_, Message::Progress { .. })) {
                let now = now_ms(scope);
                if now - *progress_ms < PROGRESS_MS {
                    return;
                }
                *progress_ms = now;
            }
            post(scope, answers, event);
        });
        let took = now_ms(scope) - start;
        // The budget only decides how often the worker reads messages; no result depends on it.
        if took < STEP_MS / 2.0 {
            self.budget = (self.budget * 2).min(MOST_BUDGET);
        } else if took > STEP_MS * 2.0 {
            self.budget = (self.budget / 2).max(LEAST_BUDGET);
        }
        if result == StepResult::More && !self.rest() {
            self.schedule();
        }
    }
}

fn now_ms(scope: &DedicatedWorkerGlobalScope) -> f64 {
    scope.performance().map_or(0.0, |p| p.now())
}

fn post(scope: &DedicatedWorkerGlobalScope, answers: Encoder<Message>, event: Event) {
    let (event, file) = beside(event);
    let sent = encode_event(event, answers).and_then(|bytes| {
        let e = envelope::pack(&bytes, file.as_ref());
        scope.post_message_with_transfer(&e.message, &e.transfer).map_err(|error| error_text(&error))
    });
    if let Err(message) = sent {
        post_text(scope, &message);
    }
}

/// The file that goes with a message: the page passes it on and never holds its bytes.
fn beside(event: Event) -> (Event, Option<Blob>) {
    let Event::Message(job, Message::File(made)) = event else { return (event, None) };
    match download::blob(&made.mime, &made.bytes) {
        Ok(file) => (Event::Message(job, Message::File(ExportedFile { bytes: Vec::new(), ..made })), Some(file)),
        Err(message) => (Event::Message(job, Message::Failed(message)), None),
    }
}
