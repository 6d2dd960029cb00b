//! The parts of the protocol. Postcard's code for one type is the code for everything in it; so each part has types of its own on the wire,
//! and a program has only the code of its parts.

use serde::{Deserialize, Serialize};

use super::{
    AnalysisRequest, Ask, ExperimentJobRequest, JobRequest, JobResult, Message, ProfileQuestion, QuestionRequest,
    RecordsSource, Reply, ResultPart, RunRequest,
};
use ns_base::Diagnostic;
use ns_bench::cpu::CpuTimers;
use ns_bench::mlperf::{MlperfResult, MlperfSettings};
use ns_bench::{
    BenchConfig, CompileConfig, CompiledModel, Configuration, Estimate, ModelIndex, Report, RowResult, ServiceTimes,
    SweepPlan,
};
use ns_device::{ModelFileSettings, OpenedModel};
use ns_documents::analysis::{Answer, LinkedTable};
use ns_documents::experiments::{RecordsAsk, RecordsKey, RecordsRead, RecordsResult};
use ns_documents::inspect::{InspectAsk, InspectResult};
use ns_documents::pages::BenchPage;
use ns_documents::studies::StudyResult;
use ns_documents::timeline::SearchHits;
use ns_documents::{ExportedFile, OperatorTable, ProfileInfo, ProfileKey};
use ns_experiment::sweep::{ExperimentRow, ExperimentsPlan, ExperimentsRequest};
use ns_forms::share::LinkedFile;
use ns_forms::studies::StudySpec;
use ns_forms::{Catalog, ProfileSpec, TraceSpec};
use ns_view::timeline::{SliceDetails, SliceLink, TimelineTile};

/// A part of `Whole`: of what is asked, or of what is answered.
pub(super) trait Part<Whole>: Sized {
    /// Its number on the wire.
    const NUMBER: u8;

    /// The message, if it is of this part; itself if it is not.
    fn of(whole: Whole) -> Result<Self, Whole>;

    fn whole(self) -> Whole;
}

