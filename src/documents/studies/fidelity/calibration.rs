//! What a fit to a table finds: `neuronscope validate --calibrate`.

use ns_base::units::format_share;
use ns_base::{Refusal, refuse};
use ns_fidelity::{
    Calibrator, DecodeCalibrator, DecodeFit, PublishedRow, ServedCalibrator, ServedErrors, ServedRow, Summary,
    errors_of, ratios_by_one_factor, rms_of_ratios,
};

use super::table::FigureTable;

/// What the fit to the rows finds, and the errors of the fits without some of them. Fails when nothing is fitted to such rows.
pub fn calibrated(table: &FigureTable) -> Result<String, Refusal> {
    match table {
        FigureTable::Measured(_) => {
            Err(refuse!("holds measurements of instructions; --calibrate fits to rows of models"))
        }
        FigureTable::Kernels(_) => Err(refuse!("holds NKI kernels, to which nothing is fitted")),
        FigureTable::Served(rows) => Ok(calibrate_served(rows)),
        FigureTable::Published(rows) => Ok(calibrate(rows)),
    }
}

fn group_lines(groups: &[ServedErrors]) -> String {
    groups
        .iter()
        .map(|g| {
            let inside = format!("; {} of {} in their intervals\n", g.inside, g.summary.n);
            line(g.group, &g.summary).trim_end().to_owned() + &inside
        })
        .collect()
}

/// The fit to the rows of served models, and the errors of each model by the fit without it.
fn calibrate_served(rows: &[ServedRow]) -> String {
    let mut calibrator = ServedCalibrator::new(rows);
    let fit = calibrator.fit(|_| true);
    let mut out = format!("{fit:#?}\n{}", group_lines(&errors_of(&calibrator.ratios(fit, |_| true))));
    let left_out = calibrator.leave_one_model_out();
    let all: Vec<_> = left_out.iter().flat_map(|left| left.ratios.iter().copied()).collect();
    out.push_str(&format!("\neach model by the fit without it\n{}\n", group_lines(&errors_of(&all))));
    for left in left_out {
        let ratios: Vec<f64> = left.ratios.iter().map(|(_, ratio)| *ratio).collect();
        let c = left.calibration;
        out.push_str(&line(&format!("without {}", left.model), &Summary::of_ratios(&ratios)));
        out.push_str(&format!(
            "  head {} ns, row {} ps, all-reduce of Trn2 {} ns, vLLM {} us; ratios {ratios:.4?}\n",
            c.kv_head_ns, c.row_ps, c.trn2_all_reduce_ns, c.vllm_host_us
        ));
    }
    out
}

/// The fit to all rows, and for each family of models the errors of a fit without that family's rows.
fn calibrate(published: &[PublishedRow]) -> String {
    let mut decode = DecodeCalibrator::new(published);
    if !decode.is_empty() {
        return calibrate_generation(&mut decode);
    }
    let mut calibrator = Calibrator::new(published);
    let fit = calibrator.fit(|_| true);
    let mut out = format!("{:#?}\n{}", fit.calibration, line("all", &fit.summary));
    let left_out = calibrator.leave_one_family_out();
    let all: Vec<f64> = left_out.iter().flat_map(|l| l.ratios.iter().copied()).collect();
    out.push_str(&line("each family by the fit without it", &Summary::of_ratios(&all)));
    let floor = Summary::of_ratios(&ratios_by_one_factor(published));
    out.push_str(&line("floor: PyTorch 2 as published, PyTorch 1 by one factor of the other models", &floor));
    for left_out in left_out {
        let c = left_out.fit.calibration;
        out.push_str(&line(&format!("without {}", left_out.family), &left_out.errors));
        out.push_str(&format!(
            "  host call {} ns, copies {} B/us, PyTorch 1 {}; ratios {:.4?}\n",
            c.host_call_ns, c.host_copy_bytes_per_us, c.torch_1_permille, left_out.ratios
        ));
    }
    out
}

/// The same for rows of text generation.
fn calibrate_generation(calibrator: &mut DecodeCalibrator) -> String {
    let fit = calibrator.fit(|_| true);
    let mut out = format!("{:#?}\n{}", fit.calibration, generation_lines(&fit));
    let left_out = calibrator.leave_one_model_out();
    let all: Vec<f64> = left_out.iter().flat_map(|l| l.tpot.iter().copied()).collect();
    out.push_str(&format!(
        "each model by the fit without it: TPOT rms {}\n",
        format_share(rms_of_ratios(&all) * 100.0)
    ));
    for left in left_out {
        out.push_str(&line(&format!("TPOT without {}", left.model), &Summary::of_ratios(&left.tpot)));
        out.push_str(&format!("  {:?}; ratios {:.4?}\n", left.calibration, left.tpot));
    }
    out
}

fn generation_lines(fit: &DecodeFit) -> String {
    let mut out: String = fit.summaries().iter().map(|(name, summary)| line(name, summary)).collect();
    out.push_str(&format!("TPOT rms {}\n", format_share(rms_of_ratios(&fit.tpot) * 100.0)));
    out
}

fn line(name: &str, s: &Summary) -> String {
    let percent = |x: Option<f64>| x.map_or_else(|| "-".to_owned(), |x| format_share(x * 100.0));
    let bias = s.geomean_ratio.map_or_else(|| "-".to_owned(), |x| format!("{x:.3}"));
    format!(
        "{name}: {} rows, median error {}, p90 {}, bias {bias}\n",
        s.n,
        percent(s.median_abs_error),
        percent(s.p90_abs_error)
    )
}
