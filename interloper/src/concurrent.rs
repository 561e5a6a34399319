//! Several concurrent calls, on the fiber engine.
use crate::explore::Found;
use crate::method::Settings;
use crate::outcome::{Coverage, Misuse, Report};
use crate::runner::Runner;
use crate::world::{CallSet, StateId};
use interloper_collections::Subject;
use interloper_commutativity::{Datum, ToValue};
use interloper_scheduler::decisions::Decisions;
pub(crate) fn closed<S: Subject, A: Datum, R: ToValue>(
    _r: &mut Runner<'_, S, A, R>,
    _s: &Settings,
    _i: &[StateId],
) -> Result<Found, Misuse> {
    Err(Misuse::Diverged { reason: "concurrent calls are not built yet".to_owned() })
}
pub(crate) fn open<S: Subject, A: Datum, R: ToValue>(
    _r: &mut Runner<'_, S, A, R>,
    _s: &Settings,
    _i: &[StateId],
    _a: CallSet,
    _e: &str,
) -> Result<Found, Misuse> {
    Err(Misuse::Diverged { reason: "concurrent calls are not built yet".to_owned() })
}
pub(crate) fn replay<S: Subject, A: Datum, R: ToValue>(
    _r: &mut Runner<'_, S, A, R>,
    _s: &Settings,
    _i: &[StateId],
    _a: CallSet,
    _d: &Decisions,
    _c: Coverage,
) -> Result<Report, Misuse> {
    Err(Misuse::Diverged { reason: "concurrent calls are not built yet".to_owned() })
}
