//! `neuronscope serve` over a socket, as a browser uses it; manual pages and completions.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};

use crate::folder::Folder;

const PROGRAM: &str = env!("CARGO_BIN_EXE_neuronscope");

/// A server of a folder, ended when it is dropped.
struct Served {
    child: Child,
    port: u16,
    /// The folder that is served is in it.
    _parent: Option<Folder>,
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A server that was started with these arguments, once it prints its address.
fn started(arguments: &[&str], parent: Option<Folder>) -> Served {
    let mut child = Command::new(PROGRAM).args(arguments).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let port =
        line.split("127.0.0.1:").nth(1).and_then(|rest| rest.split('/').next()).unwrap_or_else(|| panic!("{line}"));
    Served { port: port.parse().unwrap(), child, _parent: parent }
}

/// A built page of a few files, and a file beside its folder that must not be served.
fn served(name: &str, port: u16) -> Served {
    let parent = Folder::new(name);
    let site = parent.join("site");
    fs::create_dir_all(site.join("guide")).unwrap();
    fs::write(parent.join("secret.txt"), "not served").unwrap();
    fs::write(site.join("index.html"), "<title>home</title>").unwrap();
    fs::write(site.join("guide/index.html"), "guide").unwrap();
    fs::write(site.join("worker_bg.wasm"), "wasm").unwrap();
    fs::write(site.join("app-0123456789abcdef.js"), "").unwrap();
    fs::write(site.join("a+b c.txt"), "spaced").unwrap();
    let folder = site.to_str().unwrap().to_owned();
    started(&["serve", "--port", &port.to_string(), "--dir", &folder], Some(parent))
}

/// Status, headers in small letters, body.
fn ask(port: u16, method: &str, path: &str) -> (u16, String, String) {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    write!(stream, "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, head.to_ascii_lowercase(), body.to_owned())
}

#[test]
fn the_page_is_served_with_its_headers_and_nothing_beside_it() {
    let served = served("serve", 0);
    let get = |path: &str| ask(served.port, "GET", path);
    let (status, head, body) = get("/");
    assert_eq!((status, body.as_str()), (200, "<title>home</title>"));
    for header in [
        "content-type: text/html; charset=utf-8",
        "cache-control: no-store",
        "cross-origin-opener-policy: same-origin",
        "cross-origin-embedder-policy: require-corp",
        "cross-origin-resource-policy: same-origin",
        "x-content-type-options: nosniff",
        "content-security-policy: frame-ancestors 'none'",
        "content-length: 19",
    ] {
        assert!(head.contains(header), "{header} is not in {head}");
    }
    assert_eq!(get("/guide/?q=1").2, "guide");
    assert_eq!(get("/a+b%20c.txt").2, "spaced");
    assert!(get("/worker_bg.wasm").1.contains("content-type: application/wasm"));
    assert!(get("/app-0123456789abcdef.js").1.contains("immutable"));
    let (status, head, body) = ask(served.port, "HEAD", "/");
    assert_eq!((status, body.as_str()), (200, ""));
    assert!(head.contains("content-length: 19"), "{head}");
    for path in
        ["/../secret.txt", "/%2e%2e/secret.txt", "/..%2fsecret.txt", "/..\\secret.txt", "/%00", "/%", "/none", "/guide"]
    {
        let (status, _, body) = get(path);
        assert_eq!(status, 404, "{path}");
        assert!(!body.contains("not served"));
    }
    assert_eq!(ask(served.port, "POST", "/").0, 405);
}

/// A request on a connection that stays open, and the first line of its answer.
fn first_line(stream: &mut TcpStream) -> String {
    stream.set_read_timeout(Some(std::time::Duration::from_secs(20))).unwrap();
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).unwrap();
    line
}

#[test]
fn connections_that_stay_open_keep_no_other_waiting() {
    let served = served("connections", 0);
    let mut open = Vec::new();
    for round in 0..20 {
        // As browsers do: two pages are closed, and the next one opens several connections at once.
        open.drain(..open.len().min(2));
        std::thread::sleep(std::time::Duration::from_millis(20));
        let mut together: Vec<_> = (0..6).map(|_| TcpStream::connect(("127.0.0.1", served.port)).unwrap()).collect();
        for stream in &mut together {
            stream.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        }
        for stream in &mut together {
            assert_eq!(first_line(stream), "HTTP/1.1 200 OK\r\n", "round {round}");
        }
        open.append(&mut together);
    }
}

#[test]
fn requests_of_one_connection_are_answered_in_order_and_bad_ones_end_it() {
    let served = served("in_order", 0);
    let talk = |sent: &[u8]| {
        let mut stream = TcpStream::connect(("127.0.0.1", served.port)).unwrap();
        stream.write_all(sent).unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    };
    let two =
        talk(b"GET /guide/ HTTP/1.1\r\n\r\nHEAD / HTTP/1.1\r\n\r\nGET / HTTP/1.0\r\n\r\nGET /guide/ HTTP/1.1\r\n\r\n");
    assert_eq!(two.matches("HTTP/1.1 200 OK").count(), 3, "{two}");
    assert!(
        two.find("guide").unwrap() < two.find("<title>home").unwrap() && two.ends_with("<title>home</title>"),
        "{two}"
    );
    assert!(talk(b"POST / HTTP/1.1\r\nContent-Length: 4\r\n\r\nbody").starts_with("HTTP/1.1 405 "));
    assert!(talk(b"\x16\x03\x01\x02\r\n\r\n").starts_with("HTTP/1.1 400 "));
    let long = [b"GET /".as_slice(), &[b'a'; 40_000]].concat();
    assert!(talk(&long).starts_with("HTTP/1.1 431 "));
}

#[test]
fn the_next_free_port_is_taken_where_one_is_in_use() {
    let taken = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let asked = taken.local_addr().unwrap().port();
    if asked > 65_400 {
        return;
    }
    let served = served("port", asked);
    assert!(served.port > asked, "{} after {asked}", served.port);
    assert_eq!(ask(served.port, "GET", "/").0, 200);
}

#[test]
fn a_folder_without_a_page_is_named_with_what_to_do() {
    let empty = Folder::new("empty");
    let output = Command::new(PROGRAM).args(["serve", "--dir"]).arg(&*empty).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("no index.html") && said.contains("./x build"), "{said}");
}

