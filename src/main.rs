//! The command line.

fn main() -> std::process::ExitCode {
    ns_cli::run()
}
