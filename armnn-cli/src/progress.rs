//! A bar that shows how far long work is, where a person looks at a terminal.

use std::{
    io::{self, IsTerminal as _},
    time::Duration,
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Shows how far work is on standard error, if that is a terminal; otherwise does nothing.
pub struct Progress(Option<ProgressBar>);

impl Progress {
    /// Shows the beginning of `total` things, named `what`. One thing alone is not counted.
    pub fn new(total: u64, what: &'static str) -> Self {
        if total < 2 || !io::stderr().is_terminal() {
            return Self(None);
        }
        // So often that it takes no time.
        let target = ProgressDrawTarget::stderr_with_hz(8);
        let bar = ProgressBar::with_draw_target(Some(total), target);
        let template = "{bar:30} {pos}/{len} {msg}, {eta} left";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.set_message(what);
        bar.enable_steady_tick(Duration::from_millis(500));
        Self(Some(bar))
    }

    /// One more is done.
    pub fn advance(&self) {
        if let Some(bar) = &self.0 {
            bar.inc(1);
        }
    }

    /// Writes something while the bar is out of the way.
    pub fn suspend<R>(&self, write: impl FnOnce() -> R) -> R {
        match &self.0 {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}