/// With the page inside (`./x build --binary`, then `cargo test --features embed --test it serve`): the built files are served.
#[cfg(feature = "embed")]
#[test]
fn a_program_that_carries_the_page_serves_it_from_anywhere() {
    let built = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("dist");
    let served = started(&["serve", "--port", "0"], None);
    let (status, head, body) = ask(served.port, "GET", "/");
    assert_eq!(status, 200);
    assert!(
        head.contains("content-type: text/html") && head.contains("cross-origin-opener-policy: same-origin"),
        "{head}"
    );
    assert_eq!(body, fs::read_to_string(built.join("index.html")).unwrap());
    let (status, head, _) = ask(served.port, "HEAD", "/worker_bg.wasm");
    let size = fs::metadata(built.join("worker_bg.wasm")).unwrap().len();
    assert_eq!(status, 200);
    assert!(
        head.contains("content-type: application/wasm") && head.contains(&format!("content-length: {size}")),
        "{head}"
    );
    assert_eq!(ask(served.port, "GET", "/../Cargo.toml").0, 404);
}

#[cfg(not(feature = "embed"))]
#[test]
fn a_program_without_the_page_says_how_to_build_one_that_has_it() {
    let output = Command::new(PROGRAM).arg("serve").output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("./x build --binary") && said.contains("--dir"), "{said}");
}

#[test]
fn completions_and_manual_pages_name_every_command() {
    let help = String::from_utf8(Command::new(PROGRAM).arg("help").output().unwrap().stdout).unwrap();
    let commands: Vec<&str> = help
        .lines()
        .skip_while(|line| !line.starts_with("Commands:"))
        .skip(1)
        .take_while(|line| !line.is_empty())
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .collect();
    assert!(commands.len() > 25 && commands.contains(&"serve"), "{commands:?}");
    for shell in ["bash", "zsh", "fish"] {
        let script = Command::new(PROGRAM).args(["completions", shell]).output().unwrap();
        let script = String::from_utf8(script.stdout).unwrap();
        assert!(script.contains("--workers-per-model") || script.contains("-l workers-per-model"), "{shell}");
        for command in &commands {
            assert!(script.contains(command), "{shell} does not know {command}");
        }
    }
    let folder = Folder::new("man");
    let output = Command::new(PROGRAM).arg("man").arg(&*folder).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for command in &commands {
        let page = fs::read_to_string(folder.join(format!("neuronscope-{command}.1"))).unwrap();
        assert!(page.contains(".TH") && page.contains("OPTIONS"), "{command}");
    }
    assert!(fs::read_to_string(folder.join("neuronscope.1")).unwrap().contains("neuronscope\\-bench"));
}
