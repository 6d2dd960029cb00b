//! Where files go: each to the page that reads it, by its first bytes.

use std::cell::RefCell;
use std::rc::Rc;

use wasm_bindgen_futures::spawn_local;
use web_sys::File;
use yew::Callback;

use super::bridge::{self, FileContent};
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
            let mut sorted: [Vec<File>; 6] = Default::default();
            let mut unknown: Vec<File> = Vec::new();
            for file in files {
                let (kind, script) = kind_of(&file).await;
                if let Some(refusal) = script {
                    notices.dispatch(NoticeAction::Say(Tone::Bad, refusal.to_string()));
                    continue;
                }
                match kind {
                    Kind::NotOurs(_) => unknown.push(file),
                    _ => sorted[reader_of(kind, current) as usize].push(file),
                }
            }
            match with_files_beside(&sorted[Reader::Models as usize], &unknown) {
                Some(Ok(model)) => sorted[Reader::Models as usize] = vec![model],
                Some(Err(message)) => notices.dispatch(NoticeAction::Say(Tone::Bad, message)),
                None => sorted[reader_of(Kind::NotOurs(""), current) as usize].extend(unknown),
            }
            let [records, reports, of_models, kernels, decoders, rest] = sorted;
            give(current, Page::Experiments, FileContent::Results, records);
            give(current, Page::Benchmark, FileContent::Results, reports);
            give(current, Page::Customop, FileContent::Kernels, kernels);
            give(current, Page::Llm, FileContent::Decoders, decoders);
            if let Some(model) = of_models.last() {
                last_model.note(model, page_of_model(current));
            }
            match current {
                Page::Profile => of_models.into_iter().for_each(|file| models.emit(file)),
                _ => give(current, page_of_model(current), FileContent::Models, of_models),
            }
            profiles.emit(rest);
            file_queue.dispatch(FileQueueAction::Remove(names));
        });
    })
}

/// The page that shows a model that was dropped on a page.
const fn page_of_model(current: Page) -> Page {
    match current {
        Page::Profile | Page::Numerics => current,
        Page::Benchmark | Page::Home => Page::Benchmark,
        _ => Page::Inspect,
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
    #[must_use]
    pub fn waits_for(&self, page: Page) -> bool {
        self.0.borrow().1.contains(&page)
    }

    /// The file, for a page that is yet to open it.
    #[must_use]
    pub fn take_for(&self, page: Page) -> Option<File> {
        let mut last = self.0.borrow_mut();
        let at = last.1.iter().position(|other| *other == page)?;
        last.1.remove(at);
        last.0.clone()
    }
}

/// Who reads a file.
#[derive(Clone, Copy)]
enum Reader {
    Experiments,
    Benchmark,
    Models,
    Kernels,
    Decoders,
    Profiles,
}

/// Who reads a file of a kind that was dropped on a page. The page of experiments also compares reports, and says of an archive and of an
/// unknown file what it lacks; elsewhere the readers of profiles do.
const fn reader_of(kind: Kind, current: Page) -> Reader {
    match (kind, current) {
        (Kind::Model, _) => Reader::Models,
        (Kind::Profile, _) => Reader::Profiles,
        (Kind::Kernel, _) => Reader::Kernels,
        (Kind::Decoder, _) => Reader::Decoders,
        (Kind::Index, _) => Reader::Benchmark,
        (Kind::Records, _) | (_, Page::Experiments) => Reader::Experiments,
        (Kind::Reports, _) => Reader::Benchmark,
        (Kind::Archive | Kind::NotOurs(_), _) => Reader::Profiles,
    }
}

/// What a file is, and for a Python script what to do instead; a call of NeuronPerf goes where its results go. A file that cannot be read goes to the reader of profiles, which says so.
async fn kind_of(file: &File) -> (Kind, Option<Refusal>) {
    let Some(head) = read_head(file, HEAD_BYTES).await else { return (Kind::Profile, None) };
    let name = file.name();
    if calls_neuronperf(&name, &head) {
        return (Kind::Reports, None);
    }
    (sniff(&head, &name), refuse_script(&name, &head, &[], |_| None))
}

/// A model with the files of its weights as one file; `None` if there is not one model whose weights may lie in other files, or no other file.
fn with_files_beside(models: &[File], others: &[File]) -> Option<Result<File, String>> {
    let [model] = models else { return None };
    let name = model.name();
    let all = [std::slice::from_ref(model), others].concat();
    (!others.is_empty() && may_have_files_beside(&name)).then(|| bundle_as(&name, &all))
}

/// Gives files to a page of the lab, and shows it.
fn give(current: Page, page: Page, content: FileContent, files: Vec<File>) {
    if files.is_empty() {
        return;
    }
    if page != current {
        url::go(&page.hash());
    }
    bridge::give_lab(page, content, files);
}
