//! The pool of workers. Each profile has its own worker, so that closing a profile frees its memory (wasm memory never
//! shrinks), and a file that crashes its worker does not affect other files. One worker is always kept warm.
//!
//! A model file that the user brings is opened in one worker. All other workers, also later ones, keep a handle of it, so that
//! any of them can run it; a worker that never runs it never reads it.

use std::cell::{RefCell, RefMut};
use std::rc::Rc;

use gloo_timers::callback::Timeout;
use web_sys::File;
use yew::Callback;

use super::client::WeakEngine;
use super::{Engine, Program};
use ns_base::convert::f64_to_u64;
use ns_page::Shared;
use ns_session::share::LinkedFile;
use ns_session::{Catalog, JobRequest, JobResult, Message, ModelFileRef, ModelFileSettings, OpenedModel};

/// Delay until a taken worker is replaced by a new one: compiling its program would take the processors from the work of the first.
const WARM_UP_MS: u32 = 2_500;

/// The pool of workers. Clones share it.
#[derive(Clone, Default)]
pub struct Pool(Rc<RefCell<Workers>>);

#[derive(Default)]
struct Workers {
    lanes: [Lane; Program::COUNT],
    /// All workers of models that were started, whoever owns them.
    started: Vec<WeakEngine>,
    models: Vec<ModelFile>,
    /// Model files that are being read from the browser's store.
    awaited: Vec<String>,
    /// Callback for changes of the open model files.
    on_models: Option<Callback<Models>>,
    /// The catalog, for answers that come to a page that was drawn before it.
    catalog: Option<Shared<Catalog>>,
}

/// The workers of one program.
#[derive(Default)]
struct Lane {
    /// A worker that waits for work.
    spare: Option<Engine>,
    /// The one for short work.
    shared: Option<Engine>,
}

/// The model files of a page.
#[derive(Clone, Default, PartialEq)]
pub struct Models {
    /// Facts about the open ones.
    pub known: Vec<KnownModel>,
    /// Whether a file is being read from the browser's store: its runs have to wait.
    pub is_awaited: bool,
}

/// A model file that is open, and how links name it.
pub type KnownModel = Shared<(OpenedModel, LinkedFile)>;

/// A model file that every worker has.
#[derive(Clone)]
struct ModelFile {
    content: ModelSource,
    /// Its name in requests.
    id: String,
    /// Its content, once a worker has reported it.
    known: Option<KnownModel>,
}

/// The way in which a worker gets a model file.
#[derive(Clone)]
enum ModelSource {
    /// The user chose the file.
    File(File, ModelFileSettings),
    /// A link holds the file; the callback receives the message if it cannot be read.
    Link(String, Callback<String>),
}

impl ModelFile {
    fn open(&self, engine: &Engine, on_message: Callback<Message>) {
        match &self.content {
            ModelSource::File(file, settings) => {
                let (name, size, settings) = (file.name(), size_of(file), Box::new(settings.clone()));
                engine.send(JobRequest::OpenModel { name, size, settings }, Some(file.clone()), on_message);
            }
            ModelSource::Link(packed, _) => {
                engine.send(JobRequest::OpenLinkedModel(packed.clone()), None, on_message);
            }
        }
    }

    /// Makes a worker keep a handle of the user's file. The worker reports what is wrong with the file when a request names it.
    fn keep(&self, engine: &Engine, file: &File) {
        let (name, size) = (file.name(), size_of(file));
        engine.send(JobRequest::KeepModel { name, size }, Some(file.clone()), Callback::noop());
    }
}

fn size_of(file: &File) -> u64 {
    f64_to_u64(file.size())
}

/// The content of the file that a model's text names: its digest, or its name if the text has none.
fn content_of(id: &str) -> Option<String> {
    ModelFileRef::of(id).map(|file| file.digest.unwrap_or(file.name))
}

impl PartialEq for Pool {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

impl Pool {
    /// A worker for the caller alone, usually a warm one. Fails if the browser starts no worker.
    pub fn take(&self, program: Program) -> Result<Engine, String> {
        let waiting = {
            let mut lane = self.lane(program);
            // The shared one, if nothing runs there: a page that has just started has no other yet.
            lane.spare.take().filter(Engine::is_alive).or_else(|| lane.shared.take_if(|engine| engine.is_free()))
        };
        let engine = waiting.map_or_else(|| self.spawn(program), Ok)?;
        let pool = self.clone();
        Timeout::new(WARM_UP_MS, move || pool.warm_up(program)).forget();
        Ok(engine)
    }

