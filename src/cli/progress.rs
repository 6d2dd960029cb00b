//! A progress bar on stderr, when stderr is a terminal.

use std::io::IsTerminal;

use super::host;
use indicatif::{ProgressBar as Bar, ProgressDrawTarget, ProgressStyle};

/// Shows progress on a terminal and nothing elsewhere.
pub(super) struct ProgressBar {
    bar: Bar,
}

impl ProgressBar {
    pub fn new() -> Self {
        let bar = Bar::new(0);
        let target =
            if std::io::stderr().is_terminal() { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        bar.set_draw_target(target);
        if let Ok(style) = ProgressStyle::with_template("{msg} {wide_bar} {percent}%") {
            bar.set_style(style);
        }
        Self { bar }
    }

    pub fn show(&mut self, done: u64, total: u64, label: &str) {
        if host::give(|host| host.progress(done, total, label)).is_some() {
            return;
        }
        self.bar.set_length(total.max(done));
        self.bar.set_position(done);
        self.bar.set_message(label.to_owned());
    }

    /// A note on stderr, above the bar where there is one.
    pub fn note(&self, message: &str) {
        self.say(&format!("note: {message}"));
    }

    /// A line on stderr, above the bar where there is one.
    pub fn say(&self, line: &str) {
        self.bar.suspend(|| host::say(line));
    }

    pub fn clear(&mut self) {
        self.bar.finish_and_clear();
        self.bar.reset();
    }
}
