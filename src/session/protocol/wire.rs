//! Messages as bytes. Each program of the page, and each worker, decodes only what it can use.
//!
//! Postcard's code for one type is the code for everything in it. So what the app and the viewer exchange has types of its own here, and
//! any other message is bytes within bytes: the lab and the simulator pass a function that decodes those, which the app and the viewer
//! thus do not contain.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{AnalysisRequest, Ask, Control, Event, JobRequest, JobResult, Message, ProfileQuestion, QuestionRequest};
use super::{ExportedFile, Reply, Request, SearchHits};
use crate::share::LinkedFile;
use crate::{Answer, Catalog, JobId, LinkedTable, OperatorTable, ProfileInfo, ProfileKey};
use ns_device::OpenedModel;
use ns_insight::Insights;
use ns_view::timeline::{SliceDetails, SliceLink, TimelineTile};

/// Decodes what is not about profiles.
pub type Decode<T> = fn(&[u8]) -> Result<T, String>;

#[derive(Serialize, Deserialize)]
enum Wire<T> {
    Profiles(T),
    /// The whole message.
    Other(Vec<u8>),
}

/// A request to a worker that only opens profiles.
#[derive(Serialize, Deserialize)]
enum ProfileRequest {
    Open(JobId, String, u64),
    Catalog(JobId),
    Question(JobId, ProfileKey, ProfileQuestion),
    Analysis(JobId, ProfileKey, AnalysisRequest),
    Control(Control),
}

/// An event for a page that shows profiles.
#[derive(Serialize, Deserialize)]
enum ProfileEvent {
    Ready { protocol: u32, build: String },
    Message(JobId, ProfileMessage),
}

#[derive(Serialize, Deserialize)]
enum ProfileMessage {
    Progress { done: u64, total: u64, label: String },
    Note(String),
    Paused,
    Model(Box<(OpenedModel, LinkedFile)>),
    ModelKept,
    StudyTrace { name: String, text: String },
    Profile(Box<ProfileInfo>),
    Catalog(Catalog),
    Timeline(TimelineTile),
    Details(Option<Box<SliceDetails>>),
    Search(SearchHits),
    Operators(OperatorTable),
    Summary(Option<Box<Insights>>),
    Analysed(Box<Answer>),
    Listed(Box<LinkedTable>),
    Flows { arrows: Vec<(SliceLink, SliceLink)>, total: u64 },
    Density(Vec<f64>),
    File(ExportedFile),
    Failed(String),
    Cancelled,
}

/// A request as bytes.
///
/// # Errors
/// If it is too large for memory.
pub fn encode_request(request: &Request) -> Result<Vec<u8>, String> {
    match profile_request(request) {
        Some(request) => encode(&Wire::Profiles(request)),
        None => encode(&Wire::<ProfileRequest>::Other(encode(request)?)),
    }
}

fn profile_request(request: &Request) -> Option<ProfileRequest> {
    Some(match request.clone() {
        Request::Ask(id, Ask::Job(JobRequest::Open { name, size })) => ProfileRequest::Open(id, name, size),
        Request::Ask(id, Ask::Question(QuestionRequest::Catalog)) => ProfileRequest::Catalog(id),
        Request::Ask(id, Ask::Question(QuestionRequest::Profile(profile, question))) => {
            ProfileRequest::Question(id, profile, question)
        }
        Request::Ask(id, Ask::Analysis(profile, analysis)) => ProfileRequest::Analysis(id, profile, analysis),
        Request::Control(control) => ProfileRequest::Control(control),
        Request::Ask(..) => return None,
    })
}

/// The request in some bytes; `other` decodes one that is not about an open profile.
///
/// # Errors
/// If the bytes are not a request of this build.
pub fn decode_request(bytes: &[u8], other: Decode<Request>) -> Result<Request, String> {
    let request = match decode::<Wire<ProfileRequest>>(bytes)? {
        Wire::Profiles(request) => request,
        Wire::Other(bytes) => return other(&bytes),
    };
    Ok(match request {
        ProfileRequest::Open(id, name, size) => Request::Ask(id, Ask::Job(JobRequest::Open { name, size })),
        ProfileRequest::Catalog(id) => Request::Ask(id, Ask::Question(QuestionRequest::Catalog)),
        ProfileRequest::Question(id, profile, question) => Request::Ask(id, question.of(profile)),
        ProfileRequest::Analysis(id, profile, analysis) => Request::Ask(id, analysis.of(profile)),
        ProfileRequest::Control(control) => Request::Control(control),
    })
}

