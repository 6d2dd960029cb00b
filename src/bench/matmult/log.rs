//! The lines of one case, as `matmult_linear.py` logs them. Their times are those of the simulated clock, seconds since
//! the start, so that a run repeats to the byte.

use ns_base::stats::round_to;
use ns_base::units::format_share;
use ns_device::note_of_times;

use super::report::{MatmultReport, Verification};

/// The log of a case that finished, or its error. `verbose` adds what the script logs at level DEBUG: the stages of a
/// call, and its spread.
pub fn log_lines(report: &MatmultReport, verbose: bool) -> Vec<String> {
    let mut log = Log { at_s: 0.0, lines: Vec::new() };
    log.say("INFO", "args", &arguments(report));
    let Some(benchmark_s) = report.benchmark_s else {
        let error = report.error.as_deref().unwrap_or("no reason is given");
        log.say("ERROR", "run", error);
        return log.lines;
    };
    match report.modelled_compile_s {
        Some(s) => {
            log.at_s += s;
            log.say("INFO", "compile", &format!("compilation_time: {}s (modelled)", python_g(s)));
        }
        None => log.say("INFO", "compile", "compilation skipped: the model is taken as compiled before"),
    }
    let value = |v: Option<f64>| v.unwrap_or(0.0);
    log.at_s += value(report.load_s);
    log.say("INFO", "load", &format!("load_time: {}s", python_g(value(report.load_s))));
    let run = &report.case.run;
    log.at_s += value(report.warmup_s);
    let (warmups, timed) = (run.warmup_iterations, run.timed_iterations);
    log.say("INFO", "warmup", &format!("warmup_time: {}s, count: {warmups}", python_g(value(report.warmup_s))));
    log.at_s += benchmark_s;
    log.say(
        "INFO",
        "run",
        &format!(
            "overall_runtime: {}s, runtime_per_iteration: {}s, count: {timed}",
            python_g(benchmark_s),
            python_g(value(report.iteration_s))
        ),
    );
    if verbose {
        log.details(report);
    }
    match report.tops {
        Some(tops) => log.say("INFO", "run", &format!("PE TOPS = {}", python_g(tops))),
        None if report.products_asked == Some(0) => {
            log.say("INFO", "run", "PE TOPS: none, there is no product to count")
        }
        None => log.say("INFO", "run", "PE TOPS = 0"),
    }
    log.conclusions(report);
    log.say("INFO", "run", "Done");
    let compiled =
        report.modelled_compile_s.map_or("was skipped".to_owned(), |s| format!("took {}s (modelled)", python_g(s)));
    log.lines.push(format!(
        "compilation {compiled}, warmup took {}s, benchmark took {}s",
        python_g(value(report.warmup_s)),
        python_g(benchmark_s)
    ));
    log.lines
}

struct Log {
    at_s: f64,
    lines: Vec<String>,
}

impl Log {
    fn say(&mut self, level: &str, phase: &str, message: &str) {
        self.lines.push(format!("[{:.6} {level} matmult:{phase}]  {message}", round_to(self.at_s, 6)));
    }

    /// The parts of a call.
    fn details(&mut self, report: &MatmultReport) {
        let g = |v: Option<f64>| python_g(v.unwrap_or(0.0));
        self.say(
            "DEBUG",
            "run",
            &format!(
                "of an iteration: host {}s, link {}s, device {}s",
                g(report.host_s),
                g(report.link_s),
                g(report.device_s)
            ),
        );
        self.say(
            "DEBUG",
            "run",
            &format!(
                "iterations: shortest {}s, median {}s, longest {}s",
                g(report.iteration_min_s),
                g(report.iteration_p50_s),
                g(report.iteration_max_s)
            ),
        );
    }

