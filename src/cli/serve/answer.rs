//! The answer to a request: the file, its type, and the same headers that tools/serve.mjs sends.

use std::borrow::Cow;

use super::Site;
use ns_session::share::decode;

/// Content types by file extension.
const TYPES: [(&str, &str); 16] = [
    ("css", "text/css; charset=utf-8"),
    ("csv", "text/csv; charset=utf-8"),
    ("gz", "application/gzip"),
    ("html", "text/html; charset=utf-8"),
    ("ico", "image/x-icon"),
    ("js", "text/javascript; charset=utf-8"),
    ("json", "application/json"),
    ("jsonl", "application/jsonl"),
    ("md", "text/markdown; charset=utf-8"),
    ("mjs", "text/javascript; charset=utf-8"),
    ("png", "image/png"),
    ("svg", "image/svg+xml"),
    ("txt", "text/plain; charset=utf-8"),
    ("wasm", "application/wasm"),
    ("webmanifest", "application/manifest+json"),
    ("woff2", "font/woff2"),
];

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub status: u16,
    pub headers: Vec<(&'static str, &'static str)>,
    pub body: Cow<'static, [u8]>,
}

impl Answer {
    /// An answer that is a sentence.
    pub fn text(status: u16, text: &'static str) -> Self {
        let headers = vec![("Content-Type", "text/plain; charset=utf-8")];
        Self { status, headers, body: Cow::Borrowed(text.as_bytes()) }
    }

    /// The words of the status in HTTP.
    pub fn reason(&self) -> &'static str {
        match self.status {
            200 => "OK",
            400 => "Bad Request",
            404 => "Not Found",
            405 => "Method Not Allowed",
            _ => "Request Header Fields Too Large",
        }
    }
}

/// Answers a request for an address such as `/worker.js?v=1`.
pub(super) fn answer(site: &Site, method: &str, url: &str) -> Answer {
    if !matches!(method, "GET" | "HEAD") {
        let mut refused = Answer::text(405, "method not allowed\n");
        refused.headers.push(("Allow", "GET, HEAD"));
        return refused;
    }
    let path = url.split(['?', '#']).next().unwrap_or_default();
    // A plus sign in a path stays a plus sign.
    let path = decode(&path.replace('+', "%2B"));
    let Some(name) = path.strip_prefix('/') else { return Answer::text(404, "not found\n") };
    let name = if name.is_empty() || name.ends_with('/') { format!("{name}index.html") } else { name.to_owned() };
    match site.file(&name) {
        Some(body) => Answer { status: 200, headers: headers_of(&name), body },
        None => Answer::text(404, "not found\n"),
    }
}

fn headers_of(name: &str) -> Vec<(&'static str, &'static str)> {
    let end = name.rsplit_once('.').map_or("", |(_, end)| end);
    let kind = TYPES.iter().find(|(e, _)| *e == end).map_or("application/octet-stream", |(_, kind)| kind);
    let caching = if is_hashed(name) { "public, max-age=31536000, immutable" } else { "no-store" };
    vec![
        ("Content-Type", kind),
        ("Cache-Control", caching),
        // Cross-origin isolation gives finer timers where the browser allows them.
        ("Cross-Origin-Opener-Policy", "same-origin"),
        ("Cross-Origin-Embedder-Policy", "require-corp"),
        ("Cross-Origin-Resource-Policy", "same-origin"),
        ("X-Content-Type-Options", "nosniff"),
        // A page cannot say this of itself.
        ("Content-Security-Policy", "frame-ancestors 'none'"),
    ]
}

/// Whether a name holds the hash of the content, 12 to 16 digits after a hyphen; any other file may change under the same name.
fn is_hashed(name: &str) -> bool {
    name.split('-').skip(1).any(|rest| {
        let digits = rest.bytes().take_while(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')).count();
        (12..=16).contains(&digits) && matches!(rest.as_bytes().get(digits), Some(b'.' | b'_'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_a_hash_may_be_kept_forever() {
        for hashed in ["app-0123456789abcdef.js", "a-b-0123456789ab_bg.wasm"] {
            assert!(is_hashed(hashed), "{hashed}");
        }
        for plain in ["worker_bg.wasm", "sw.js", "app-0123.js", "app-0123456789abcdefg.js", "landing-light.svg"] {
            assert!(!is_hashed(plain), "{plain}");
        }
    }
}
