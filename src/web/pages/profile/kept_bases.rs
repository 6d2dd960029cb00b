//! The profiles that this browser keeps, as bases to compare the shown profile with.

use yew::prelude::*;

use crate::components::{Menu, on};
use crate::shelf::{touch, use_shelf};
use crate::state::{OpenRun, ProfileAction, ProfileState, StateHandle};
use ns_page::profile::ToolSetting;
use ns_session::share::{CompareLink, Tool};
use ns_session::shelf::ShelfItem;

#[derive(Properties, PartialEq)]
pub struct KeptBasesProps {
    /// The state of the page.
    pub state: StateHandle<ProfileState>,
    /// The run that is shown.
    pub run: OpenRun,
}

/// A menu of the kept profiles other than the shown one; empty if there are no others.
#[component]
pub fn KeptBases(props: &KeptBasesProps) -> Html {
    let kept = use_shelf();
    let is_other = |base: &CompareLink| match (&base.base_run, &base.base) {
        (Some(spec), _) => props.run.spec() != Some(spec),
        (None, Some(file)) => props.run.info.name != *file,
        (None, None) => false,
    };
    let bases = kept.iter().filter_map(|item| Some((item, item.as_base().filter(is_other)?)));
    let entries: Vec<Html> = bases.map(|(item, base)| entry(props, item, base)).collect();
    if entries.is_empty() {
        return Html::default();
    }
    html! { <Menu class="kept-bases" label="Compare with" title="Kept profiles to compare with">{ for entries }</Menu> }
}

fn entry(props: &KeptBasesProps, item: &ShelfItem, base: CompareLink) -> Html {
    let open = props.state.runs.iter().find(|r| base.base_run.is_some() && r.spec() == base.base_run.as_ref());
    // A run that is open is chosen by its name; any other is run first.
    let base = CompareLink { base: base.base.clone().or_else(|| open.map(|r| r.info.name.clone())), ..base };
    let onclick = on((props.state.clone(), item.clone()), move |(state, kept), _: MouseEvent| {
        touch(kept);
        let base = base.clone();
        state.dispatch(ProfileAction::Tool(Tool::Compare));
        state.dispatch(ProfileAction::Adjust(ToolSetting::BaseOfRun { base: base.base, run: base.base_run }));
    });
    html! { <li key={item.id()}><button type="button" {onclick}>{ &item.name }</button></li> }
}
