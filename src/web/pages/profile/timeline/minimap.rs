//! The strip above the timeline: all of the profile, and where the screen is.

use yew::prelude::*;

use crate::session::{Event, Request};
use crate::view::timeline::{Minimap, Viewport};
use crate::web::platform::pointer;
use crate::web::state::profile::OpenRun;
use crate::web::timeline::Controller;

/// Parts of the strip: about two pixels each on a desk.
const BUCKETS: u32 = 700;

/// Properties of [`MinimapStrip`].
#[derive(Properties, PartialEq)]
pub struct MinimapStripProps {
    /// The run.
    pub run: OpenRun,
    /// The timeline it moves.
    pub controller: Controller,
    /// What is on the screen.
    pub view: Viewport,
}

/// The strip. Keys of the timeline do the same, so it is for pointers only.
#[component]
pub fn MinimapStrip(props: &MinimapStripProps) -> Html {
    let map = use_state(Minimap::default);
    use_effect_with(props.run.id, {
        let (map, run) = (map.setter(), props.run.clone());
        move |_| {
            let span = run.info.outline.span;
            let on_event = Callback::from(move |event: Event| {
                if let Event::Density { busy, .. } = event {
                    map.set(Minimap::new(span, &busy));
                }
            });
            let profile = run.info.profile;
            run.engine.send(|job| Request::Density { job, profile, buckets: BUCKETS }, None, on_event);
        }
    });
    let go = {
        let (map, controller, view) = (map.clone(), props.controller.clone(), props.view);
        Callback::from(move |event: PointerEvent| {
            if event.buttons() & 1 == 1
                && let Some(share) = pointer::share_of_width(&event)
            {
                controller.show_span(map.centred(&view, share));
            }
        })
    };
    let (left, width) = map.window(&props.view);
    html! {
        <div class="minimap" aria-hidden="true" onpointerdown={go.clone()} onpointermove={go}>
            <svg viewBox="0 0 1000 100" preserveAspectRatio="none"><path d={map.path.clone()} /></svg>
            <span class="window" style={format!("left:{:.3}%;width:{:.3}%", left * 100.0, width * 100.0)}></span>
        </div>
    }
}
