//! What copies and workers of a simulated sweep share: which part of it limits them, and what the model assumes where
//! nothing does.

use ns_base::units::{format_number, format_whole_share};
use ns_machine::arch::{INSTANCES, Instance, instance};

use super::report::Report;
use super::verdict::{Differing, best};

/// Share of the time, per cent, from which a part counts as the limit.
const LIMITING_PERCENT: f64 = 90.0;
/// Share of the throughput of one copy, times the copies, from which scaling counts as linear.
const LINEAR: f64 = 0.98;

/// Sentences about the finished simulated rows: the host where it limits, the way to the devices where it does, and how the
/// most copies scale.
pub fn sharing<'a>(reports: impl IntoIterator<Item = &'a Report>) -> Vec<String> {
    let simulated: Vec<&Report> = reports.into_iter().filter(|r| r.is_finished() && r.source == "simulated").collect();
    let differing = Differing::of(simulated.iter().copied());
    let limited = |percent: fn(&Report) -> Option<f64>| {
        let rows = simulated.iter().copied().filter(move |r| percent(r).is_some_and(|p| p >= LIMITING_PERCENT));
        best(rows, |r| r.throughput_avg, true).map(|(report, _)| report)
    };
    let host = limited(|r| r.host_busy_percent).and_then(|report| host_limit(report, differing));
    let path = limited(|r| r.path_busy_percent).and_then(|report| path_limit(report, differing));
    let waiting = simulated.iter().copied().filter(|r| waits_for_the_interpreter(r));
    let interpreter = best(waiting, |r| r.throughput_avg, true).and_then(|(r, _)| interpreter_limit(r, differing));
    host.into_iter().chain(path).chain(interpreter).chain(scaling(&simulated, differing)).collect()
}

/// `4 vCPUs (2 cores) of inf2.xlarge`.
fn cores_of(size: &Instance) -> String {
    format!("{} vCPUs ({} cores) of {}", size.vcpus, size.host_cores(), size.name)
}

fn host_limit(report: &Report, differing: Differing) -> Option<String> {
    let size = instance(&report.instance_type)?;
    let mut text = format!(
        "The host limits {}: the {} are busy {}. Shorten the host's work (preprocessing, the call, postprocessing); more workers only wait",
        differing.label(report),
        cores_of(size),
        format_whole_share(report.host_busy_percent?),
    );
    if let Some(larger) = with_larger_host(size, report.n_devices) {
        let (name, vcpus, cores) = (larger.name, larger.vcpus, larger.neuroncores);
        text.push_str(&format!("; {name} has {vcpus} vCPUs for {cores} NeuronCores"));
    }
    text.push('.');
    Some(text)
}

/// The smallest size of the same family with the cores that are used and more vCPUs for each NeuronCore.
fn with_larger_host(size: &Instance, n_devices: u64) -> Option<&'static Instance> {
    let family = |name: &str| name.split('.').next().map(str::to_owned);
    let more = |other: &&Instance| {
        family(other.name) == family(size.name)
            && u64::from(other.neuroncores) >= n_devices
            && other.vcpus * size.neuroncores > size.vcpus * other.neuroncores
    };
    INSTANCES.iter().filter(more).min_by_key(|other| other.vcpus)
}

fn path_limit(report: &Report, differing: Differing) -> Option<String> {
    Some(format!(
        "The way between host and devices limits {}: it is busy {}. Smaller inputs and outputs shorten it; more workers only wait.",
        differing.label(report),
        format_whole_share(report.path_busy_percent?),
    ))
}

/// Whether an inference waits longer for the interpreter that all copies share than for all else.
fn waits_for_the_interpreter(report: &Report) -> bool {
    !report.multiprocess && report.wait_avg_ms.zip(report.e2e_avg_ms).is_some_and(|(wait, whole)| wait > whole / 2.0)
}

fn interpreter_limit(report: &Report, differing: Differing) -> Option<String> {
    Some(format!(
        "The one interpreter of all copies limits {}: an inference waits {} of {} ms for it. Give each copy its own process (multiprocess), or shorten preprocessing and postprocessing.",
        differing.label(report),
        format_number(report.wait_avg_ms?),
        format_number(report.e2e_avg_ms?),
    ))
}

