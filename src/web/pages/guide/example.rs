//! An example of the guide: a link, a command and, for a study, a run in place, whose result is kept.

use std::rc::Rc;

use yew::prelude::*;

use crate::components::{DocumentView, DrawBlock, copy_text, drawings, on, progress_bar};
use crate::context::{AppContext, RunningJob, use_app};
use crate::shelf;
use crate::worker::{Engine, Program};
use ns_page::RunState;
use ns_page::Shared;
use ns_page::notices::{NoticeAction, Tone};
use ns_session::guide::Example;
use ns_session::results::KeptStudy;
use ns_session::share::Address;
use ns_session::studies::{StudyKind, StudySpec};
use ns_session::{JobId, JobRequest, JobResult, Message, ResultPart};
use ns_view::document::Document;

#[derive(Properties)]
pub struct ExampleCardProps {
    pub example: &'static Example,
}

impl PartialEq for ExampleCardProps {
    fn eq(&self, other: &Self) -> bool {
        self.example.link == other.example.link
    }
}

#[component]
pub fn ExampleCard(props: &ExampleCardProps) -> Html {
    let example = props.example;
    let run = use_state_eq(|| RunState::Idle);
    // A result that the browser kept stays visible when the user comes back, also from the page of the example.
    let document = use_state(|| {
        let kept = study_of(example.link).and_then(|spec| shelf::kept_result(&spec));
        kept.map(|kept: KeptStudy| Shared::new(kept.result.document))
    });
    let job = use_mut_ref(|| None::<(Engine, JobId)>);
    // Leaving the page stops the run: nobody sees its result.
    use_effect_with((), {
        let job = job.clone();
        move |()| {
            move || {
                if let Some((engine, job)) = job.borrow_mut().take() {
                    engine.forget(job);
                }
            }
        }
    });
    let Some(app) = use_app() else { return Html::default() };
    let start = starter(example, &app, &run, &document, &job);
    let cancel = on(job.clone(), |job, _: MouseEvent| {
        let running = job.borrow().clone();
        if let Some((engine, job)) = running {
            engine.cancel(job);
        }
    });
    let copy = Callback::from(move |_: MouseEvent| copy_text(&app.notices, "command line", example.command, ""));
    let is_running = run.is_running();
    html! {
        <li class="panel card">
            <h3>{ example.title }</h3>
            <p>{ example.shows }</p>
            if !example.command.is_empty() {
                <pre class="command" tabindex="0" aria-label={format!("Command of: {}", example.title)}>{ example.command }</pre>
            }
            <div class="buttons">
                <a class="button primary" href={example.link} aria-label={format!("Open: {}", example.title)}>{ "Open" }</a>
                if study_of(example.link).is_some() {
                    <button type="button" onclick={start} disabled={is_running} aria-label={format!("Run here: {}", example.title)}>{ "Run here" }</button>
                }
                if is_running { <button type="button" onclick={cancel}>{ "Cancel" }</button> }
                <button type="button" onclick={copy} aria-label={format!("Copy command: {}", example.title)}>{ "Copy command" }</button>
            </div>
            if !matches!(*run, RunState::Idle | RunState::Done) { { progress_bar(&run) } }
            if let Some(document) = &*document { <DocumentView document={document.clone()} draw={DrawBlock(drawings)} /> }
        </li>
    }
}

/// Runs the study in place.
fn starter(
    example: &'static Example,
    app: &AppContext,
    run: &UseStateHandle<RunState>,
    document: &UseStateHandle<Option<Shared<Document>>>,
    job: &RunningJob,
) -> Callback<MouseEvent> {
    let (app, run, document, job) = (app.clone(), run.setter(), document.setter(), Rc::clone(job));
    Callback::from(move |_: MouseEvent| {
        let Some(spec) = study_of(example.link) else { return };
        let engine = match app.pool.take(Program::Studies) {
            Ok(engine) => engine,
            Err(message) => return run.set(RunState::Failed(message)),
        };
        run.set(RunState::started("Starting"));
        let (on_run, on_document, slot) = (run.clone(), document.clone(), Rc::clone(&job));
        let (notices, asked) = (app.notices.clone(), spec.clone());
        let on_message = Callback::from(move |message: Message| {
            if message.is_last() {
                slot.borrow_mut().take();
            }
            match message {
                Message::Part(ResultPart::Study(result)) => on_document.set(Some(Shared::new(result.document))),
                Message::Done(JobResult::Study(result)) => {
                    if let Err(message) = shelf::keep_study(asked.clone(), (*result).clone()) {
                        notices.dispatch(NoticeAction::Say(Tone::Info, message));
                    }
                    on_document.set(Some(Shared::new(result.document)));
                    on_run.set(RunState::Done);
                }
                other => RunState::of_message(other).into_iter().for_each(|run| on_run.set(run)),
            }
        });
        let sent = engine.send(JobRequest::Study(Box::new(spec), String::new()), None, on_message);
        if engine.is_alive() {
            *job.borrow_mut() = Some((engine, sent));
        }
    })
}

/// The study that a link shows; `None` for links to other pages, and for a study whose result is no document.
fn study_of(link: &str) -> Option<StudySpec> {
    let mut address = Address::read(link);
    let kind = address.page().study().filter(|kind| *kind != StudyKind::Numerics)?;
    Some(address.study(kind))
}
