//! The server: on 127.0.0.1 only, with a few threads, until Ctrl-C.

#![allow(clippy::disallowed_methods, reason = "a command line has threads, which other rooms leave to pools")]

use std::io::Cursor;
use std::sync::Arc;
use std::thread;

use anyhow::{Context, Result, bail};
use tiny_http::{Header, Request, Response, Server};

use super::Site;
use super::answer::answer;

/// Threads of the server: a page fetches several files at once.
const THREADS: usize = 4;

/// How many ports after the requested one are tried.
const PORTS_TO_TRY: u16 = 100;

/// Serves a page; passes the port to `ready`. Returns when the server cannot continue. Fails when no port is free.
pub(crate) fn serve(site: Site, port: u16, ready: impl FnOnce(u16)) -> Result<()> {
    let server = Arc::new(listen(port)?);
    let bound = server.server_addr().to_ip().map(|address| address.port());
    ready(bound.context("the server's port is not known")?);
    let site = Arc::new(site);
    let threads: Vec<_> = (0..THREADS)
        .map(|_| {
            let (server, site) = (Arc::clone(&server), Arc::clone(&site));
            thread::spawn(move || server.incoming_requests().for_each(|request| respond(&site, request)))
        })
        .collect();
    for thread in threads {
        if thread.join().is_err() {
            bail!("a thread of the server ended early");
        }
    }
    Ok(())
}

/// The requested port, or the next free one.
fn listen(port: u16) -> Result<Server> {
    let last = if port == 0 { 0 } else { port.saturating_add(PORTS_TO_TRY) };
    let mut refused = None;
    for candidate in port..=last {
        match Server::http(("127.0.0.1", candidate)) {
            Ok(server) => return Ok(server),
            Err(error) => refused = Some(error),
        }
    }
    let why = refused.map_or_else(String::new, |error| format!(": {error}"));
    bail!("no port from {port} to {last} of 127.0.0.1 can be used{why}. Name another one with --port");
}

fn respond(site: &Site, request: Request) {
    let answered = answer(site, request.method().as_str(), request.url());
    let headers = answered.headers.iter().filter_map(|(name, value)| Header::from_bytes(*name, *value).ok()).collect();
    let length = answered.body.len();
    let body = Cursor::new(answered.body);
    let response = Response::new(answered.status.into(), headers, body, Some(length), None);
    // With a known length, browsers show the progress of a download.
    let response = response.with_chunked_threshold(usize::MAX);
    // The client may have closed the connection.
    let _ = request.respond(response);
}
