//! A part of a page that unfolds.

use web_sys::Element;
use yew::prelude::*;

#[derive(Properties, PartialEq)]
pub struct FoldProps {
    /// Class names for the style sheet.
    #[prop_or_default]
    pub class: Classes,
    /// What stands there while it is folded, too.
    pub summary: AttrValue,
    /// Whether the page unfolds it. The reader may fold and unfold it meanwhile.
    #[prop_or_default]
    pub is_open: bool,
    /// Draws the content.
    pub draw: Callback<(), Html>,
}

/// A summary, and a content that is made only while it is unfolded: most folded tables and lists of a result are never looked at.
#[component]
pub fn Fold(props: &FoldProps) -> Html {
    let details = use_node_ref();
    let is_open = use_state_eq(|| props.is_open);
    use_effect_with(props.is_open, {
        let setter = is_open.setter();
        move |is_open| setter.set(*is_open)
    });
    let ontoggle = {
        // Of its own element: that of a fold within it comes here, too.
        let (details, setter) = (details.clone(), is_open.setter());
        Callback::from(move |_: Event| setter.set(details.cast::<Element>().is_some_and(|e| e.has_attribute("open"))))
    };
    html! {
        <details ref={details} class={props.class.clone()} open={*is_open} {ontoggle}>
            <summary>{ &props.summary }</summary>
            if *is_open { { props.draw.emit(()) } }
        </details>
    }
}
