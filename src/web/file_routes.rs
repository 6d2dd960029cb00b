//! Where files go: each to the page that reads it, by its first bytes.

use std::cell::RefCell;
use std::rc::Rc;

use wasm_bindgen_futures::spawn_local;
use web_sys::File;
use yew::Callback;

use super::bridge;
use super::platform::files::read_head;
use super::platform::folder::bundle_as;
use super::platform::{page, url};
use crate::state::StateDispatcher;
use ns_base::Refusal;
use ns_page::file_queue::{FileQueue, FileQueueAction};
use ns_page::notices::{NoticeAction, Notices, Tone};
use ns_session::share::Page;
use ns_session::{HEAD_BYTES, Kind, calls_neuronperf, may_have_files_beside, refuse_script, sniff};

/// Sends files to the page that reads them, by what their first bytes say that they are. Until then they wait in the queue.
pub fn on_files(
    current: Page,
    file_queue: StateDispatcher<FileQueue>,
    notices: StateDispatcher<Notices>,
    profiles: Callback<Vec<File>>,
    models: Callback<File>,
    last_model: LastModel,
) -> Callback<Vec<File>> {
    Callback::from(move |files: Vec<File>| {
        let (file_queue, notices) = (file_queue.clone(), notices.clone());
        let (profiles, models, last_model) = (profiles.clone(), models.clone(), last_model.clone());
        notices.dispatch(NoticeAction::Leave);
        let names: Vec<String> = files.iter().map(File::name).collect();
        page::leave_example();
        file_queue.dispatch(FileQueueAction::Add(names.clone()));
        spawn_local(async move {
            let (mut sorted, mut models_here, mut unknown) = (Sorted::default(), Vec::new(), Vec::new());
            for file in files {
                let (kind, script) = kind_of(&file).await;
                match (script, kind) {
                    (Some(refusal), _) => notices.dispatch(NoticeAction::Say(Tone::Bad, refusal.to_string())),
                    (None, Kind::Model) => models_here.push(file),
                    (None, Kind::NotOurs(_)) => unknown.push(file),
                    (None, kind) => sorted.add(page_of(kind, current), [file]),
                }
            }
            match with_files_beside(&models_here, &unknown) {
                Some(Ok(model)) => models_here = vec![model],
                Some(Err(message)) => notices.dispatch(NoticeAction::Say(Tone::Bad, message)),
                None => sorted.add(page_of(Kind::NotOurs(""), current), unknown),
            }
            let rest = sorted.take(Page::Profile);
            for (page, files) in sorted.0 {
                give(current, page, false, files);
            }
            let page = page_of(Kind::Model, current);
            if let Some(model) = models_here.last() {
                last_model.note(model, page);
            }
            match page {
                Page::Profile => models_here.into_iter().for_each(|file| models.emit(file)),
                page => give(current, page, true, models_here),
            }
            profiles.emit(rest);
            file_queue.dispatch(FileQueueAction::Remove(names));
        });
    })
}

/// The page that reads a file of a kind which was dropped on a page. The page of experiments also compares reports, and says of an archive and
/// of an unknown file what it lacks; elsewhere the readers of profiles do.
const fn page_of(kind: Kind, current: Page) -> Page {
    match (kind, current) {
        (Kind::Model, Page::Profile | Page::Numerics) => current,
        (Kind::Model, Page::Benchmark | Page::Home) | (Kind::Index, _) => Page::Benchmark,
        (Kind::Model, _) => Page::Inspect,
        (Kind::Profile, _) => Page::Profile,
        (Kind::Kernel, _) => Page::Customop,
        (Kind::Nki, _) => Page::Nki,
        (Kind::Decoder, _) => Page::Llm,
        (Kind::Records, _) | (_, Page::Experiments) => Page::Experiments,
        (Kind::Figures, _) => Page::Fidelity,
        (Kind::Reports, _) => Page::Benchmark,
        // A table of numbers is a data set there.
        (Kind::NotOurs(_), Page::Numerics) => Page::Numerics,
        (Kind::Archive | Kind::NotOurs(_), _) => Page::Profile,
    }
}

/// Files by the page that reads them, in the order in which the pages were first needed.
#[derive(Default)]
struct Sorted(Vec<(Page, Vec<File>)>);

impl Sorted {
    fn add(&mut self, page: Page, files: impl IntoIterator<Item = File>) {
        match self.0.iter_mut().find(|(other, _)| *other == page) {
            Some((_, of_page)) => of_page.extend(files),
            None => self.0.push((page, files.into_iter().collect())),
        }
    }

    fn take(&mut self, page: Page) -> Vec<File> {
        let at = self.0.iter().position(|(other, _)| *other == page);
        at.map(|at| self.0.remove(at).1).unwrap_or_default()
    }
}

/// The model file that was given last, and the pages that open it when they are shown next.
#[derive(Clone, Default, PartialEq)]
pub struct LastModel(Rc<RefCell<(Option<File>, Vec<Page>)>>);

impl LastModel {
    /// Notes a file that a page has opened.
    fn note(&self, file: &File, opened_on: Page) {
        let others = [Page::Benchmark, Page::Inspect, Page::Profile, Page::Numerics]
            .into_iter()
            .filter(|page| *page != opened_on);
        *self.0.borrow_mut() = (Some(file.clone()), others.collect());
    }

    /// Whether a page is yet to open the file.
    pub fn waits_for(&self, page: Page) -> bool {
        self.0.borrow().1.contains(&page)
    }

    /// The file, for a page that is yet to open it.
    pub fn take_for(&self, page: Page) -> Option<File> {
        let mut last = self.0.borrow_mut();
        let at = last.1.iter().position(|other| *other == page)?;
        last.1.remove(at);
        last.0.clone()
    }
}

/// What a file is, and for a Python script what to do instead; a call of NeuronPerf goes where its results go. A file that cannot be read goes to the reader of profiles, which says so.
async fn kind_of(file: &File) -> (Kind, Option<Refusal>) {
    let Some(head) = read_head(file, HEAD_BYTES).await else { return (Kind::Profile, None) };
    let name = file.name();
    if calls_neuronperf(&name, &head) {
        return (Kind::Reports, None);
    }
    match sniff(&head, &name) {
        kind @ (Kind::Nki | Kind::Kernel) => (kind, None),
        kind => (kind, refuse_script(&name, &head, &[], |_| None)),
    }
}

/// A model with the files of its weights as one file; `None` if there is not one model whose weights may lie in other files, or no other file.
fn with_files_beside(models: &[File], others: &[File]) -> Option<Result<File, String>> {
    let [model] = models else { return None };
    let name = model.name();
    let all = [std::slice::from_ref(model), others].concat();
    (!others.is_empty() && may_have_files_beside(&name)).then(|| bundle_as(&name, &all))
}

/// Gives files to a page of the lab, and shows it.
fn give(current: Page, page: Page, are_models: bool, files: Vec<File>) {
    if files.is_empty() {
        return;
    }
    if page != current {
        url::go(&page.hash());
    }
    bridge::give_lab(page, are_models, files);
}