    fn lane(&self, program: Program) -> RefMut<'_, Lane> {
        RefMut::map(self.0.borrow_mut(), |workers| &mut workers.lanes[program as usize])
    }

    /// Keeps the catalog that a worker sent.
    pub fn keep_catalog(&self, catalog: Shared<Catalog>) {
        self.0.borrow_mut().catalog = Some(catalog);
    }

    /// The catalog, once a worker has sent it.
    pub fn catalog(&self) -> Option<Shared<Catalog>> {
        self.0.borrow().catalog.clone()
    }

    /// A worker for a short question that each of them answers: one that runs, else a new one of this program. Fails if the browser
    /// starts no worker.
    pub fn any(&self, program: Program) -> Result<Engine, String> {
        self.running(&[program]).map_or_else(
            || {
                let engine = self.spawn(program)?;
                self.lane(program).spare = Some(engine.clone());
                Ok(engine)
            },
            Ok,
        )
    }

    /// A shared worker, or one of these programs that waits.
    fn running(&self, waiting: &[Program]) -> Option<Engine> {
        let workers = self.0.borrow();
        let shared = workers.lanes.iter().map(|lane| &lane.shared);
        let spare = waiting.iter().map(|program| &workers.lanes[*program as usize].spare);
        shared.chain(spare).flatten().find(|engine| engine.is_alive()).cloned()
    }

    /// The worker for short work, and for runs that have a worker alone. Fails if the browser starts no worker.
    pub fn shared(&self, program: Program) -> Result<Engine, String> {
        let running = self.lane(program).shared.clone().filter(Engine::is_alive);
        if let Some(engine) = running {
            return Ok(engine);
        }
        let engine = self.take(program)?;
        self.lane(program).shared = Some(engine.clone());
        Ok(engine)
    }

    /// Opens a model file in one worker, and makes the others keep it; `on_message` receives what that worker reports.
    pub fn open_model(&self, file: File, settings: ModelFileSettings, on_message: Callback<Message>) {
        let running = self.running(&[Program::Benchmarks, Program::Studies]);
        let engine = match running.map_or_else(|| self.shared(Program::Benchmarks), Ok) {
            Ok(engine) => engine,
            Err(message) => return on_message.emit(Message::Failed(message)),
        };
        let (pool, at) = (self.clone(), engine.clone());
        let model =
            ModelFile { content: ModelSource::File(file.clone(), settings.clone()), id: String::new(), known: None };
        let then = Callback::from(move |message: Message| {
            if let Message::Done(JobResult::Model(found)) = &message {
                pool.adopt(&at, file.clone(), settings.clone(), (**found).clone());
            }
            on_message.emit(message);
        });
        model.open(&engine, then);
    }

    /// Keeps a model file that one worker has opened, and opens it in all others.
    pub fn adopt(&self, opened_in: &Engine, file: File, settings: ModelFileSettings, known: (OpenedModel, LinkedFile)) {
        let (id, content) = (known.0.id.clone(), ModelSource::File(file, settings));
        let model = ModelFile { content, id, known: Some(Shared::new(known)) };
        for engine in self.at_work().iter().filter(|engine| *engine != opened_in) {
            self.hand(&model, engine);
        }
        self.0.borrow_mut().models.retain(|m| content_of(&m.id) != content_of(&model.id));
        self.0.borrow_mut().models.push(model);
        self.tell_models();
    }

    /// Opens the model file that a link holds in all workers, unless it is open. Each worker reads it before the requests that follow.
    pub fn open_linked(&self, id: &str, packed: &str, on_failure: Callback<String>) {
        if content_of(id).is_none() || self.has_model(id) {
            return;
        }
        let content = ModelSource::Link(packed.to_owned(), on_failure.clone());
        let model = ModelFile { content, id: id.to_owned(), known: None };
        self.0.borrow_mut().models.push(model.clone());
        let workers = self.at_work();
        workers.iter().for_each(|engine| self.open_in(&model, engine));
        // A worker that starts gets all models.
        if let (true, Err(message)) = (workers.is_empty(), self.shared(Program::Benchmarks)) {
            on_failure.emit(message);
        }
    }