/// An event as bytes.
///
/// # Errors
/// If it is too large for memory.
pub fn encode_event(event: Event) -> Result<Vec<u8>, String> {
    match profile_event(event) {
        Ok(event) => encode(&Wire::Profiles(event)),
        Err(event) => encode(&Wire::<ProfileEvent>::Other(encode(&event)?)),
    }
}

#[allow(clippy::result_large_err, reason = "the other case is the message itself, given back")]
fn profile_event(event: Event) -> Result<ProfileEvent, Event> {
    match event {
        Event::Ready { protocol, build } => Ok(ProfileEvent::Ready { protocol, build }),
        Event::Message(id, message) => match profile_message(message) {
            Ok(message) => Ok(ProfileEvent::Message(id, message)),
            Err(message) => Err(Event::Message(id, message)),
        },
    }
}

#[allow(clippy::result_large_err, reason = "the other case is the message itself, given back")]
fn profile_message(message: Message) -> Result<ProfileMessage, Message> {
    Ok(match message {
        Message::Progress { done, total, label } => ProfileMessage::Progress { done, total, label },
        Message::Note(text) => ProfileMessage::Note(text),
        Message::Paused => ProfileMessage::Paused,
        Message::Done(JobResult::Model(found)) => ProfileMessage::Model(found),
        Message::Done(JobResult::ModelKept) => ProfileMessage::ModelKept,
        Message::Done(JobResult::StudyTrace { name, text }) => ProfileMessage::StudyTrace { name, text },
        Message::Done(JobResult::Profile(info)) => ProfileMessage::Profile(info),
        Message::Answer(Reply::Catalog(catalog)) => ProfileMessage::Catalog(catalog),
        Message::Answer(Reply::Timeline(tile)) => ProfileMessage::Timeline(tile),
        Message::Answer(Reply::Details(details)) => ProfileMessage::Details(details),
        Message::Answer(Reply::Search(hits)) => ProfileMessage::Search(hits),
        Message::Answer(Reply::Operators(table)) => ProfileMessage::Operators(table),
        Message::Answer(Reply::Summary(insights)) => ProfileMessage::Summary(insights),
        Message::Answer(Reply::Analysed(answer)) => ProfileMessage::Analysed(answer),
        Message::Answer(Reply::Listed(listed)) => ProfileMessage::Listed(listed),
        Message::Answer(Reply::Flows { arrows, total }) => ProfileMessage::Flows { arrows, total },
        Message::Answer(Reply::Density(busy)) => ProfileMessage::Density(busy),
        Message::File(file) => ProfileMessage::File(file),
        Message::Failed(message) => ProfileMessage::Failed(message),
        Message::Cancelled => ProfileMessage::Cancelled,
        other @ (Message::Part(_) | Message::Done(_) | Message::Answer(_)) => return Err(other),
    })
}

/// The event in some bytes; `other` decodes one that only pages of the lab ask for.
///
/// # Errors
/// If the bytes are not an event of this build.
pub fn decode_event(bytes: &[u8], other: Decode<Event>) -> Result<Event, String> {
    let (id, message) = match decode::<Wire<ProfileEvent>>(bytes)? {
        Wire::Profiles(ProfileEvent::Ready { protocol, build }) => return Ok(Event::Ready { protocol, build }),
        Wire::Profiles(ProfileEvent::Message(id, message)) => (id, message),
        Wire::Other(bytes) => return other(&bytes),
    };
    Ok(Event::Message(id, message_of(message)))
}

