//! Progress of a run.

use yew::prelude::*;

use ns_base::convert::u64_to_f64;
use ns_base::units::{format_count, format_whole_share};
use ns_page::RunState;

/// A bar while a job runs, a line if it stopped early, otherwise nothing.
pub fn progress_bar(run: &RunState) -> Html {
    match run {
        RunState::Running { done, total, label } => {
            let share = (*total > 0).then(|| (u64_to_f64(*done) / u64_to_f64(*total)).clamp(0.0, 1.0));
            let text = match share {
                Some(share) => format!("{label} \u{2013} {}", format_whole_share(share * 100.0)),
                None if *done > 0 => format!("{label} \u{2013} {}", format_count(*done)),
                None => label.clone(),
            };
            html! {
                <div class="progress">
                    <progress aria-label={label.clone()} max="1" value={share.map(|s| s.to_string())}></progress>
                    <p role="status">{ text }</p>
                </div>
            }
        }
        RunState::Cancelled => {
            html! { <p class="progress note" role="status">{ "Cancelled. Finished results are kept." }</p> }
        }
        RunState::Failed(message) => html! { <p class="progress error-box" role="alert">{ message }</p> },
        RunState::Idle | RunState::Done => Html::default(),
    }
}
