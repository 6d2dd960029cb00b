//! The command line.

fn main() -> std::process::ExitCode {
    ns_cli::run(std::env::args_os().collect()).into()
}
