//! The choice of the level that a tool looks at.

use yew::prelude::*;

use crate::components::{SelectField, on};
use crate::state::{OpenRun, ProfileAction, ProfileState, StateHandle};
use ns_base::units::format_count;
use ns_profile::levels::ALL_LEVELS;

/// A field with the levels of a profile; the default level is selected until the user chooses another. Empty for a profile with one
/// level.
pub fn level_select(run: &OpenRun, state: &StateHandle<ProfileState>) -> Html {
    let info = &run.info;
    if info.levels.len() < 2 {
        return Html::default();
    }
    let counted = |l: &ns_profile::levels::Level| {
        let wraps = if l.wraps { ", only wraps others" } else { "" };
        (AttrValue::from(l.name.clone()), AttrValue::from(format!("{} ({}{wraps})", l.name, format_count(l.slices))))
    };
    let mut options: Vec<(AttrValue, AttrValue)> = info.levels.iter().map(counted).collect();
    options.push((ALL_LEVELS.into(), "all levels together".into()));
    let default = state.default_level().unwrap_or_else(|| info.default_level.clone());
    let value = state.level().unwrap_or_else(|| info.default_level.clone());
    let on_choose = on(state.clone(), move |state, name: String| {
        state.dispatch(ProfileAction::Level((name != default).then_some(name)));
    });
    html! { <SelectField id="level" label="Level" {value} {options} {on_choose} /> }
}