    /// Explanations of the figures.
    fn conclusions(&mut self, report: &MatmultReport) {
        let ms = |v: Option<f64>| format!("{:.3} ms", v.unwrap_or(0.0) * 1e3);
        let host = report.host_s.unwrap_or(0.0) + report.link_s.unwrap_or(0.0);
        self.say(
            "INFO",
            "run",
            &format!(
                "device time {} of an iteration of {}; host and link {}, of which {} pass while the device has the call before",
                ms(report.device_s),
                ms(report.iteration_s),
                ms(Some(host)),
                ms(report.hidden_s)
            ),
        );
        if report.products_asked == Some(0) {
            self.say(
                "INFO",
                "run",
                &format!(
                    "{:.2} GB/s between device memory and the core, of {:.2}",
                    report.dma_gb_per_s.unwrap_or(0.0),
                    report.peak_gb_per_s.unwrap_or(0.0)
                ),
            );
        } else {
            self.say(
                "INFO",
                "run",
                &format!(
                    "{} of the {:.2} TOPS that the array can do in {}",
                    format_share(report.peak_percent.unwrap_or(0.0)),
                    report.peak_tops.unwrap_or(0.0),
                    report.dtype
                ),
            );
        }
        if let Some(note) = note_of_times(report.estimate) {
            self.say("INFO", "run", &note);
        }
        if let Some(limit) = &report.limit {
            self.say("INFO", "run", &format!("limited by {}: {}", limit.by, limit.sentence));
        }
        if let Some(verification) = &report.verification {
            self.verified(report, verification);
        }
        self.log_findings(report);
    }

    /// Whether runs with other seeds gave the same result.
    fn verified(&mut self, report: &MatmultReport, v: &Verification) {
        let again = if v.same_seed_repeats { "repeats to the picosecond" } else { "does NOT repeat" };
        if report.tops.is_none() {
            // Without a rate there is nothing to compare.
            self.say("INFO", "verify", &format!("verification done: the first seed {again}"));
            return;
        }
        let tops: Vec<String> = v.tops.iter().map(|t| python_g(*t)).collect();
        self.say(
            "INFO",
            "verify",
            &format!(
                "verification done: {} TOPS in {} runs, spread {:.3} %; the first seed {again}",
                tops.join(", "),
                tops.len(),
                v.spread_percent
            ),
        );
    }

    fn log_findings(&mut self, report: &MatmultReport) {
        for finding in &report.findings {
            self.say("WARNING", "findings", &finding.sentence);
        }
    }
}

/// The arguments as the script echoes them.
fn arguments(report: &MatmultReport) -> String {
    let (case, run) = (&report.case, &report.case.run);
    let python = |b: bool| if b { "True" } else { "False" };
    let model = case.model.as_ref().map_or_else(String::new, |model| format!("model={model}, "));
    format!(
        "{model}batch_size={}, matrix_dim={}, loop_count={}, num_warmup_iterations={}, num_timed_iterations={}, \
         num_verification_iterations={}, add_bias={}, chained={}, workflow={}, sync={}, instance={}, neuron_cc_flags='{}', seed={}",
        case.batch_size,
        case.matrix_dim,
        case.loop_count,
        run.warmup_iterations,
        run.timed_iterations,
        run.verification_iterations,
        python(run.add_bias),
        python(run.chained),
        run.workflow,
        python(run.sync),
        case.instance,
        report.compiler_args,
        run.seed
    )
}

/// A number in Python's format `g`: six significant digits, no zeros at the end, an exponent below 1e-4 and from 1e6 on.
pub fn python_g(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return if value == 0.0 { "0".to_owned() } else { value.to_string().to_lowercase() };
    }
    let scientific = format!("{value:.5e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let short = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    if (-4..6).contains(&exponent) {
        let places = usize::try_from(5 - exponent).unwrap_or(0);
        return short(&format!("{value:.places$}"));
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", short(digits), exponent.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_pythons() {
        let cases = [
            (236.5306, "236.531"),
            (0.027_660_1, "0.0276601"),
            (27.660_123_4, "27.6601"),
            (77.0, "77"),
            (0.0, "0"),
            (1e-5, "1e-05"),
            (0.000_123_456_7, "0.000123457"),
            (1_234_567.0, "1.23457e+06"),
            (999_999.6, "1e+06"),
            (100_000.0, "100000"),
        ];
        for (value, text) in cases {
            assert_eq!(python_g(value), text);
        }
    }
}
