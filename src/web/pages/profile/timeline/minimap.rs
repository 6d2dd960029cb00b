//! The strip above the timeline: all of the profile, and where the screen is.

use yew::prelude::*;

use crate::platform::pointer;
use crate::state::OpenRun;
use crate::timeline::Controller;
use ns_session::{Message, ProfileQuestion, Reply};
use ns_view::timeline::{Minimap, Viewport, dense_part};

/// Number of parts of the strip: about two pixels each on a desktop screen.
const BUCKETS: u32 = 700;

#[derive(Properties, PartialEq)]
pub struct MinimapStripProps {
    pub run: OpenRun,
    /// The timeline it moves.
    pub controller: Controller,
    /// The view on the screen.
    pub view: Viewport,
}

/// The strip. Keys of the timeline do the same, so it is for pointers only.
#[component]
pub fn MinimapStrip(props: &MinimapStripProps) -> Html {
    let map = use_state(Minimap::default);
    use_effect_with(props.run.id, {
        let (map, run, controller) = (map.setter(), props.run.clone(), props.controller.clone());
        move |_| {
            let span = run.info.outline.span;
            let on_message = Callback::from(move |message: Message| {
                if let Message::Answer(Reply::Density(busy)) = message {
                    map.set(Minimap::new(span, &busy));
                    if let Some(dense) = dense_part(span, &busy) {
                        controller.open_at(dense);
                    }
                }
            });
            let profile = run.info.profile;
            run.engine.send(ProfileQuestion::Density(BUCKETS).of(profile), None, on_message);
        }
    });
    let go = {
        let (map, controller, view) = (map.clone(), props.controller.clone(), props.view);
        Callback::from(move |event: PointerEvent| {
            if event.buttons() & 1 == 1
                && let Some((share, _)) = pointer::share_of(&event, ".minimap")
            {
                controller.show_span(map.centred(&view, share));
            }
        })
    };
    let (left, width) = map.window(&props.view);
    // The strip leaves out the column of the track names, so it is as wide as the tracks below it.
    let gutter = props.controller.gutter();
    let length = props.run.info.outline.span.end.0.saturating_sub(props.run.info.outline.span.start.0);
    html! {
        <div class="minimap-row" aria-hidden="true" style={format!("--gutter:{gutter:.0}px")}>
            <span class="minimap-name">{ format!("All: {}", props.run.info.outline.unit.text(length)) }</span>
            <div class="minimap" onpointerdown={go.clone()} onpointermove={go}>
                <svg viewBox="0 0 1000 100" preserveAspectRatio="none"><path d={map.path.clone()} /></svg>
                <span class="window" style={format!("left:{:.3}%;width:{:.3}%", left * 100.0, width * 100.0)}></span>
            </div>
        </div>
    }
}
