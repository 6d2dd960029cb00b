//! A choice of several values, as boxes over the list `a,b` that links and the command line use.

use yew::prelude::*;

use super::field::{described_by, note};

#[derive(Properties, PartialEq)]
pub struct CheckFieldProps {
    /// Id of the group.
    pub id: AttrValue,
    /// Text above it.
    pub label: AttrValue,
    /// The chosen values, separated by commas.
    pub value: AttrValue,
    /// The values with their labels.
    pub options: Vec<(AttrValue, AttrValue)>,
    /// Help below it.
    #[prop_or_default]
    pub help: AttrValue,
    /// Message if the value is wrong.
    #[prop_or_default]
    pub error: Option<AttrValue>,
    /// Receives the newly chosen values.
    pub on_choose: Callback<String>,
}

/// A box for each value. One always stays checked: an empty list has no meaning.
#[component]
pub fn CheckField(props: &CheckFieldProps) -> Html {
    let chosen: Vec<&str> = props.value.split(',').map(str::trim).collect();
    let is_chosen = |value: &str| chosen.contains(&value);
    let count = props.options.iter().filter(|(value, _)| is_chosen(value)).count();
    let toggle = |value: &AttrValue| {
        let keep = |v: &AttrValue| (v == value) != is_chosen(v);
        let next: Vec<&str> = props.options.iter().map(|(v, _)| v).filter(|v| keep(v)).map(AttrValue::as_str).collect();
        let (next, on_choose) = (next.join(","), props.on_choose.clone());
        Callback::from(move |_: Event| on_choose.emit(next.clone()))
    };
    let described = described_by(&props.id, &props.help, props.error.as_ref());
    html! {
        <fieldset id={props.id.clone()} class={classes!("field", "check-field", props.error.is_some().then_some("is-wrong"))} aria-describedby={described}>
            <legend>{ &props.label }</legend>
            { for props.options.iter().map(|(value, name)| html! {
                <label class="check"><input type="checkbox" value={value.clone()} checked={is_chosen(value)}
                    disabled={is_chosen(value) && count == 1} onchange={toggle(value)} /><span>{ name }</span></label>
            }) }
            { note(&props.id, &props.help, props.error.as_ref()) }
        </fieldset>
    }
}
