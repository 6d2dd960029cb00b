//! `neuronscope serve`

use std::process::{Command, Stdio};

use anyhow::Result;

use crate::serve::{Site, serve};
use crate::serve_args::ServeArgs;
use crate::shell::Shell;

pub(super) fn run(shell: &Shell, args: &ServeArgs) -> Result<()> {
    let site = Site::of(args.dir.as_deref())?;
    serve(site, args.port, |port| {
        if args.port != 0 && port != args.port {
            shell.say(&format!("Port {} is taken: using {port}.", args.port));
        }
        let url = format!("http://127.0.0.1:{port}/");
        // Who has closed stdout does not wait for the address.
        let _ = shell.print(format!("neuronscope is at {url}  (Ctrl-C stops it)\n").as_bytes());
        if args.open && !open(&url) {
            shell.say(&format!("The browser could not be started. Open {url} in it."));
        }
    })
}

/// Opens an address in the default browser; returns whether the browser could be started.
fn open(url: &str) -> bool {
    let (program, before): (&str, &[&str]) = if cfg!(target_os = "macos") {
        ("open", &[])
    } else if cfg!(windows) {
        ("cmd", &["/C", "start", ""])
    } else {
        ("xdg-open", &[])
    };
    let started = Command::new(program).args(before).arg(url).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    started.is_ok()
}
