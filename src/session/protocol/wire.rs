//! Messages as bytes. Each program of the page, and each worker, encodes and decodes only what it can use.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::parts::{BenchAsk, BenchMessage, ModelAsk, Part, ProfileAsk, ProfileMessage, StudyAsk, StudyMessage};
use super::{Ask, Control, Event, JobId, Message, Request};

/// Number of what belongs to no part: [`Request::Control`], [`Event::Ready`].
const NO_PART: u8 = 0;

type Bytes = Result<Vec<u8>, String>;
/// Encodes the messages of one part; gives another message back.
type EncodePart<Whole> = fn(JobId, Whole) -> Result<Bytes, Whole>;
/// The number of a part, and what decodes it.
type DecodePart<Whole> = (u8, fn(&[u8]) -> Result<(JobId, Whole), String>);

/// The parts of what is asked, or of what is answered, that a program writes.
pub struct Encoder<Whole: 'static>(&'static [EncodePart<Whole>]);

/// The parts of what is asked, or of what is answered, that a program reads.
pub struct Decoder<Whole: 'static>(&'static [DecodePart<Whole>]);

impl<Whole> Copy for Decoder<Whole> {}

impl<Whole> Clone for Decoder<Whole> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<Whole> Copy for Encoder<Whole> {}

impl<Whole> Clone for Encoder<Whole> {
    fn clone(&self) -> Self {
        *self
    }
}

impl Encoder<Ask> {
    /// What the page of profiles asks.
    pub const PROFILES: Self = Self(&[encode_part::<ProfileAsk, Ask>, encode_part::<ModelAsk, Ask>]);
    /// What the other pages ask.
    pub const ALL: Self = Self(&[
        encode_part::<ProfileAsk, Ask>,
        encode_part::<ModelAsk, Ask>,
        encode_part::<BenchAsk, Ask>,
        encode_part::<StudyAsk, Ask>,
    ]);
}

impl Decoder<Ask> {
    /// What the worker of profiles is asked.
    pub const PROFILES: Self = Self(&[decode_part::<ProfileAsk, Ask>()]);
    /// What the worker of benchmarks is asked.
    pub const BENCHMARKS: Self =
        Self(&[decode_part::<ProfileAsk, Ask>(), decode_part::<ModelAsk, Ask>(), decode_part::<BenchAsk, Ask>()]);
    /// What the worker of studies is asked.
    pub const STUDIES: Self =
        Self(&[decode_part::<ProfileAsk, Ask>(), decode_part::<ModelAsk, Ask>(), decode_part::<StudyAsk, Ask>()]);
}

impl Encoder<Message> {
    /// What the worker of profiles answers.
    pub const PROFILES: Self = Self(&[encode_part::<ProfileMessage, Message>]);
    /// What the worker of benchmarks answers.
    pub const BENCHMARKS: Self = Self(&[encode_part::<ProfileMessage, Message>, encode_part::<BenchMessage, Message>]);
    /// What the worker of studies answers.
    pub const STUDIES: Self = Self(&[encode_part::<ProfileMessage, Message>, encode_part::<StudyMessage, Message>]);
}

impl Decoder<Message> {
    /// Answers to the page of profiles.
    pub const PROFILES: Self = Self(&[decode_part::<ProfileMessage, Message>()]);
    /// Answers to the other pages.
    pub const ALL: Self = Self(&[
        decode_part::<ProfileMessage, Message>(),
        decode_part::<BenchMessage, Message>(),
        decode_part::<StudyMessage, Message>(),
    ]);
}

impl<Whole> Encoder<Whole> {
    fn encode(self, id: JobId, mut whole: Whole) -> Bytes {
        for encode in self.0 {
            match encode(id, whole) {
                Ok(bytes) => return bytes,
                Err(other) => whole = other,
            }
        }
        Err("a message could not be written: this program does not use it".to_owned())
    }
}

impl<Whole> Decoder<Whole> {
    fn decode(self, number: u8, bytes: &[u8]) -> Result<(JobId, Whole), String> {
        let part = self.0.iter().find(|(n, _)| *n == number);
        let (_, decode) = part.ok_or("a message could not be read: this program does not use it")?;
        decode(bytes)
    }
}

fn encode_part<P: Part<Whole> + Serialize, Whole>(id: JobId, whole: Whole) -> Result<Bytes, Whole> {
    P::of(whole).map(|part| encode(&(P::NUMBER, id, part)))
}

const fn decode_part<P: Part<Whole> + DeserializeOwned, Whole>() -> DecodePart<Whole> {
    (P::NUMBER, |bytes| {
        let (_, id, part): (u8, JobId, P) = decode(bytes)?;
        Ok((id, part.whole()))
    })
}

/// A request as bytes. Fails if it is too large for memory, or not of the program's parts.
pub fn encode_request(request: Request, parts: Encoder<Ask>) -> Result<Vec<u8>, String> {
    match request {
        Request::Control(control) => encode(&(NO_PART, control)),
        Request::Ask(id, ask) => parts.encode(id, ask),
    }
}

/// The request in some bytes. Fails if the bytes are not a request of this build, or not of the program's parts.
pub fn decode_request(bytes: &[u8], parts: Decoder<Ask>) -> Result<Request, String> {
    match number(bytes)? {
        NO_PART => decode::<(u8, Control)>(bytes).map(|(_, control)| control.into()),
        number => parts.decode(number, bytes).map(|(id, ask)| Request::Ask(id, ask)),
    }
}

#[derive(Serialize, Deserialize)]
struct Ready {
    protocol: u32,
    build: String,
}

