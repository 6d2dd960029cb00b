//! What is asked of a language model: where it runs, how much it reads and writes.

use super::config::DecoderConfig;
use super::memory::Memory;
use super::models::hub_name;
use super::route::Route;
use super::shard::{Cut, Shard, degrees};
use super::step::shards_of;
use super::weights::Weights;
use ns_base::Order;
use ns_base::{Refusal, refuse};
use ns_machine::arch::{INSTANCES, Instance, core_spec, features, known_instance};

/// A request of one batch.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    pub config: DecoderConfig,
    pub instance: &'static Instance,
    /// Tensor parallel degree.
    pub degree: u32,
    /// Groups of these cores that share the experts of a layer: each group has some of them, and its cores a part of each.
    pub expert_groups: u32,
    /// Physical cores of a logical core.
    pub lnc: Option<u32>,
    pub weights: Weights,
    /// Sequences for which the executables are compiled.
    pub batch: u64,
    /// Sequences that run; the whole batch where it is absent. A step takes as long with fewer.
    pub active: Option<u64>,
    /// Tokens of each prompt.
    pub input: u64,
    /// New tokens of each sequence.
    pub output: u64,
    /// Positions of the caches that are compiled; powers of two from 128 when empty.
    pub buckets: Vec<u64>,
    /// Sequences join and leave a running batch: one bucket of full length.
    pub continuous: bool,
    /// The software that serves it; that of the instance where it is absent.
    pub route: Option<Route>,
    pub speculation: Option<Speculation>,
    /// What a server loads, as the user says it; the model's name on the hub where it is absent.
    pub served_as: Option<String>,
}

/// Tokens that are guessed before a step, which keeps those that the model agrees with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Speculation {
    /// Guessed tokens of a sequence and step.
    pub guesses: u64,
    /// The share of guesses that the model agrees with, each by itself.
    pub acceptance: f64,
}

impl Speculation {
    /// Tokens of a step: the agreed ones until the first that is not, and one that the step itself gives.
    pub fn tokens_of_step(&self) -> f64 {
        (0..=self.guesses).fold((0.0, 1.0), |(sum, share), _| (sum + share, share * self.acceptance)).0
    }

    fn check(&self) -> Result<(), Refusal> {
        const MOST: u64 = 16;
        if !(1..=MOST).contains(&self.guesses) {
            return Err(refuse!("--guesses {} is not possible; use 1 to {MOST}", self.guesses));
        }
        if !(0.0..=1.0).contains(&self.acceptance) {
            return Err(refuse!("--acceptance {} is not possible; use a share from 0 to 1", self.acceptance));
        }
        Ok(())
    }
}

/// Positions of the longest published row. A test compares.
pub const LONGEST_ROW: u64 = 16_384;

/// Said of logical cores of one physical core.
const LNC_1: &str =
    "No published row has logical cores of one physical core (LNC 1): collectives and host are those of two.";

/// Shortest cache that is compiled by default.
const SHORTEST_BUCKET: u64 = 128;

/// The instance of this name.
/// Fails when there is none, or its cores run no language model here; the message has the nearest.
pub fn llm_instance(name: &str) -> Result<&'static Instance, Refusal> {
    let instance = known_instance(name)?;
    if degrees(instance, None).is_empty() {
        return Err(refuse!("{} runs no language models here; use an inf2, trn1, trn2 or trn3 size", instance.name));
    }
    Ok(instance)
}

/// Whether the logical cores of an instance can have so many physical cores.
pub fn has_lnc(instance: &Instance, lnc: Option<u32>) -> bool {
    lnc.is_none_or(|lnc| features(instance.core_version).map_or(&[1][..], |f| f.lnc).contains(&lnc))
}

impl Request {
    /// One sequence of 128 tokens and 1,024 new ones on all cores of an instance, with weights as the model's file stores them.
    pub fn of(config: DecoderConfig, instance: &'static Instance) -> Self {
        Self {
            weights: config.stored,
            config,
            instance,
            degree: degrees(instance, None).last().copied().unwrap_or(1),
            expert_groups: 1,
            lnc: None,
            batch: 1,
            active: None,
            input: 128,
            output: 1_024,
            buckets: Vec::new(),
            continuous: false,
            route: None,
            speculation: None,
            served_as: None,
        }
    }

    /// Tokens of a whole sequence.
    pub const fn positions(&self) -> u64 {
        self.input.saturating_add(self.output)
    }

