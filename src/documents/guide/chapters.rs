//! The chapters.

use super::{Chapter, Example};

/// The chapters in their order.
pub const CHAPTERS: [Chapter; 9] =
    [BENCHMARK, PROFILE, MODEL, LANGUAGE_MODELS, NKI, OPERATORS, EXPERIMENTS, FIDELITY, KEEP];

const BENCHMARK: Chapter = Chapter {
    id: "benchmark",
    title: "Find the fastest configuration",
    text: &[
        "A benchmark runs a model on simulated NeuronCores as NeuronPerf runs it on real ones: some copies of the model, some threads that feed each copy, a batch size. Each combination is a row with its throughput, its latency and its cost per million inferences.",
        "Give lists to compare: 1,4,8 as batch sizes are three rows. Limits on p99, cost and cores name the best row within them, and what breaks one is faint in the charts. The filter takes p99<5 or models=4 and applies to tables, tiles and charts alike.",
        "The simulator reads no clock: the same form and seed give the same numbers on every machine. Only the device \u{201c}cpu\u{201d}, the processor of this machine, is measured.",
    ],
    examples: &[
        Example {
            title: "Sweep ResNet-50 over batch sizes",
            shows: "Larger batches raise the throughput and the latency; see where the gain ends.",
            link: "#/benchmark?v=1&model=resnet50&instance=inf2.xlarge&batch_sizes=1,4,8&duration=10&seed=0",
            command: "neuronscope bench --model resnet50 --instance inf2.xlarge --batch-sizes 1,4,8 --duration 10",
        },
        Example {
            title: "Two workers for each copy",
            shows: "A second thread prepares the next input while the core computes. The table is sorted by throughput.",
            link: "#/benchmark?v=1&model=bert-base-uncased&instance=inf2.xlarge&workers_per_model=1,2,3&duration=10&seed=0&sort=-throughput_avg",
            command: "neuronscope bench --model bert-base-uncased --instance inf2.xlarge --workers-per-model 1,2,3 --duration 10",
        },
    ],
};

const PROFILE: Chapter = Chapter {
    id: "profile",
    title: "See where the time goes",
    text: &[
        "A profile shows what each engine and each queue did, and when. Drop a file of PyTorch, JAX, Chrome, Perfetto, pprof or the Neuron plugin on the page, or simulate a model. The overview comes first: the time of a step, how much of it was compute, transfer and idle, and findings ordered by how much a change can save.",
        "Each finding leads to its evidence. In the timeline W and S zoom, A and D move, and a click on a slice shows its details. Idle gaps name what a device waited for; the critical path is the chain of slices that made the step as long as it was; Query takes a question in a line.",
        "Compare takes two profiles: open both, or choose two kept runs on the start page.",
    ],
    examples: &[
        Example {
            title: "What a network of two layers waits for",
            shows: "The timeline of one step: short matrix products between transfers.",
            link: "#/profile?v=1&model=nn&workflow=mark_step&instance=trn1.2xlarge&tool=operator-timeline",
            command: "neuronscope profile --model nn --output timeline.json",
        },
        Example {
            title: "BERT compiled ahead against BERT recorded in each step",
            shows: "Operator by operator: what the lazy workflow costs on the device.",
            link: "#/profile?v=1&model=bert-base-uncased&workflow=mark_step&instance=inf2.xlarge&tool=compare&base_run=model%3Dbert-base-uncased%26workflow%3Dtrace%26instance%3Dinf2.xlarge",
            command: "neuronscope compare 'sim:bert-base-uncased?workflow=trace&instance=inf2.xlarge' 'sim:bert-base-uncased?workflow=mark_step&instance=inf2.xlarge'",
        },
    ],
};

const MODEL: Chapter = Chapter {
    id: "model",
    title: "Bring your own model",
    text: &[
        "Drop a model file on the page: .pt2 of torch.export, TorchScript, ONNX, HLO or StableHLO of JAX. Inspect shows its modules and operators as a tree and a picture, each with its time on a core, and how the compiler changed it, pass by pass. Unsupported operators are named with their places.",
        "Benchmark, Profile and Microbenchmark take the same file. Numerics computes a model with the rounding of the core and with that of the processor, and names the operation that went wrong first.",
    ],
    examples: &[
        Example {
            title: "BERT as a picture",
            shows: "Modules of twelve layers; open one to see its operators and their times.",
            link: "#/inspect?v=1&model=bert-base-uncased&instance=inf2.xlarge",
            command: "neuronscope inspect --model bert-base-uncased --instance inf2.xlarge --view tree",
        },
        Example {
            title: "A network that becomes NaN",
            shows: "Products without a bias leave the range of bfloat16; the page names the operation.",
            link: "#/numerics?v=1&model=matmult:n=32,loop_count=200,add_bias=false,normalize=true",
            command: "neuronscope numerics --model matmult:n=32,loop_count=200,add_bias=false,normalize=true",
        },
    ],
};

const LANGUAGE_MODELS: Chapter = Chapter {
    id: "language-models",
    title: "Size a language model",
    text: &[
        "A language model runs on several cores of an instance. LLMs says how long the first token of a prompt and each further token take, which part of that is weights, keys and values, collectives, compute and host, what a million tokens cost, and whether the model fits into the memory of a core.",
        "Take a model of the list, type a name of the Hugging Face hub, or drop its config.json. The page tries all places: instances, cores and batch sizes. With limits for the first token and for the others it names the cheapest place within them. Requests a second add a queue, with percentiles.",
    ],
    examples: &[
        Example {
            title: "The cheapest place within limits",
            shows: "Llama 3 8B, four requests at a time, a first token within 500 ms and 20 ms a token.",
            link: "#/llm?v=1&model=llama-3-8b&batch=4&max_ttft_ms=500&max_tpot_ms=20",
            command: "neuronscope generate --model llama-3-8b --batch 4 --max-ttft-ms 500 --max-tpot-ms 20",
        },
        Example {
            title: "A mixture of experts on Trn2",
            shows: "How many experts a batch of 16 wakes, and what their weights cost in a token.",
            link: "#/llm?v=1&model=qwen3-30b-a3b&instance=trn2.48xlarge&tp=4&batch=16",
            command: "neuronscope generate --model qwen3-30b-a3b --instance trn2.48xlarge --tp 4 --batch 16",
        },
    ],
};

