//! What to look at in a kernel, each with what it costs here.

use crate::answer::{Answer, Setup};
use crate::kernel::Kernel;
use crate::list::{List, Problem};

pub(crate) fn lint(_list: &List, _kernel: &Kernel, _answer: &Answer, _setup: &Setup) -> Vec<Problem> {
    Vec::new()
}
