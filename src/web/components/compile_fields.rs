//! The compiler's options, named like its flags.

use yew::prelude::*;

use super::{SelectField, on, pairs};
use ns_session::studies::{AUTO_CAST_TYPES, AUTO_CASTS, OPT_LEVELS};
use ns_session::{AutoCast, CastType, CompileOptions, OptLevel};

#[derive(Properties, PartialEq)]
pub struct CompileFieldsProps {
    /// Prefix of the fields' ids.
    pub id: AttrValue,
    /// The chosen options.
    pub options: CompileOptions,
    /// Receives changed options.
    pub on_change: Callback<CompileOptions>,
}

/// Four fields, folded under the resulting flags until an option differs from its default.
#[component]
pub fn CompileFields(props: &CompileFieldsProps) -> Html {
    let options = props.options;
    // Unfolded fields stay so when the options return to the defaults.
    let is_open = use_mut_ref(|| false);
    *is_open.borrow_mut() |= options != CompileOptions::default();
    let field = |name: &str,
                 label: &'static str,
                 value: String,
                 choices: &[(&'static str, &'static str)],
                 change: fn(&mut CompileOptions, &str)| {
        let on_choose = on(props.on_change.clone(), move |on_change, text: String| {
            let mut next = options;
            change(&mut next, &text);
            on_change.emit(next);
        });
        html! { <SelectField id={format!("{}-{name}", props.id)} {label} {value} options={pairs(choices)} {on_choose} /> }
    };
    html! {
        <details class="advanced" open={*is_open.borrow()}>
            <summary>{ "Compiler: " }<code>{ options.to_string() }</code></summary>
            <div class="fields">
                { field("auto-cast", "Auto-cast", options.auto_cast.to_string(), AUTO_CASTS, |o, t| o.auto_cast = t.parse().unwrap_or(AutoCast::default())) }
                { field("auto-cast-type", "Cast type", options.auto_cast_type.to_string(), AUTO_CAST_TYPES, |o, t| o.auto_cast_type = t.parse().unwrap_or(CastType::default())) }
                { field("optlevel", "Optimisation level", options.opt_level.to_string(), OPT_LEVELS, |o, t| o.opt_level = t.parse().unwrap_or(OptLevel::default())) }
                { field("lnc", "Cores per logical core", options.lnc.map(|n| n.to_string()).unwrap_or_default(), &[("", "the instance\u{2019}s"), ("1", "1"), ("2", "2")], |o, t| o.lnc = t.parse().ok()) }
            </div>
        </details>
    }
}
