//! The picture of the start page is made from the example by the simulator and the timeline, in both themes.

use std::path::Path;

use neuronscope::base::units::{format_count, format_ns};
use neuronscope::base::{Interval, TraceNs};
use neuronscope::bench::beside_text;
use neuronscope::fidelity::{shipped_rows, validate};
use neuronscope::session::{
    Event, JobId, JobRequest, JobResult, Message, ProfileQuestion, ProfileSpec, Reply, Request, Session, StepResult,
};
use neuronscope::view::palette::Theme;
use neuronscope::view::timeline::{
    Arrangement, Layout, Metrics, NameLooks, Overlay, TimelineScene, Viewport, paint, to_svg,
};

/// The span of the picture.
const SPAN: Interval<TraceNs> = Interval { start: TraceNs(7_900), end: TraceNs(15_100) };
/// Size of the picture in pixels.
const WIDTH: f64 = 1200.0;
const HEIGHT: f64 = 260.0;

fn ask(session: &mut Session, request: Request) -> Vec<Event> {
    session.handle(request, None);
    let mut events = Vec::new();
    while session.step(1_000_000, &mut |e| events.push(e)) == StepResult::More {}
    events
}

/// The picture, and its slices: left edge, top, width and height in pixels, then the row, the name and the length.
fn picture(theme: Theme) -> (String, String) {
    let (mut session, job) = (Session::new(), JobId(1));
    let made = ask(&mut session, Request::new(job, JobRequest::Profile(ProfileSpec::default())));
    let info = made.into_iter().find_map(|e| {
        if let Event::Message(_, Message::Done(JobResult::Profile(info))) = e { Some(info) } else { None }
    });
    let (info, metrics) = (info.unwrap(), Metrics::for_width(WIDTH));
    // The rows of the runtime and of control say nothing at a glance.
    let of_execution = |name: &str| name.contains("Execution") || name.contains("Transfer");
    let mut arrangement = Arrangement::default();
    for (i, section) in info.outline.sections.iter().enumerate() {
        if !of_execution(&section.name) {
            arrangement.hidden.extend(section.tracks.iter().map(|t| t.id));
            arrangement.toggle_section(i);
        }
    }
    let layout = Layout::new(&info.outline, &arrangement, &metrics);
    let view = Viewport::new(SPAN, WIDTH - metrics.gutter);
    let query = view.query(layout.tracks_between(0.0, 10_000.0));
    let answer = ask(&mut session, Request::new(job, ProfileQuestion::Timeline(query).of(info.profile)));
    let [Event::Message(_, Message::Answer(Reply::Timeline(tile)))] = &answer[..] else { panic!("{answer:?}") };
    let looks = NameLooks::new(tile, "", &info.colours);
    let scene = TimelineScene {
        outline: &info.outline,
        layout: &layout,
        metrics: &metrics,
        view: &view,
        tile: Some((tile, &looks)),
        height: HEIGHT,
        scroll_y: 0.0,
        selected: None,
        range_px: None,
        moved_track: None,
        overlay: Overlay::default(),
    };
    let (mut slices, width) = (String::new(), WIDTH - metrics.gutter);
    for track in &tile.tracks {
        let Some((section, outline)) = info
            .outline
            .sections
            .iter()
            .find_map(|section| Some((section, section.tracks.iter().find(|t| t.id == track.track)?)))
        else {
            continue;
        };
        for (i, start) in track.start_ns.iter().enumerate() {
            let (from, to) = (view.x_of(*start), view.x_of(*start + track.duration_ns[i].cast_signed()));
            let top = metrics.ruler + layout.track(track.track).unwrap().y + metrics.row * f64::from(track.row[i]);
            if to > 0.0 && from < width && top < HEIGHT {
                let (left, right) = (from.max(0.0) + metrics.gutter, to.min(width) + metrics.gutter);
                let name = &tile.names[track.name[i] as usize];
                let length = format_ns(track.duration_ns[i] as f64);
                slices.push_str(&format!(
                    "{left:.0} {top:.0} {:.0} {:.0} {}: {name}, {length}\n",
                    right - left,
                    metrics.row,
                    section.name_of(outline)
                ));
            }
        }
    }
    (to_svg(&paint(&scene), theme), slices)
}

/// The figure of AWS beside that of the simulation, for the example of the start page.
fn example() -> String {
    let rows = shipped_rows();
    let row = rows.iter().find(|row| {
        let is_same = row.model == "bert-base-uncased" && row.batch_size == Some(8);
        is_same && row.instance.eq_ignore_ascii_case("inf2.xlarge")
    });
    let answer = validate(row.unwrap());
    let (published, predicted) = answer.published.zip(answer.predicted).unwrap();
    let text = beside_text(published, &row.unwrap().framework, predicted, |rate| {
        format!("{} inferences per second", format_count(rate.round() as u64))
    });
    format!("With both cores: {text}.\n")
}

#[test]
fn the_example_of_the_start_page_has_the_published_figure() {
    let (path, made) = (Path::new(env!("CARGO_MANIFEST_DIR")).join("src/web/pages/landing_example.txt"), example());
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &made).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap_or_default(), made, "UPDATE_DOCS=1 writes it anew");
    // The page shows it before its program is there.
    let index = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("index.html")).unwrap();
    assert!(index.contains(&format!("<p class=\"figure\">{}</p>", made.trim())), "index.html does not say: {made}");
}

#[test]
fn the_picture_of_the_start_page_is_the_simulated_timeline() {
    for (theme, file) in [(Theme::Light, "landing-light.svg"), (Theme::Dark, "landing-dark.svg")] {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let (path, (made, slices)) = (root.join("www").join(file), picture(theme));
        let beside = root.join("src/web/pages/landing_slices.txt");
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(&path, &made).unwrap();
            std::fs::write(&beside, &slices).unwrap();
        }
        assert!(
            std::fs::read_to_string(&beside).unwrap_or_default() == slices,
            "landing_slices.txt is of another build"
        );
        let kept = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            kept == made,
            "www/{file} is of another build: UPDATE_DOCS=1 cargo test --test it landing writes it anew"
        );
    }
}

#[test]
fn the_pages_with_a_stored_example_are_the_pages_of_the_document() {
    let read = |name: &str| std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap();
    let html = read("index.html");
    let mut pages: Vec<&str> = html.split("data-early=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    pages.sort_unstable();
    let early = read("www/early.js");
    let list = early.split("const EXAMPLES = [").nth(1).unwrap().split(']').next().unwrap();
    assert_eq!(list.split(", ").map(|name| name.trim_matches('"')).collect::<Vec<_>>(), pages);
    let style = read("www/workspace.css");
    for page in pages {
        let rule = format!(":root:not([data-early=\"{page}\"]) main[data-early=\"{page}\"]");
        assert!(style.contains(&rule), "www/workspace.css does not hide the beginning of {page} on other pages");
        for width in ["phone", "desk"] {
            assert!(!read(&format!("www/examples/{page}-{width}.html")).is_empty(), "{page}");
        }
    }
}
