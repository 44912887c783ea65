//! The log of a shared object, led to the host.
//!
//! Each shared object has `log` statics and a panic hook of its own.

use std::sync::OnceLock;

use crate::HostApi;

struct Forward(OnceLock<HostApi>);

static FORWARD: Forward = Forward(OnceLock::new());

/// Leads this shared object's log to the host. Only for a shared object: a backend that is linked in
/// shares the host's log already.
pub(crate) fn install(host: HostApi) {
    if FORWARD.0.set(host).is_err() {
        return;
    }
    if log::set_logger(&FORWARD).is_ok() {
        // What is written is the host's decision, asked for each message.
        log::set_max_level(log::LevelFilter::Trace);
    }
}

/// Leads the messages of this shared object's panics to its log: the host reports a panic as an
/// error, and without this it would be printed as well. Only for a shared object.
pub(crate) fn hook_panics() {
    std::panic::set_hook(Box::new(|info| log::debug!("{info}")));
}

impl log::Log for Forward {
    fn enabled(&self, metadata: &log::Metadata<'_>) -> bool {
        self.0
            .get()
            .is_some_and(|host| host.log_enabled(metadata.level(), metadata.target()))
    }

    fn log(&self, record: &log::Record<'_>) {
        if !self.enabled(record.metadata()) {
            return;
        }
        let Some(host) = self.0.get() else { return };
        match record.args().as_str() {
            Some(message) => host.log(record.level(), record.target(), message),
            None => host.log(record.level(), record.target(), &record.args().to_string()),
        }
    }

    fn flush(&self) {}
}
