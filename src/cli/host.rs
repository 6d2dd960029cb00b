//! The command line inside another program: a call takes the arguments of a process, and what it prints, says and reads goes through a
//! [`Host`]. So another shell has every command, option and figure of the command line, from one place.

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;

use thiserror::Error;

use super::driver::OpenSession;
use super::interrupt::{self, InterruptError};
use super::shell::Shell;

/// What a program gives to the calls that it makes.
pub trait Host {
    /// Takes what the command prints to stdout.
    fn print(&mut self, bytes: &[u8]);
    /// Takes a line of stderr.
    fn say(&mut self, line: &str);
    /// Takes the progress of the current work: units done, of how many (0 if that is not known), and its name.
    fn progress(&mut self, done: u64, total: u64, label: &str);
    /// The bytes of a file that is in memory only, by the path that the arguments name.
    fn file(&self, path: &Path) -> Option<Arc<Vec<u8>>>;
    /// Takes a file that the command writes, if it is one that stays in memory; `false` sends it to the disk.
    fn write(&mut self, path: &Path, content: &[u8]) -> bool;
}

/// Profiles and models that calls have opened: a later call that names the same ones finds them.
#[derive(Default)]
pub struct Memory(Option<OpenSession>);

/// Why a call did not do its work.
#[derive(Debug, Error)]
pub enum CallError {
    /// The arguments are wrong; the sentence says which.
    #[error("{0}")]
    Usage(String),
    /// The command failed; the sentence says what was wrong, where, and what to do.
    #[error("{0}")]
    Failed(String),
    /// [`stop`] ended it; what had finished is printed.
    #[error("{0}")]
    Stopped(String),
}

/// Runs a command: `["bench", "--model", "nn", "--json"]`. Fails as [`CallError`] says.
pub fn call(host: Box<dyn Host>, memory: &mut Memory, args: &[String]) -> Result<(), CallError> {
    let shell = Shell::of(host, memory.0.take());
    let _end = End;
    interrupt::begin();
    let words = std::iter::once("neuronscope").chain(args.iter().map(String::as_str)).map(OsString::from);
    let done = super::run_words(&shell, words.collect());
    memory.0 = shell.take_session();
    let stopped = interrupt::is_stop_requested();
    done.map_err(|error| match error.downcast_ref::<clap::Error>() {
        Some(usage) => CallError::Usage(usage_sentence(usage)),
        None if stopped || error.is::<InterruptError>() => CallError::Stopped(format!("{error:#}")),
        None => CallError::Failed(format!("{error:#}")),
    })
}

/// Ends every running call early, as Ctrl-C does on a terminal.
pub fn stop() {
    interrupt::stop();
}

/// A call has ended, also when it panics.
struct End;

impl Drop for End {
    fn drop(&mut self) {
        interrupt::end();
    }
}

/// The sentences of a usage error, without the advice for a terminal.
fn usage_sentence(error: &clap::Error) -> String {
    let text = error.to_string();
    let lines = text.lines().map(str::trim).take_while(|l| !l.starts_with("Usage:") && !l.starts_with("For more"));
    let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
    lines.join("; ").trim_start_matches("error: ").to_owned()
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;

    use super::*;

    #[derive(Default, Clone)]
    struct Test {
        out: Rc<RefCell<Vec<u8>>>,
        said: Rc<RefCell<Vec<String>>>,
    }

    impl Host for Test {
        fn print(&mut self, bytes: &[u8]) {
            self.out.borrow_mut().extend_from_slice(bytes);
        }

        fn say(&mut self, line: &str) {
            self.said.borrow_mut().push(line.to_owned());
        }

        fn progress(&mut self, _: u64, _: u64, _: &str) {}

        fn file(&self, path: &Path) -> Option<Arc<Vec<u8>>> {
            (path == Path::new("there.json")).then(|| Arc::new(br#"{"traceEvents": []}"#.to_vec()))
        }

        fn write(&mut self, _: &Path, content: &[u8]) -> bool {
            self.print(content);
            true
        }
    }

    fn call_with(test: &Test, line: &str) -> Result<(), CallError> {
        let args: Vec<String> = line.split(' ').map(str::to_owned).collect();
        call(Box::new(test.clone()), &mut Memory::default(), &args)
    }

    #[test]
    fn a_call_prints_to_its_host_and_reads_its_files() {
        let test = Test::default();
        call_with(&test, "bench --model nn --n_models 1 --workers_per_model 1 --duration 1 --json").unwrap();
        let out = String::from_utf8(test.out.take()).unwrap();
        assert!(out.contains("\"throughput_avg\""), "{out}");
        assert!(test.said.borrow().iter().any(|line| line.contains("nn")), "{:?}", test.said);
        call_with(&test, "open there.json").unwrap();
        assert!(String::from_utf8(test.out.take()).unwrap().contains("0 events"));
        let error = call_with(&test, "open elsewhere.json").unwrap_err();
        assert!(matches!(error, CallError::Failed(_)) && error.to_string().contains("elsewhere.json"), "{error}");
    }

    #[test]
    fn wrong_usage_is_a_sentence() {
        let error = call_with(&Test::default(), "bench --n_modles 1").unwrap_err();
        let CallError::Usage(said) = error else { panic!("{error}") };
        assert!(said.starts_with("unexpected argument '--n-modles'") && !said.contains("Usage"), "{said}");
    }

    #[test]
    fn what_a_call_opened_is_there_for_the_next_one() {
        let mut memory = Memory::default();
        for line in ["profile --model nn --json", "profile --model nn --summary --json"] {
            let args: Vec<String> = line.split(' ').map(str::to_owned).collect();
            call(Box::new(Test::default()), &mut memory, &args).unwrap();
            assert_eq!(memory.0.as_ref().map(|open| open.profiles.len()), Some(1));
        }
    }
}
