//! What a session does beside opening profiles: models, benchmarks, studies and experiments.
//!
//! It is behind a trait so that a program which only opens profiles has no simulator in it: the page fetches that program first.

use std::cell::RefCell;
use std::rc::Rc;

use super::jobs::{
    CompileJob, ConfigurationJob, CpuJob, ExperimentJob, ExperimentsPlanJob, ImportJob, Job, KeepModelJob, MlperfJob,
    OpenModelJob, PlanJob, ProfileJob, RecordsJob, StageTimes, StudyJob, StudyTraceJob, TraceJob, Waiting,
};
use super::protocol::{JobRequest, Message, QuestionRequest, RecordsSource, Reply};
use ns_base::Clock;
use ns_container::ByteSource;
use ns_device::ModelLibrary;
use ns_documents::experiments::{RecordSets, RecordsAsk, SAMPLE_NAME, sample};
use ns_documents::inspect::{InspectRun, SharedInspector};
use ns_documents::studies::{KernelAnswers, StudyTools};
use ns_documents::{ExportedFile, Recorder};
use ns_forms::share::unpack;

/// What a session lends to its work.
#[derive(Clone, Default)]
pub(super) struct Tools {
    /// Model files that are open.
    pub(super) models: ModelLibrary,
    /// The clock for measured times; a shell that measures provides one.
    pub(super) clock: Option<Rc<dyn Clock>>,
    /// What runs Python files; a shell that has Python provides one.
    pub(super) recorder: Option<Rc<dyn Recorder>>,
    /// When simulated executions begin, nanoseconds since 1970; a profile without it has no date.
    pub(super) run_start_ns: Option<i64>,
}

/// Requests that are not about an open profile.
pub(super) trait Work {
    /// Makes a job that has not begun. Fails when the request is wrong from the start: its file did not come, or the shell cannot
    /// measure.
    fn job(
        &mut self,
        request: JobRequest,
        source: Option<Box<dyn ByteSource>>,
        tools: Tools,
    ) -> Result<Box<dyn Job>, String>;

    fn answer(&mut self, question: QuestionRequest) -> Result<Message, String>;
}

/// The work of a session that only opens profiles.
pub(super) struct ProfilesOnly;

impl Work for ProfilesOnly {
    fn job(&mut self, _: JobRequest, _: Option<Box<dyn ByteSource>>, _: Tools) -> Result<Box<dyn Job>, String> {
        Err("this worker only opens profiles".to_owned())
    }

    fn answer(&mut self, _: QuestionRequest) -> Result<Message, String> {
        Err("this worker only answers questions about profiles".to_owned())
    }
}

/// Benchmarks, profiles and pictures of models.
#[derive(Default)]
pub(super) struct Benchmarks {
    times: StageTimes,
    inspector: SharedInspector,
}

impl Work for Benchmarks {
    fn job(
        &mut self,
        request: JobRequest,
        source: Option<Box<dyn ByteSource>>,
        tools: Tools,
    ) -> Result<Box<dyn Job>, String> {
        let (request, source) = match model_job(request, source, &tools)? {
            Ok(job) => return Ok(job),
            Err(other) => other,
        };
        let times = self.times.clone();
        let Tools { models, clock, run_start_ns, .. } = tools;
        Ok(match request {
            JobRequest::PlanBench(config) => Box::new(PlanJob::new(*config, times, models)),
            JobRequest::RunConfiguration(run) => Box::new(ConfigurationJob::new(*run, times, models)),
            JobRequest::MeasureCpu { copy, configuration } => {
                let no_clock = "this shell has no clock, so nothing can be measured; use device_type neuron";
                Box::new(CpuJob::new(copy, *configuration, clock.ok_or(no_clock)?, &models))
            }
            JobRequest::Mlperf { settings, configuration } => {
                Box::new(MlperfJob::new(*settings, *configuration, times, models))
            }
            JobRequest::Compile(config) => Box::new(CompileJob::new(*config, models)),
            JobRequest::Profile(spec) => Box::new(ProfileJob::new(spec, models, run_start_ns)),
            JobRequest::Trace(spec) => Box::new(TraceJob::new(*spec, times, models)),
            JobRequest::Import { name, .. } => {
                let source = file_of(&name, source)?;
                Box::new(ImportJob::new(name, source))
            }
            JobRequest::Inspect(ask) => Box::new(InspectRun::new(self.inspector.clone(), models, ask, source)?),
            other => return Err(format!("{}: this worker has no studies", other.describe())),
        })
    }

    fn answer(&mut self, question: QuestionRequest) -> Result<Message, String> {
        match question {
            QuestionRequest::BenchPage { page, file_name } => {
                let bytes = page.to_html()?.into_bytes();
                Ok(Message::File(ExportedFile::new(file_name, "text/html", bytes)))
            }
            other => Err(format!("{}: this worker has no studies", other.describe())),
        }
    }
}