    /// The price of a million new tokens at a throughput of each group of cores, all groups of the instance being busy; `None` without a
    /// published price.
    pub fn usd_per_million_tokens(&self, tokens_per_s: f64) -> Option<f64> {
        let copies = self.instance.logical_cores(self.lnc) / self.degree.max(1);
        let rate = (tokens_per_s * f64::from(copies.max(1))).max(1e-12);
        self.instance.usd_per_hour.map(|usd_per_hour| usd_per_hour / 3_600.0 / rate * 1e6)
    }

    /// Positions of the caches that are compiled, the shortest first.
    pub fn cache_buckets(&self) -> Vec<u64> {
        let all = self.positions();
        if self.continuous && self.buckets.is_empty() {
            return vec![all];
        }
        let mut buckets = self.buckets.clone();
        if buckets.is_empty() {
            buckets =
                std::iter::successors(Some(SHORTEST_BUCKET), |b| b.checked_mul(2)).take_while(|b| *b < all).collect();
            buckets.push(all);
        }
        buckets.order();
        buckets.dedup();
        buckets
    }

    /// Tokens of the prompt's executable: half of each bucket, or one that is given; the smallest that fits.
    pub fn prompt_bucket(&self) -> u64 {
        let half = |b: &u64| if self.buckets.is_empty() { (b / 2).max(SHORTEST_BUCKET / 2) } else { *b };
        let fits = |b: &u64| *b >= self.input;
        self.cache_buckets().iter().map(half).find(fits).unwrap_or(self.input)
    }

    /// One core's part of each kind of layers.
    /// Fails when the model or its experts cannot be shared by so many cores.
    pub fn shards(&self) -> Result<Vec<Shard>, Refusal> {
        let cut = Cut { degree: self.degree, expert_groups: self.expert_groups };
        shards_of(&self.config, cut, self.route())
    }

    /// What the figures leave out or take as given, a sentence each: what the model's file says, how its weights are stored, what is guessed.
    pub fn remarks(&self) -> Vec<String> {
        let guesses = self.speculation.map(|s| {
            let (all, kept) = (s.guesses, ns_base::units::format_number(s.tokens_of_step()));
            format!("A step checks {all} guessed tokens of each sequence and keeps {kept} tokens; guessing them takes no time here.")
        });
        let lnc = (self.instance.core_version == 3 && self.lnc == Some(1)).then(|| LNC_1.to_owned());
        let long = (self.positions() > LONGEST_ROW)
            .then(|| format!("No published row has more than {LONGEST_ROW} positions."));
        let own = self.config.remarks.iter().cloned().chain(self.weights.remark());
        own.chain(guesses).chain(lnc).chain(long).collect()
    }

    /// The command of a server that runs it, with vLLM.
    pub fn serve_command(&self) -> String {
        let mut line = format!(
            "vllm serve {} --tensor-parallel-size {} --max-num-seqs {} --max-model-len {} --dtype bfloat16",
            self.served_as.as_deref().unwrap_or(hub_name(&self.config.name)),
            self.degree,
            self.batch,
            self.positions()
        );
        if self.expert_groups > 1 {
            line.push_str(" --enable-expert-parallel");
        }
        if let Some(speculation) = self.speculation {
            let guesses = speculation.guesses;
            line.push_str(&format!(
                " --speculative-config '{{\"model\": \"DRAFT_MODEL\", \"num_speculative_tokens\": {guesses}}}'"
            ));
        }
        line
    }

    /// Sequences that run.
    pub fn sequences(&self) -> u64 {
        self.active.unwrap_or(self.batch)
    }

    /// The software that serves it.
    pub fn route(&self) -> Route {
        self.route.unwrap_or_else(|| Route::of_instance(self.instance))
    }

    /// Memory of one core at a degree.
    /// Fails when the degree does not divide the model, and when the core's memory is not published.
    pub fn memory(&self) -> Result<Memory, Refusal> {
        let core = core_spec(self.instance.core_version)?;
        let sizes = (self.batch, self.positions(), self.prompt_bucket());
        Ok(Memory::of(
            &self.config,
            &self.shards()?,
            self.weights,
            sizes,
            core.hbm_bytes * u64::from(self.instance.lnc(self.lnc)),
        ))
    }