/// An event as bytes. Fails if it is too large for memory, or not of the program's parts.
pub fn encode_event(event: Event, parts: Encoder<Message>) -> Result<Vec<u8>, String> {
    match event {
        Event::Ready { protocol, build } => encode(&(NO_PART, Ready { protocol, build })),
        Event::Message(id, message) => parts.encode(id, message),
    }
}

/// The event in some bytes. Fails if the bytes are not an event of this build, or not of the program's parts.
pub fn decode_event(bytes: &[u8], parts: Decoder<Message>) -> Result<Event, String> {
    match number(bytes)? {
        NO_PART => decode::<(u8, Ready)>(bytes).map(|(_, Ready { protocol, build })| Event::Ready { protocol, build }),
        number => parts.decode(number, bytes).map(|(id, message)| Event::Message(id, message)),
    }
}

fn number(bytes: &[u8]) -> Result<u8, String> {
    bytes.first().copied().ok_or_else(|| "a message could not be read: it is empty".to_owned())
}

fn encode<T: Serialize>(message: &T) -> Bytes {
    postcard::to_allocvec(message).map_err(|e| format!("the message could not be written: {e}"))
}

fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    postcard::from_bytes(bytes).map_err(|e| format!("a message could not be read: {e}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{AnalysisRequest, JobRequest, JobResult, ProfileQuestion, QuestionRequest, Reply};
    use ns_documents::analysis::Answer;
    use ns_documents::timeline::SearchHits;
    use ns_documents::{ExportedFile, ProfileKey};
    use ns_forms::studies::{StudyKind, StudySpec};

    const ID: JobId = JobId(3);

    fn through(request: &Request, write: Encoder<Ask>, read: Decoder<Ask>) -> Result<Request, String> {
        decode_request(&encode_request(request.clone(), write)?, read)
    }

    #[test]
    fn each_program_reads_what_its_page_asks() {
        let profile = [
            Request::new(ID, JobRequest::Open { name: "a.json".to_owned(), size: 7 }),
            Request::new(ID, QuestionRequest::Catalog),
            Request::new(ID, ProfileQuestion::Density(5).of(ProfileKey(1))),
            Request::new(ID, AnalysisRequest::Page("#/".to_owned()).of(ProfileKey(1))),
            Control::Cancel(ID).into(),
        ];
        for request in profile {
            for read in [Decoder::<Ask>::PROFILES, Decoder::<Ask>::BENCHMARKS, Decoder::<Ask>::STUDIES] {
                assert_eq!(through(&request, Encoder::<Ask>::PROFILES, read), Ok(request.clone()));
                assert_eq!(through(&request, Encoder::<Ask>::ALL, read), Ok(request.clone()));
            }
        }
        let model = Request::new(ID, JobRequest::OpenLinkedModel("packed".to_owned()));
        for read in [Decoder::<Ask>::BENCHMARKS, Decoder::<Ask>::STUDIES] {
            assert_eq!(through(&model, Encoder::<Ask>::PROFILES, read), Ok(model.clone()));
        }
        let study = Request::new(ID, JobRequest::Study(Box::new(StudySpec::new(StudyKind::Llm)), String::new()));
        assert_eq!(through(&study, Encoder::<Ask>::ALL, Decoder::<Ask>::STUDIES), Ok(study.clone()));
        for read in [Decoder::<Ask>::PROFILES, Decoder::<Ask>::BENCHMARKS] {
            assert!(through(&study, Encoder::<Ask>::ALL, read).unwrap_err().contains("does not use it"));
        }
        assert!(through(&study, Encoder::<Ask>::PROFILES, Decoder::<Ask>::STUDIES).is_err());
    }

    #[test]
    fn each_page_reads_what_its_workers_answer() {
        let messages = [
            Message::Progress { done: 1, total: 2, label: "Reading".to_owned() },
            Message::Note("n".to_owned()),
            Message::Paused,
            Message::Done(JobResult::ModelKept),
            Message::Done(JobResult::StudyTrace { name: "llm?v=1".to_owned(), text: "[]".to_owned() }),
            Message::Answer(Reply::Catalog(ns_forms::catalog())),
            Message::Answer(Reply::Details(None)),
            Message::Answer(Reply::Search(SearchHits::default())),
            Message::Answer(Reply::Analysed(Box::new(Answer::Summary(None)))),
            Message::Answer(Reply::Flows { arrows: Vec::new(), total: 4 }),
            Message::Answer(Reply::Density(vec![1.0])),
            Message::File(ExportedFile::default()),
            Message::Failed("why".to_owned()),
            Message::Cancelled,
        ];
        let mut events: Vec<Event> = messages.into_iter().map(|message| Event::Message(ID, message)).collect();
        events.push(Event::Ready { protocol: 1, build: "b".to_owned() });
        for event in events {
            for write in [Encoder::<Message>::PROFILES, Encoder::<Message>::BENCHMARKS, Encoder::<Message>::STUDIES] {
                let bytes = encode_event(event.clone(), write).unwrap();
                assert_eq!(decode_event(&bytes, Decoder::<Message>::PROFILES), Ok(event.clone()));
                assert_eq!(decode_event(&bytes, Decoder::<Message>::ALL), Ok(event.clone()));
            }
        }
        let event = Event::Message(ID, Message::Done(JobResult::AllParts));
        let bytes = encode_event(event.clone(), Encoder::<Message>::BENCHMARKS).unwrap();
        assert!(decode_event(&bytes, Decoder::<Message>::PROFILES).is_err());
        assert_eq!(decode_event(&bytes, Decoder::<Message>::ALL), Ok(event));
        assert!(decode_event(b"\xff", Decoder::<Message>::ALL).is_err());
        assert!(decode_event(b"", Decoder::<Message>::ALL).is_err());
    }
}
