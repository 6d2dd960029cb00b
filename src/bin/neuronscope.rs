//! The command line.

fn main() -> std::process::ExitCode {
    neuronscope::cli::run()
}