/// How the largest number of copies scales; of several such rows the one that scales worst.
fn scaling(reports: &[&Report], differing: Differing) -> Option<String> {
    let most = reports.iter().map(|r| r.n_models).max().filter(|n| *n > 1)?;
    let rows = reports.iter().filter(|r| r.n_models == most);
    let scaled = rows.filter_map(|many| Some((*many, times_of_one(reports, many)?)));
    let (report, times) = scaled.min_by(|a, b| a.1.total_cmp(&b.1))?;
    let mut text = format!("{}: {} times the throughput of one copy.", differing.label(report), format_number(times));
    if times < LINEAR * f64::from(most) {
        return Some(text);
    }
    text.push_str(" The simulated copies share ");
    if let (Some(busy), Some(size)) = (report.host_busy_percent, instance(&report.instance_type)) {
        text.push_str(&format!("the {}, busy {}, and ", cores_of(size), format_whole_share(busy)));
    }
    let path = report.path_busy_percent.map_or_else(String::new, |busy| format!(", busy {}", format_whole_share(busy)));
    text.push_str(&format!(
        "the links to the devices{path}. That they share nothing else is assumed: real copies may scale less (16 copies in NeuronPerf's guide: 8.9 times); a shared overhead adds what they lose."
    ));
    Some(text)
}

/// Throughput of a row in those of the same configuration with one copy.
fn times_of_one(reports: &[&Report], many: &Report) -> Option<f64> {
    let one = reports.iter().find(|one| one.n_models == 1 && are_alike(one, many))?;
    let times = many.throughput_avg? / one.throughput_avg?;
    times.is_finite().then_some(times)
}

/// Whether two rows differ only in the number of copies.
fn are_alike(a: &Report, b: &Report) -> bool {
    let key = |r: &Report| {
        let model = (r.model_name.clone(), r.instance_type.clone(), r.compiler_args.clone(), r.workflow.clone());
        (model, r.batch_size, r.workers_per_model, r.pipeline_size, r.performance_level, r.multiprocess)
    };
    key(a) == key(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(n_models: u32, workers_per_model: u32, throughput: f64, host: f64, path: f64) -> Report {
        Report {
            status: "finished".into(),
            source: "simulated".into(),
            instance_type: "inf2.xlarge".into(),
            batch_size: 1,
            pipeline_size: 1,
            n_models,
            n_devices: n_models.into(),
            workers_per_model,
            throughput_avg: Some(throughput),
            host_busy_percent: Some(host),
            path_busy_percent: Some(path),
            ..Report::default()
        }
    }

    #[test]
    fn a_busy_host_is_named_with_a_larger_one() {
        let said = sharing(&[row(1, 8, 390.0, 97.0, 1.0), row(2, 8, 400.0, 99.9, 1.0)]);
        assert_eq!(
            said[0],
            "The host limits 2 models x 8 workers: the 4 vCPUs (2 cores) of inf2.xlarge are busy 100 %. Shorten the host's work (preprocessing, the call, postprocessing); more workers only wait; inf2.8xlarge has 32 vCPUs for 2 NeuronCores."
        );
        assert_eq!(said[1], "2 models x 8 workers: 1.03 times the throughput of one copy.");
        assert_eq!(said.len(), 2);
    }

    #[test]
    fn the_interpreter_is_named_where_most_of_the_time_is_a_wait_for_it() {
        let times = |wait, multiprocess| Report {
            wait_avg_ms: Some(wait),
            e2e_avg_ms: Some(6.4),
            multiprocess,
            ..row(64, 1, 9_000.0, 5.0, 1.0)
        };
        let said = sharing(&[times(4.85, false)]);
        assert!(said[0].starts_with("The one interpreter of all copies limits 64 models x 1 worker: an inference waits 4.85 of 6.40 ms for it."), "{said:?}");
        assert!(sharing(&[times(4.85, true), times(1.0, false)]).iter().all(|s| !s.contains("interpreter")));
    }

    #[test]
    fn linear_scaling_says_what_it_assumes() {
        let said = sharing(&[row(1, 1, 100.0, 3.0, 4.0), row(2, 1, 200.0, 6.0, 8.0)]);
        assert_eq!(
            said,
            [
                "2 models x 1 worker: 2.00 times the throughput of one copy. The simulated copies share the 4 vCPUs (2 cores) of inf2.xlarge, busy 6 %, and the links to the devices, busy 8 %. That they share nothing else is assumed: real copies may scale less (16 copies in NeuronPerf's guide: 8.9 times); a shared overhead adds what they lose."
            ]
        );
    }

    #[test]
    fn a_busy_way_to_the_devices_is_named() {
        let said = sharing(&[row(2, 2, 200.0, 6.0, 99.0)]);
        assert_eq!(said.len(), 1);
        assert!(said[0].starts_with("The way between host and devices limits 2 models x 2 workers: it is busy 99 %."));
    }

    #[test]
    fn rows_that_differ_in_more_than_copies_are_not_compared() {
        let other_batch = Report { batch_size: 4, ..row(1, 1, 100.0, 1.0, 1.0) };
        assert!(sharing(&[other_batch, row(2, 1, 200.0, 1.0, 1.0)]).is_empty());
        let measured = Report { source: "measured".into(), ..row(2, 8, 400.0, 99.9, 99.0) };
        assert!(sharing(&[measured]).is_empty());
    }
}
