//! The start page: the question that the tool answers, a place to drop a file, results with the published figure, and a timeline.

use web_sys::{File, HtmlElement};
use yew::prelude::*;

use super::kept_here::KeptHere;
use crate::components::{file_picker, on, set};
use ns_page::profile::SAMPLE;
use ns_session::share::{Page, PageLink, ProfileLink};

/// Tours: the title, what the tour shows, and its link.
const TOURS: [(&str, &str, &str); 6] = [
    (
        "Sweep a benchmark",
        "Throughput, latency and cost of ResNet-50 by number of copies and batch size.",
        "#/benchmark?v=1&model=resnet50&instance=inf2.xlarge&batch_sizes=1,4,8&duration=10&seed=0",
    ),
    (
        "Profile a model",
        "A network of two layers: framework operators, HLO operators, and the timeline of one step.",
        "#/profile?v=1&model=nn&workflow=mark_step&instance=trn1.2xlarge&tool=operator-timeline",
    ),
    (
        "Size a language model",
        "Llama, Mistral, Qwen and others: the time of a token, the cost of a million, and where it fits.",
        "#/llm",
    ),
    ("Measure a matrix product", "The rate of chained products against the peak of the tensor engine.", "#/matmult"),
    (
        "Time a kernel",
        "An NKI kernel in Python, or a custom operator in C++: its time, what bounds it, and what each line costs.",
        "#/nki",
    ),
    ("Compare experiments", "Records of benchmark runs over time: speed-ups, regressions, coverage.", "#/experiments"),
];

/// What AWS published for the example and what the simulation predicts; a test writes it.
const EXAMPLE: &str = include_str!("landing_example.txt");

/// `on_files` receives the files that are picked.
pub fn landing_page(on_files: Callback<Vec<File>>) -> Html {
    let tour = |(title, text, link): (&'static str, &'static str, &'static str)| {
        html! { <li><a href={link}>{ title }</a><p>{ text }</p></li> }
    };
    let sample = format!("#/profile?v=1&file={}&tool=overview", SAMPLE);
    html! {
        <div class="page landing">
            <h1>{ "How fast is your model on AWS Inferentia and Trainium?" }</h1>
            <p class="lead">{ "See how long it takes, what limits it and what it costs, on simulated NeuronCores. No account, no hardware, no upload." }</p>
            <ul class="cards">
                <li class="panel card drop-card">
                    <h2>{ "Drop a model or a trace" }</h2>
                    <p>{ "A model from PyTorch (.pt2, TorchScript), ONNX or XLA; a trace of PyTorch, JAX, Chrome, Perfetto, Neuron or pprof; results of a benchmark. Drop it anywhere on this page: it is read in this browser." }</p>
                    { file_picker("landing-file", "Choose files", on_files) }
                </li>
                <li class="panel card">
                    <h2>{ "BERT on Inf2" }</h2>
                    <p>{ "BERT base with batch 8 on an inf2.xlarge. It runs at once, in about a second." }</p>
                    <p class="figure">{ EXAMPLE.trim_end() }</p>
                    <p class="buttons"><a class="button" href={ProfileLink::example().hash()}>{ "Profile BERT" }</a><a class="button" href={Page::Benchmark.hash()}>{ "Compare instances" }</a></p>
                </li>
                <li class="panel card">
                    <h2>{ "A PyTorch trace" }</h2>
                    <p>{ "A real training trace of a small BERT on an MI300 GPU, recorded by the PyTorch profiler: where its time goes, and what the device waits for." }</p>
                    <a class="button" href={sample}>{ "Open the trace" }</a>
                </li>
            </ul>
            <LandingTimeline />
            <KeptHere />
            <section aria-labelledby="tours-title">
                <h2 id="tours-title">{ "Six things to try" }</h2>
                <ol class="tours">{ for TOURS.map(tour) }</ol>
                <p><a href={Page::Guide.hash()}>{ "Read the guide" }</a>{ ": short chapters with examples to open." }</p>
            </section>
        </div>
    }
}

/// The slices of the picture: left edge, top, width and height in its pixels, and what a slice is. A test writes them.
const SLICES: &str = include_str!("landing_slices.txt");
/// Size of the picture in its pixels.
const PICTURE: (f64, f64) = (1200.0, 260.0);
const CAPTION: &str = "One step of a network of two layers on a simulated NeuronCore. Point at a slice.";

/// The picture of a timeline; the pointer reads out its slices.
#[component]
fn LandingTimeline() -> Html {
    let (pointed, frame) = (use_state_eq(|| None::<&'static str>), use_node_ref());
    let onpointermove = on((pointed.setter(), frame.clone()), |(pointed, frame), event: PointerEvent| {
        pointed.set(frame.cast::<HtmlElement>().and_then(|picture| {
            // The picture keeps its left top corner at any width: it is as high as the frame, and cut at the right.
            let rect = picture.get_bounding_client_rect();
            let scale = (rect.width() / PICTURE.0).max(rect.height() / PICTURE.1);
            let (x, y) = (f64::from(event.client_x()) - rect.left(), f64::from(event.client_y()) - rect.top());
            slice_at(x / scale, y / scale)
        }));
    });
    let onpointerleave = set(&pointed, None);
    html! {
        <figure class="landing-picture">
            <div class="frame" ref={frame} {onpointermove} {onpointerleave}>
                <img class="of-light" src="landing-light.svg" alt="" width="1200" height="260" fetchpriority="high" />
                <img class="of-dark" src="landing-dark.svg" alt="" width="1200" height="260" fetchpriority="high" />
            </div>
            <figcaption>{ pointed.unwrap_or(CAPTION) }</figcaption>
        </figure>
    }
}

/// The slice at a place of the picture.
fn slice_at(x: f64, y: f64) -> Option<&'static str> {
    SLICES.lines().find_map(|line| {
        let mut parts = line.splitn(5, ' ');
        let mut number = || parts.next()?.parse::<f64>().ok();
        let (left, top, width, height) = (number()?, number()?, number()?, number()?);
        let is_in = (left..left + width.max(3.0)).contains(&x) && (top..top + height).contains(&y);
        parts.next().filter(|_| is_in)
    })
}