/// A part from rows `name { fields } = the message`.
macro_rules! part {
    ($(#[$doc:meta])* $number:literal $part:ident: $whole:ident {
        $($name:ident { $($field:ident: $type:ty),* } = $($message:tt)::+ $(($($inner:tt)*))? $({$($named:tt)*})?;)*
    }) => {
        $(#[$doc])*
        #[derive(Serialize, Deserialize)]
        pub(super) enum $part { $($name { $($field: $type),* }),* }

        impl Part<$whole> for $part {
            const NUMBER: u8 = $number;

            fn of(whole: $whole) -> Result<Self, $whole> {
                Ok(match whole {
                    $($($message)::+ $(($($inner)*))? $({$($named)*})? => Self::$name { $($field),* },)*
                    other => return Err(other),
                })
            }

            fn whole(self) -> $whole {
                match self {
                    $(Self::$name { $($field),* } => $($message)::+ $(($($inner)*))? $({$($named)*})?,)*
                }
            }
        }
    };
}

part! {
    /// About open profiles, and what a page of profiles asks beside.
    1 ProfileAsk: Ask {
        Open { name: String, size: u64 } = Ask::Job(JobRequest::Open { name, size });
        StudyTrace { name: String } = Ask::Job(JobRequest::StudyTrace(name));
        Catalog {} = Ask::Question(QuestionRequest::Catalog);
        Question { profile: ProfileKey, question: ProfileQuestion } = Ask::Question(QuestionRequest::Profile(profile, question));
        Analysis { profile: ProfileKey, analysis: AnalysisRequest } = Ask::Analysis(profile, analysis);
    }
}

part! {
    /// Answers about open profiles, and those that every program gives.
    1 ProfileMessage: Message {
        Progress { done: u64, total: u64, label: String } = Message::Progress { done, total, label };
        Note { text: String } = Message::Note(text);
        Paused {} = Message::Paused;
        Model { found: Box<(OpenedModel, LinkedFile)> } = Message::Done(JobResult::Model(found));
        ModelKept {} = Message::Done(JobResult::ModelKept);
        StudyTrace { name: String, text: String } = Message::Done(JobResult::StudyTrace { name, text });
        Profile { info: Box<ProfileInfo> } = Message::Done(JobResult::Profile(info));
        Catalog { catalog: Catalog } = Message::Answer(Reply::Catalog(catalog));
        Timeline { tile: TimelineTile } = Message::Answer(Reply::Timeline(tile));
        Details { details: Option<Box<SliceDetails>> } = Message::Answer(Reply::Details(details));
        Search { hits: SearchHits } = Message::Answer(Reply::Search(hits));
        Operators { table: OperatorTable } = Message::Answer(Reply::Operators(table));
        Analysed { answer: Box<Answer> } = Message::Answer(Reply::Analysed(answer));
        Listed { listed: Box<LinkedTable> } = Message::Answer(Reply::Listed(listed));
        Flows { arrows: Vec<(SliceLink, SliceLink)>, total: u64 } = Message::Answer(Reply::Flows { arrows, total });
        Density { busy: Vec<f64> } = Message::Answer(Reply::Density(busy));
        File { file: ExportedFile } = Message::File(file);
        Failed { message: String } = Message::Failed(message);
        Cancelled {} = Message::Cancelled;
    }
}

part! {
    /// Models, and runs of them.
    2 ModelAsk: Ask {
        OpenModel { name: String, size: u64, settings: Box<ModelFileSettings> } =
            Ask::Job(JobRequest::OpenModel { name, size, settings });
        KeepModel { name: String, size: u64 } = Ask::Job(JobRequest::KeepModel { name, size });
        OpenLinkedModel { packed: String } = Ask::Job(JobRequest::OpenLinkedModel(packed));
        Profile { spec: ProfileSpec } = Ask::Job(JobRequest::Profile(spec));
        Trace { spec: Box<TraceSpec> } = Ask::Job(JobRequest::Trace(spec));
    }
}

part! {
    /// Benchmarks, and pictures of models.
    3 BenchAsk: Ask {
        Plan { config: Box<BenchConfig> } = Ask::Job(JobRequest::PlanBench(config));
        Run { run: Box<RunRequest> } = Ask::Job(JobRequest::RunConfiguration(run));
        MeasureCpu { copy: u32, configuration: Box<Configuration> } = Ask::Job(JobRequest::MeasureCpu { copy, configuration });
        Mlperf { settings: Box<MlperfSettings>, configuration: Box<Configuration> } =
            Ask::Job(JobRequest::Mlperf { settings, configuration });
        Compile { config: Box<CompileConfig> } = Ask::Job(JobRequest::Compile(config));
        Import { name: String, size: u64 } = Ask::Job(JobRequest::Import { name, size });
        Inspect { ask: InspectAsk } = Ask::Job(JobRequest::Inspect(ask));
        Page { page: Box<BenchPage>, file_name: String } = Ask::Question(QuestionRequest::BenchPage { page, file_name });
    }
}

part! {
    /// Results of benchmarks, and pictures of models.
    3 BenchMessage: Message {
        Plan { plan: Box<SweepPlan> } = Message::Part(ResultPart::Plan(plan));
        Estimated { row: u32, estimate: Result<Estimate, String>, times: Option<Box<ServiceTimes>> } =
            Message::Part(ResultPart::Estimated { row, estimate, times });
        Times { row: u32, times: Box<ServiceTimes> } = Message::Part(ResultPart::Times { row, times });
        Compiled { row: u32, compiled: Box<CompiledModel> } = Message::Part(ResultPart::Compiled { row, compiled });
        AllParts {} = Message::Done(JobResult::AllParts);
        Row { row: u32, result: Box<RowResult> } = Message::Done(JobResult::Row { row, result });
        CpuTimers { copy: u32, timers: Box<CpuTimers> } = Message::Done(JobResult::CpuTimers { copy, timers });
        Mlperf { result: Box<MlperfResult> } = Message::Done(JobResult::Mlperf(result));
        Imported { name: String, reports: Vec<Report>, diagnostics: Vec<Diagnostic> } =
            Message::Done(JobResult::Imported { name, reports, diagnostics });
        Index { name: String, index: Box<ModelIndex>, warnings: Vec<String> } =
            Message::Done(JobResult::Index { name, index, warnings });
        Inspected { result: Box<InspectResult> } = Message::Done(JobResult::Inspected(result));
    }
}

part! {
    /// Studies and experiments.
    4 StudyAsk: Ask {
        Study { spec: Box<StudySpec>, kept: String } = Ask::Job(JobRequest::Study(spec, kept));
        ReadRecords { set: RecordsKey, source: RecordsSource } = Ask::Job(JobRequest::ReadRecords(set, source));
        Plan { request: Box<ExperimentsRequest> } = Ask::Job(JobRequest::PlanExperiments(request));
        Run { request: Box<ExperimentJobRequest> } = Ask::Job(JobRequest::RunExperiment(request));
        Records { set: RecordsKey, ask: RecordsAsk } = Ask::Question(QuestionRequest::Records(set, ask));
    }
}

part! {
    /// Results of studies and experiments.
    4 StudyMessage: Message {
        Part { result: Box<StudyResult> } = Message::Part(ResultPart::Study(result));
        Study { result: Box<StudyResult> } = Message::Done(JobResult::Study(result));
        ReadRecords { read: RecordsRead } = Message::Done(JobResult::Records(read));
        Plan { plan: Box<ExperimentsPlan> } = Message::Done(JobResult::ExperimentsPlan(plan));
        Experiment { row: u32, result: Box<ExperimentRow> } = Message::Done(JobResult::Experiment { row, result });
        Records { records: Box<RecordsResult> } = Message::Answer(Reply::Records(records));
    }
}
