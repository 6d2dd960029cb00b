//! The server: on 127.0.0.1 only, with a thread for each connection, until Ctrl-C.

#![allow(clippy::disallowed_methods, reason = "a command line has threads, which other rooms leave to pools")]

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::Site;
use super::answer::{Answer, answer};

/// How many ports after the requested one are tried.
const PORTS_TO_TRY: u16 = 100;

/// Connections at a time; a browser opens six for a page.
const MOST_CONNECTIONS: usize = 512;

/// How long a connection waits for its next request, or for the rest of one.
const PATIENCE: Duration = Duration::from_secs(60);

/// Bytes and headers of a request; browsers send less than 2 kB.
const MOST_BYTES: usize = 32 << 10;
const MOST_HEADERS: usize = 100;

/// Bytes that a client may send after its last answer.
const MOST_BYTES_AFTER: u64 = 1 << 20;

/// Serves a page; passes the port to `ready`. Returns when the server cannot continue. Fails when no port is free.
pub(crate) fn serve(site: Site, port: u16, ready: impl FnOnce(u16)) -> Result<()> {
    let listener = listen(port)?;
    ready(listener.local_addr().context("the server's port is not known")?.port());
    let site = Arc::new(site);
    loop {
        match listener.accept() {
            // Each thread has the site while it talks, so the site knows how many do.
            Ok((stream, _)) if Arc::strong_count(&site) <= MOST_CONNECTIONS => {
                let site = Arc::clone(&site);
                // A client may close its connection at any time.
                let talk = move || drop(talk(&site, &stream).and_then(|()| end(&stream)));
                let _ = thread::Builder::new().spawn(talk);
            }
            Ok(_) => {}
            // Such as no more file handles: the connections that end give theirs back.
            Err(_) => thread::sleep(Duration::from_millis(20)),
        }
    }
}

/// The requested port, or the next free one.
fn listen(port: u16) -> Result<TcpListener> {
    let last = if port == 0 { 0 } else { port.saturating_add(PORTS_TO_TRY) };
    let mut refused = None;
    for candidate in port..=last {
        match TcpListener::bind(("127.0.0.1", candidate)) {
            Ok(listener) => return Ok(listener),
            Err(error) => refused = Some(error),
        }
    }
    let why = refused.map_or_else(String::new, |error| format!(": {error}"));
    bail!("no port from {port} to {last} of 127.0.0.1 can be used{why}. Name another one with --port");
}

/// What a request asks for.
struct Request {
    /// Bytes of the request's head.
    bytes: usize,
    method: String,
    url: String,
    /// Whether further requests may follow on the connection.
    stays: bool,
}

/// Answers the requests of a connection, one after another.
fn talk(site: &Site, mut stream: &TcpStream) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    stream.set_nodelay(true)?;
    let mut unread = Vec::new();
    loop {
        match next_request(&unread) {
            Ok(Some(request)) => {
                unread.drain(..request.bytes);
                let is_head = request.method == "HEAD";
                send(stream, &answer(site, &request.method, &request.url), is_head, request.stays)?;
                if !request.stays {
                    return Ok(());
                }
            }
            Ok(None) if unread.len() < MOST_BYTES => {
                let mut block = [0; 4096];
                match stream.read(&mut block)? {
                    0 => return Ok(()),
                    n => unread.extend(block.iter().take(n)),
                }
            }
            Ok(None) => return send(stream, &Answer::text(431, "the request is too long\n"), false, false),
            Err(_) => return send(stream, &Answer::text(400, "not a request of HTTP/1.1\n"), false, false),
        }
    }
}

/// The first request of these bytes; `None` where its end is not among them.
fn next_request(bytes: &[u8]) -> Result<Option<Request>, httparse::Error> {
    let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    let httparse::Status::Complete(bytes) = request.parse(bytes)? else { return Ok(None) };
    let value = |name: &str| request.headers.iter().find(|h| h.name.eq_ignore_ascii_case(name)).map(|h| h.value);
    let says = |name: &str, text: &str| value(name).is_some_and(|v| v.eq_ignore_ascii_case(text.as_bytes()));
    // A body is not read, so nothing may follow it.
    let has_body = value("transfer-encoding").is_some() || value("content-length").is_some_and(|v| v != b"0");
    let stays =
        !has_body && (says("connection", "keep-alive") || (request.version == Some(1) && !says("connection", "close")));
    let text = |part: Option<&str>| part.unwrap_or_default().to_owned();
    Ok(Some(Request { bytes, method: text(request.method), url: text(request.path), stays }))
}

fn send(mut stream: &TcpStream, answer: &Answer, is_head: bool, stays: bool) -> io::Result<()> {
    let mut head =
        format!("HTTP/1.1 {} {}\r\nContent-Length: {}\r\n", answer.status, answer.reason(), answer.body.len());
    for (name, value) in &answer.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str(if stays { "\r\n" } else { "Connection: close\r\n\r\n" });
    stream.write_all(head.as_bytes())?;
    if !is_head {
        stream.write_all(&answer.body)?;
    }
    stream.flush()
}

/// Ends a connection after its last answer. What the client still sends is read: it would lose the answer otherwise.
fn end(stream: &TcpStream) -> io::Result<()> {
    stream.shutdown(Shutdown::Write)?;
    stream.set_read_timeout(Some(Duration::from_secs(1)))?;
    io::copy(&mut stream.take(MOST_BYTES_AFTER), &mut io::sink()).map(drop)
}
