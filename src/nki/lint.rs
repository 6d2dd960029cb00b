//! What to look at in a kernel, each with what it costs here.

use crate::answer::Answer;
use crate::kernel::Kernel;
use crate::list::{List, Problem};
use crate::setup::Setup;

pub(crate) fn lint(_list: &List, _kernel: &Kernel, _answer: &Answer, _setup: &Setup) -> Vec<Problem> {
    Vec::new()
}
