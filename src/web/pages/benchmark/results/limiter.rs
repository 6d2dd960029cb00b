//! The busiest unit in a call of the best row, from one simulated call of it.

use yew::prelude::*;

use crate::context::use_app;
use crate::worker::Program;
use ns_session::{InspectAsk, InspectField, InspectSpec, JobRequest, JobResult, Message};

#[derive(Properties, PartialEq)]
pub struct LimiterLineProps {
    /// The model, the instance and the batch size of the row; none while rows still come.
    pub of: Option<(AttrValue, AttrValue, u32)>,
}

/// The sentence that Overview and Inspect say of the same call. Its line is there from the start, so that nothing moves when it comes.
#[component]
pub fn LimiterLine(props: &LimiterLineProps) -> Html {
    let sentence = use_state(|| (None, String::new()));
    let app = use_app();
    let found = sentence.clone();
    use_effect_with(props.of.clone(), move |of| {
        let (Some(of), Some(app)) = (of.clone(), app) else { return };
        let Ok(engine) = app.pool.shared(Program::Benchmarks) else { return };
        let (model, instance, batch) = &of;
        let spec = InspectSpec::default()
            .with(InspectField::Model, model)
            .with(InspectField::Instance, instance)
            .with(InspectField::Batch, &batch.to_string());
        let on_message = Callback::from(move |message: Message| {
            if let Message::Done(JobResult::Inspected(inspection)) = message {
                found.set((Some(of.clone()), inspection.limiter));
            }
        });
        engine.send(JobRequest::Inspect(InspectAsk::Show(Box::new(spec))), None, on_message);
    });
    let (of, text) = &*sentence;
    let text = match of.as_ref().filter(|_| *of == props.of) {
        Some((_, instance, batch)) if !text.is_empty() => format!("One call on {instance} at batch {batch}: {text}"),
        _ => String::new(),
    };
    // Rows of files have no call that could be simulated.
    html! { if props.of.is_some() { <p class="limiter" role="status">{ text }</p> } }
}
