//! The start page: what the tool does, in a sentence and a picture, and links that lead to a result.

use web_sys::File;
use yew::prelude::*;

use super::kept_here::KeptHere;
use crate::components::FilePicker;
use ns_page::profile::SAMPLE;
use ns_session::share::Page;

const BERT: &str =
    "#/profile?v=1&model=bert-base-uncased&batch_size=8&workflow=trace&instance=inf2.xlarge&tool=overview";

/// Tours: the title, what the tour shows, and its link.
const TOURS: [(&str, &str, &str); 5] = [
    (
        "Sweep a benchmark",
        "Throughput, latency and cost of ResNet-50 by number of copies and batch size.",
        "#/benchmark?v=1&model=resnet50&instance=inf2.xlarge&batch_sizes=1,4,8&duration=10&seed=0",
    ),
    (
        "Profile a model",
        "The two-layer example: framework operators, HLO operators, and the timeline of one step.",
        "#/profile?v=1&model=nn&workflow=mark_step&instance=trn1.2xlarge&tool=operator-timeline",
    ),
    ("Measure a matrix product", "The rate of chained products against the peak of the tensor engine.", "#/matmult"),
    (
        "Write a custom operator",
        "A kernel in C++ for the GpSimd engine: its values, and what each line costs.",
        "#/customop",
    ),
    ("Compare experiments", "Records of benchmark runs over time: speed-ups, regressions, coverage.", "#/experiments"),
];

/// What AWS published for the example and what the simulation predicts; a test writes it.
const EXAMPLE: &str = include_str!("landing_example.txt");

/// Properties of [`LandingPage`].
#[derive(Properties, PartialEq)]
pub struct LandingPageProps {
    /// Receives the files that were picked.
    pub on_files: Callback<Vec<File>>,
}

#[component]
pub fn LandingPage(props: &LandingPageProps) -> Html {
    let tour = |(title, text, link): (&'static str, &'static str, &'static str)| {
        html! { <li><a href={link}>{ title }</a><p>{ text }</p></li> }
    };
    let sample = format!("#/profile?v=1&file={}&tool=overview", SAMPLE);
    html! {
        <div class="page landing">
            <h1>{ "See where a model\u{2019}s time goes, on simulated NeuronCores or in your own trace" }</h1>
            <figure class="landing-picture">
                <img class="of-light" src="landing-light.svg" alt="" width="1200" height="260" fetchpriority="high" />
                <img class="of-dark" src="landing-dark.svg" alt="" width="1200" height="260" fetchpriority="high" />
                <figcaption>{ "One step of a two-layer network on a simulated NeuronCore." }</figcaption>
            </figure>
            <ul class="cards">
                <li class="panel card drop-card">
                    <h2>{ "Open a file" }</h2>
                    <p>{ "Drop a trace or benchmark results anywhere on this page: PyTorch, JAX, Chrome, Perfetto, Neuron, pprof and more. It is read in this browser and uploaded nowhere." }</p>
                    <FilePicker id="landing-file" label="Choose files" on_files={props.on_files.clone()} />
                </li>
                <li class="panel card">
                    <h2>{ "BERT on Inf2" }</h2>
                    <p>{ "Simulate BERT base with batch 8 on an inf2.xlarge and see what it waits for. It runs at once, in about a second." }</p>
                    <p>{ EXAMPLE.trim_end() }</p>
                    <a class="button" href={BERT}>{ "Profile BERT" }</a>
                </li>
                <li class="panel card">
                    <h2>{ "A PyTorch trace" }</h2>
                    <p>{ "A real training trace of a small BERT on an MI300 GPU, recorded by the PyTorch profiler." }</p>
                    <a class="button" href={sample}>{ "Open the trace" }</a>
                </li>
            </ul>
            <KeptHere />
            <section aria-labelledby="tours-title">
                <h2 id="tours-title">{ "Five things to try" }</h2>
                <ol class="tours">{ for TOURS.map(tour) }</ol>
                <p><a href={Page::Guide.hash()}>{ "Read the guide" }</a>{ ": six short chapters with examples to open." }</p>
            </section>
        </div>
    }
}