fn message_of(message: ProfileMessage) -> Message {
    match message {
        ProfileMessage::Progress { done, total, label } => Message::Progress { done, total, label },
        ProfileMessage::Note(text) => Message::Note(text),
        ProfileMessage::Paused => Message::Paused,
        ProfileMessage::Model(found) => Message::Done(JobResult::Model(found)),
        ProfileMessage::ModelKept => Message::Done(JobResult::ModelKept),
        ProfileMessage::StudyTrace { name, text } => Message::Done(JobResult::StudyTrace { name, text }),
        ProfileMessage::Profile(info) => Message::Done(JobResult::Profile(info)),
        ProfileMessage::Catalog(catalog) => Message::Answer(Reply::Catalog(catalog)),
        ProfileMessage::Timeline(tile) => Message::Answer(Reply::Timeline(tile)),
        ProfileMessage::Details(details) => Message::Answer(Reply::Details(details)),
        ProfileMessage::Search(hits) => Message::Answer(Reply::Search(hits)),
        ProfileMessage::Operators(table) => Message::Answer(Reply::Operators(table)),
        ProfileMessage::Summary(insights) => Message::Answer(Reply::Summary(insights)),
        ProfileMessage::Analysed(answer) => Message::Answer(Reply::Analysed(answer)),
        ProfileMessage::Listed(listed) => Message::Answer(Reply::Listed(listed)),
        ProfileMessage::Flows { arrows, total } => Message::Answer(Reply::Flows { arrows, total }),
        ProfileMessage::Density(busy) => Message::Answer(Reply::Density(busy)),
        ProfileMessage::File(file) => Message::File(file),
        ProfileMessage::Failed(message) => Message::Failed(message),
        ProfileMessage::Cancelled => Message::Cancelled,
    }
}

fn encode<T: Serialize>(message: &T) -> Result<Vec<u8>, String> {
    postcard::to_allocvec(message).map_err(|e| format!("the message could not be written: {e}"))
}

/// Decodes any request or event: for a program that uses them all.
///
/// # Errors
/// If the bytes are not a message of this build.
pub fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    postcard::from_bytes(bytes).map_err(|e| format!("a message could not be read: {e}"))
}

/// Decodes no other message: for a program that is only about profiles.
///
/// # Errors
/// Always.
pub fn decode_none<T>(_: &[u8]) -> Result<T, String> {
    Err("a message could not be read: it is not about a profile".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_about_profiles_are_read_without_the_rest() {
        let id = JobId(3);
        let requests = [
            Request::new(id, JobRequest::Open { name: "a.json".to_owned(), size: 7 }),
            Request::new(id, QuestionRequest::Catalog),
            Request::new(id, ProfileQuestion::Density(5).of(ProfileKey(1))),
            Request::new(id, AnalysisRequest::Page("#/".to_owned()).of(ProfileKey(1))),
            Control::Cancel(id).into(),
        ];
        for request in requests {
            let bytes = encode_request(&request).unwrap();
            assert_eq!(decode_request(&bytes, decode_none), Ok(request));
        }
        let messages = [
            Message::Progress { done: 1, total: 2, label: "Reading".to_owned() },
            Message::Note("n".to_owned()),
            Message::Paused,
            Message::Done(JobResult::ModelKept),
            Message::Done(JobResult::StudyTrace { name: "llm?v=1".to_owned(), text: "[]".to_owned() }),
            Message::Answer(Reply::Catalog(crate::catalog::catalog())),
            Message::Answer(Reply::Details(None)),
            Message::Answer(Reply::Search(SearchHits::default())),
            Message::Answer(Reply::Summary(None)),
            Message::Answer(Reply::Flows { arrows: Vec::new(), total: 4 }),
            Message::Answer(Reply::Density(vec![1.0])),
            Message::File(ExportedFile::default()),
            Message::Failed("why".to_owned()),
            Message::Cancelled,
        ];
        for message in messages {
            let event = Event::Message(id, message);
            let bytes = encode_event(event.clone()).unwrap();
            assert_eq!(decode_event(&bytes, decode_none), Ok(event));
        }
        let ready = Event::Ready { protocol: 1, build: "b".to_owned() };
        assert_eq!(decode_event(&encode_event(ready.clone()).unwrap(), decode_none), Ok(ready));
    }

    #[test]
    fn other_messages_need_their_decoder() {
        let request = Request::new(JobId(3), JobRequest::OpenLinkedModel("packed".to_owned()));
        let bytes = encode_request(&request).unwrap();
        assert!(decode_request(&bytes, decode_none).unwrap_err().contains("not about a profile"));
        assert_eq!(decode_request(&bytes, decode), Ok(request));

        let event = Event::Message(JobId(3), Message::Done(JobResult::AllParts));
        let bytes = encode_event(event.clone()).unwrap();
        assert!(decode_event(&bytes, decode_none).is_err());
        assert_eq!(decode_event(&bytes, decode), Ok(event));
        assert!(decode_event(b"\xff", decode).is_err());
    }
}