const NKI: Chapter = Chapter {
    id: "nki",
    title: "Time a kernel in Python",
    text: &[
        "Paste or drop a kernel of the Neuron Kernel Interface. Python runs it in this browser and records its instructions; a simulated core says how long they take. The result names what bounds the kernel: it is run again without one limit at a time, such as the rate of the tensor engine or the issue of DMAs, and the limit that saves most is the bound.",
        "Each line has its time and its bytes. Loads that repeat, spills, and what does not build are named with their line. Settings are constants of the file or arguments with several values: all of them run, and a table ranks them.",
    ],
    examples: &[
        Example {
            title: "Which block is best",
            shows: "A product with 1, 2, 4 and 8 rows of tiles in a block: a taller block loads less, until the tensor engine is the bound.",
            link: "#/nki?v=1&kernel=matmul-blocks&set=ROWS=1,2,4,8",
            command: "",
        },
        Example {
            title: "A product in tiles",
            shows: "What bounds a first version: its loads are too small for the queues.",
            link: "#/nki?v=1&kernel=matmul",
            command: "",
        },
    ],
};

const OPERATORS: Chapter = Chapter {
    id: "operators",
    title: "Write a custom operator",
    text: &[
        "The GpSimd engine runs C++ that you write. The page runs a kernel for its values and its time: each line is shaded by its cost, and remarks say what would make it faster, such as moving a tile instead of single elements into the memory of the processor.",
        "The microbenchmark measures matrix products as the AWS guide does, with its pitfalls as switches: a cold first call, a coarse clock, products that the compiler removes.",
    ],
    examples: &[
        Example {
            title: "ReLU, an element at a time",
            shows: "The slowest way to write it, with the line that costs the most.",
            link: "#/customop?v=1&kernel=relu-element",
            command: "neuronscope customop --kernel relu-element",
        },
        Example {
            title: "The peak of the tensor engine",
            shows: "Matrix products of four sizes, as a share of the peak.",
            link: "#/matmult?v=1&matrix_dim=256,512,1024,2048",
            command: "neuronscope matmult --matrix_dim 256,512,1024,2048",
        },
    ],
};

const EXPERIMENTS: Chapter = Chapter {
    id: "experiments",
    title: "Follow results over time",
    text: &[
        "Records of PyTorch/XLA's benchmark suite (results.jsonl) become a pass rate, geometric means of speed-ups with their coverage, what the newest run improved or broke, and every sample behind each point. A click on a point opens the records behind it.",
        "Drop one or many files on the page of experiments, or load the sample. The command line runs such experiments on simulated cores and writes the same records, so that a change of a model shows beside the others.",
    ],
    examples: &[Example {
        title: "The sample",
        shows: "Six small models on a processor, Trn1 and Inf2, over six days.",
        link: "#/experiments?v=1&data=sample",
        command: "neuronscope experiment --suite-name=torchbench --filter='^resnet18$' --test=eval --accelerator=trn1 --repeat=8",
    }],
};

const FIDELITY: Chapter = Chapter {
    id: "fidelity",
    title: "See how far to trust a figure",
    text: &[
        "Times come from costs of engines, memory and host, each with its source. Figures that devices gave stand beside what the model predicts for them, model by model, with the errors; an interval in a result says between which figures a device lies in 8 of 10 cases.",
        "Drop a table of your own measurements, a CSV file with the columns model, instance, batch_size and throughput, to see how well your device is met.",
    ],
    examples: &[
        Example {
            title: "Published throughput beside the model",
            shows: "Rows of Inf2 and Trn1: what was measured, what is predicted, the interval, and the errors of each model.",
            link: "#/fidelity?v=1&table=published",
            command: "neuronscope validate published",
        },
        Example {
            title: "Language models behind servers",
            shows: "The time of a token and of a prompt, from one core to 64, with the errors of each kind.",
            link: "#/fidelity?v=1&table=served",
            command: "neuronscope validate served",
        },
    ],
};

const KEEP: Chapter = Chapter {
    id: "keep",
    title: "Send a link, keep a result, work offline",
    text: &[
        "The address holds what you see: form, tool, zoom, selection, marks, filter and sorting. Anyone who opens it sees the same, because a simulated run is the same everywhere. Share offers the link, the command line with the same result, tables as Markdown and charts as pictures.",
        "Files, runs and results stay in this browser, under \u{201c}Kept here\u{201d} on the start page: name, pin, compare or remove them there. Nothing is uploaded. \u{201c}Download as page\u{201d} makes one HTML file that opens without a network.",
        "After the first visit the page works offline. Ctrl+K finds pages, tools, operators, slices and kept results. The command neuronscope serve serves the page from the command line tool.",
    ],
    examples: &[Example {
        title: "A view in a link",
        shows: "Statistics of a BERT step grouped by module, from the address alone.",
        link: "#/profile?v=1&model=bert-base-uncased&workflow=trace&instance=inf2.xlarge&tool=statistics&by=module",
        command: "neuronscope operators 'sim:bert-base-uncased?workflow=trace&instance=inf2.xlarge' --by module",
    }],
};
