//! Whether a guard may be sent to another thread.

#[cfg(feature = "send_guard")]
pub(crate) type GuardMarker = lock_api::GuardSend;
#[cfg(not(feature = "send_guard"))]
pub(crate) type GuardMarker = lock_api::GuardNoSend;
