//! The one place that joins assessment and policy. Every face calls it.

use crate::assess;
use crate::call::Call;
use crate::effect::Assessment;
use crate::facts::Facts;

/// Works out what a call would do.
pub fn assess(call: &Call, facts: &Facts) -> Assessment {
    assess::assess(call, facts)
}