    /// Checks that the numbers are possible on any instance.
    /// An error says the number that is not possible, and the nearest that is.
    pub fn check_numbers(&self) -> Result<(), Refusal> {
        for (what, n) in [("batch", self.batch), ("input", self.input), ("output", self.output)] {
            if n == 0 || n > 1 << 24 {
                return Err(refuse!("--{what} {n} is not possible; it must be between 1 and {}", 1u64 << 24));
            }
        }
        if let Some(speculation) = &self.speculation {
            speculation.check()?;
        }
        if let Some(active) = self.active.filter(|active| *active == 0 || *active > self.batch) {
            return Err(refuse!(
                "--active {active} is not possible in a batch of {}; use at most {}",
                self.batch,
                self.batch
            ));
        }
        if let Some(lnc) = self.lnc
            && !INSTANCES.iter().any(|instance| has_lnc(instance, self.lnc))
        {
            return Err(refuse!("no instance has logical cores of {lnc} physical cores; use 1 or 2"));
        }
        self.check_positions()
    }

    fn check_positions(&self) -> Result<(), Refusal> {
        let (all, most) = (self.positions(), self.config.max_positions);
        if self.input >= most {
            return Err(refuse!(
                "{}: a prompt of {} tokens fills the {most} positions of the model, so no new token has room; use a prompt of at most {}",
                self.config.name,
                self.input,
                most.saturating_sub(self.output).max(1)
            ));
        }
        if all > most {
            return Err(refuse!(
                "{}: {} tokens of input and {} of output are {all}, and the model has {most} positions; use an output of at most {}",
                self.config.name,
                self.input,
                self.output,
                most - self.input
            ));
        }
        if let Some(last) = self.buckets.iter().max()
            && *last < all
        {
            return Err(refuse!(
                "the largest bucket has {last} positions and a sequence has {all}; add a bucket of {all}"
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::named_config;

    fn request(model: &str, host: &str, degree: u32) -> Request {
        Request { degree, output: 3_968, ..Request::of(named_config(model).unwrap(), llm_instance(host).unwrap()) }
    }

    #[test]
    fn buckets_are_powers_of_two_and_the_whole_length() {
        let r = request("llama-2-7b", "inf2.48xlarge", 24);
        assert_eq!(r.cache_buckets(), [128, 256, 512, 1024, 2048, 4096]);
        assert_eq!(r.prompt_bucket(), 128);
        let odd = Request { input: 900, output: 100, ..r.clone() };
        assert_eq!((odd.cache_buckets(), odd.prompt_bucket()), (vec![128, 256, 512, 1000], 900));
        assert_eq!(Request { continuous: true, ..r }.cache_buckets(), [4096]);
    }

    #[test]
    fn what_is_not_possible_is_refused_with_the_nearest() {
        let error = |r: Request| r.check().unwrap_err().to_string();
        let r = request("llama-3-8b", "inf2.48xlarge", 24);
        assert_eq!(r.check(), Ok(()));
        assert!(error(Request { degree: 16, ..r.clone() }).contains("no groups of 16 cores; the nearest is 12"));
        assert!(error(Request { output: 9_000, ..r.clone() }).ends_with("use an output of at most 8064"));
        assert!(error(Request { input: 8_192, output: 8, ..r.clone() }).ends_with("use a prompt of at most 8184"));
        assert!(error(Request { batch: 0, ..r.clone() }).starts_with("--batch 0"));
        assert!(error(Request { buckets: vec![128], ..r.clone() }).ends_with("add a bucket of 4096"));
        assert!(error(Request { lnc: Some(2), ..r.clone() }).ends_with("use 1"));
        let two = error(request("llama-2-13b", "inf2.48xlarge", 1));
        assert!(two.contains("are missing; it fits at a degree of 2"), "{two}");
        let large = error(request("llama-3.1-405b", "inf2.48xlarge", 24));
        assert!(large.contains("at no degree of this instance, and on trn2.48xlarge at a degree of 64"), "{large}");
        assert!(llm_instance("inf1.xlarge").unwrap_err().to_string().contains("use an inf2"));
        assert!(llm_instance("trn1.32xl").unwrap_err().to_string().contains("trn1.32xlarge"));
    }

    #[test]
    fn memory_of_a_core_falls_with_the_degree() {
        let needed = |degree| request("llama-2-13b", "inf2.48xlarge", degree).memory().unwrap().needed_bytes;
        let all: Vec<u64> = [1, 2, 4, 8, 12, 24].map(needed).to_vec();
        assert!(all.windows(2).all(|w| w[1] < w[0]), "{all:?}");
        let bf16 = request("llama-2-13b", "inf2.48xlarge", 8);
        let int8 = Request { weights: Weights::Int8, ..bf16.clone() };
        assert!(int8.memory().unwrap().weight_bytes < bf16.memory().unwrap().weight_bytes);
    }
}