/// Studies and experiments.
#[derive(Default)]
pub(super) struct Studies {
    records: RecordSets,
    kernels: Rc<RefCell<KernelAnswers>>,
}

impl Work for Studies {
    fn job(
        &mut self,
        request: JobRequest,
        source: Option<Box<dyn ByteSource>>,
        tools: Tools,
    ) -> Result<Box<dyn Job>, String> {
        let (request, source) = match model_job(request, source, &tools)? {
            Ok(job) => return Ok(job),
            Err(other) => other,
        };
        let Tools { models, clock, recorder, .. } = tools;
        let kernels = self.kernels.clone();
        let lent = StudyTools { clock: clock.clone(), models, recorder, kernels, kept: String::new() };
        Ok(match request {
            JobRequest::Study(spec, kept) => Box::new(StudyJob::new(spec, StudyTools { kept, ..lent })),
            JobRequest::StudyTrace(name) => Box::new(StudyTraceJob::new(name, lent)?),
            JobRequest::ReadRecords(set, from) => {
                let store = self.records.of(set);
                if let RecordsSource::Lines { name, .. } = &from {
                    store.borrow_mut().forget_file(name);
                }
                Box::new(RecordsJob::new(store, waiting_files(from, source)?))
            }
            JobRequest::PlanExperiments(request) => Box::new(ExperimentsPlanJob(*request)),
            JobRequest::RunExperiment(request) => Box::new(ExperimentJob::new(*request, clock)?),
            other => return Err(format!("{}: this worker only runs studies", other.describe())),
        })
    }

    fn answer(&mut self, question: QuestionRequest) -> Result<Message, String> {
        match question {
            QuestionRequest::Records(set, RecordsAsk::Show(spec)) => {
                Ok(Message::Answer(Reply::Records(Box::new(self.records.show(set, &spec)))))
            }
            QuestionRequest::Records(set, RecordsAsk::Save(spec, file)) => {
                self.records.save(set, &spec, file).map(Message::File)
            }
            other => Err(format!("{}: this worker only runs studies", other.describe())),
        }
    }
}

/// All work there is.
#[derive(Default)]
pub(super) struct AllWork {
    benchmarks: Benchmarks,
    studies: Studies,
}

impl Work for AllWork {
    fn job(
        &mut self,
        request: JobRequest,
        source: Option<Box<dyn ByteSource>>,
        tools: Tools,
    ) -> Result<Box<dyn Job>, String> {
        if request.is_study() {
            self.studies.job(request, source, tools)
        } else {
            self.benchmarks.job(request, source, tools)
        }
    }

    fn answer(&mut self, question: QuestionRequest) -> Result<Message, String> {
        if matches!(question, QuestionRequest::Records(..)) {
            self.studies.answer(question)
        } else {
            self.benchmarks.answer(question)
        }
    }
}

type NotThis = (JobRequest, Option<Box<dyn ByteSource>>);

/// A job that opens a model file, which every worker does; another request comes back.
fn model_job(
    request: JobRequest,
    source: Option<Box<dyn ByteSource>>,
    tools: &Tools,
) -> Result<Result<Box<dyn Job>, NotThis>, String> {
    let models = tools.models.clone();
    Ok(Ok(match request {
        JobRequest::OpenModel { name, settings, .. } => {
            let source = file_of(&name, source)?;
            Box::new(OpenModelJob::new(name, *settings, models, source))
        }
        JobRequest::KeepModel { name, .. } => {
            let source = file_of(&name, source)?;
            Box::new(KeepModelJob::new(name, models, source))
        }
        JobRequest::OpenLinkedModel(packed) => Box::new(OpenModelJob::of_link(&packed, models)?),
        other => return Ok(Err((other, source))),
    }))
}

/// The file that is sent along with a request.
pub(super) fn file_of(name: &str, source: Option<Box<dyn ByteSource>>) -> Result<Box<dyn ByteSource>, String> {
    source.ok_or_else(|| format!("{name}: the file did not come with the request"))
}

/// The files of records to read.
fn waiting_files(from: RecordsSource, source: Option<Box<dyn ByteSource>>) -> Result<Vec<Waiting>, String> {
    match from {
        RecordsSource::File { name, .. } => {
            let source = file_of(&name, source)?;
            Ok(vec![Waiting { name, source, is_sample: false, is_part: false }])
        }
        RecordsSource::Lines { name, lines } => {
            Ok(vec![Waiting { name, source: Box::new(lines.into_bytes()), is_sample: false, is_part: false }])
        }
        RecordsSource::Link(text) => {
            let is_sample = text == SAMPLE_NAME;
            let files = if is_sample { sample() } else { unpack(&text)? };
            let waiting = |(name, bytes)| Waiting { name, source: Box::new(bytes), is_sample, is_part: false };
            Ok(files.into_iter().map(waiting).collect())
        }
    }
}