    /// Whether a model file is open, or is being read from the browser's store.
    pub fn has_model(&self, id: &str) -> bool {
        let workers = self.0.borrow();
        let mut ids = workers.models.iter().map(|m| &m.id).chain(&workers.awaited);
        ids.any(|open| content_of(open) == content_of(id))
    }

    /// Notes that a model file is being read from the browser's store.
    pub fn await_model(&self, id: &str) {
        self.0.borrow_mut().awaited.push(id.to_owned());
        self.tell_models();
    }

    /// Notes that an awaited model file is open, or will not come.
    pub fn end_awaiting(&self, id: &str) {
        self.0.borrow_mut().awaited.retain(|awaited| awaited != id);
        self.tell_models();
    }

    /// Calls back with the facts about the open model files, now and after each change.
    pub fn watch_models(&self, on_models: Callback<Models>) {
        self.0.borrow_mut().on_models = Some(on_models);
        self.tell_models();
    }

    fn tell_models(&self) {
        let (watcher, models) = {
            let workers = self.0.borrow();
            let known = workers.models.iter().filter_map(|m| m.known.clone()).collect();
            (workers.on_models.clone(), Models { known, is_awaited: !workers.awaited.is_empty() })
        };
        if let Some(watcher) = watcher {
            watcher.emit(models);
        }
    }

    fn at_work(&self) -> Vec<Engine> {
        self.0.borrow().started.iter().filter_map(WeakEngine::upgrade).collect()
    }

    /// Gives a worker a model file: a file that the user chose is read there when a request names it.
    fn hand(&self, model: &ModelFile, engine: &Engine) {
        match &model.content {
            ModelSource::File(file, _) => model.keep(engine, file),
            ModelSource::Link(..) => self.open_in(model, engine),
        }
    }

    fn open_in(&self, model: &ModelFile, engine: &Engine) {
        let (pool, id, content) = (self.clone(), model.id.clone(), model.content.clone());
        let on_message = Callback::from(move |message: Message| match (message, &content) {
            (Message::Done(JobResult::Model(found)), ModelSource::Link(..)) => pool.learn(&id, *found),
            (Message::Failed(message), ModelSource::Link(_, on_failure)) if pool.forget_model(&id) => {
                on_failure.emit(message);
            }
            // For a file that the user chose, the worker that opened it reports to the page; other workers' answers are ignored.
            (Message::Done(_) | Message::Failed(_) | Message::Cancelled, _) => {}
            (Message::Progress { .. } | Message::Note(_) | Message::Paused | Message::Part(_), _) => {}
            (Message::Answer(_) | Message::File(_), _) => {}
        });
        model.open(engine, on_message);
    }

    /// Keeps the facts that a worker reported about the file of a link.
    fn learn(&self, id: &str, found: (OpenedModel, LinkedFile)) {
        let is_new = {
            let mut workers = self.0.borrow_mut();
            let model = workers.models.iter_mut().find(|m| m.id == id && m.known.is_none());
            model.map(|model| model.known = Some(Shared::new(found))).is_some()
        };
        if is_new {
            self.tell_models();
        }
    }

    /// Removes a file that cannot be read; returns whether it was there.
    fn forget_model(&self, id: &str) -> bool {
        let models = &mut self.0.borrow_mut().models;
        let before = models.len();
        models.retain(|m| m.id != id);
        models.len() < before
    }

    /// A new worker, with all model files if it works with models.
    fn spawn(&self, program: Program) -> Result<Engine, String> {
        let engine = Engine::spawn(program)?;
        if program == Program::Viewer {
            return Ok(engine);
        }
        let models = self.0.borrow().models.clone();
        models.iter().for_each(|model| self.hand(model, &engine));
        let started = &mut self.0.borrow_mut().started;
        started.retain(|e| e.upgrade().is_some());
        started.push(engine.downgrade());
        Ok(engine)
    }

    /// Starts the worker that waits for work of this kind, unless there is one.
    pub fn warm_up(&self, program: Program) {
        let is_waiting = self.lane(program).spare.as_ref().is_some_and(Engine::is_alive);
        if !is_waiting {
            // A refusal is reported when a worker is needed.
            let spare = self.spawn(program).ok();
            self.lane(program).spare = spare;
        }
    }
}
