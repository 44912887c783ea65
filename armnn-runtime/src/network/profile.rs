//! What backends record while a network is profiled.

use std::collections::VecDeque;

use armnn_network::LayerId;

/// Something that a backend recorded: a step of its own, the layers it stands for, and when it
/// started and ended, in nanoseconds of the monotonic clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileEvent {
    /// The backend's name for the step.
    pub step: String,
    /// The layers, by their numbers in the [report](super::ExecutionState::report).
    pub layers: Vec<LayerId>,
    /// When it started.
    pub start_ns: u64,
    /// When it ended.
    pub end_ns: u64,
}

/// What backends recorded since it was last taken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// What was recorded, in order: the last of it, if it was more than
    /// [`MOST_EVENTS`](Self::MOST_EVENTS), or named more layers in all than
    /// [`MOST_LAYERS`](Self::MOST_LAYERS).
    pub events: Vec<ProfileEvent>,
    /// How many earlier events were dropped.
    pub dropped: u64,
}

impl Profile {
    /// How many events are kept.
    pub const MOST_EVENTS: usize = 1 << 18;

    /// How many layers the events that are kept name in all.
    pub const MOST_LAYERS: usize = 1 << 22;
}

/// The last events, and how many were before them.
#[derive(Debug, Default)]
pub(crate) struct EventRing {
    events: VecDeque<ProfileEvent>,
    /// How many layers they name.
    layers: usize,
    dropped: u64,
}

impl EventRing {
    pub(crate) fn push(&mut self, event: ProfileEvent) {
        self.layers = self.layers.saturating_add(event.layers.len());
        self.events.push_back(event);
        while self.events.len() > Profile::MOST_EVENTS || self.layers > Profile::MOST_LAYERS {
            let Some(oldest) = self.events.pop_front() else {
                return;
            };
            self.layers = self.layers.saturating_sub(oldest.layers.len());
            self.dropped = self.dropped.saturating_add(1);
        }
    }

    /// Adds what another one had.
    pub(crate) fn append(&mut self, profile: Profile) {
        self.dropped = self.dropped.saturating_add(profile.dropped);
        profile
            .events
            .into_iter()
            .for_each(|event| self.push(event));
    }

    pub(crate) fn take(&mut self) -> Profile {
        let Self {
            events, dropped, ..
        } = std::mem::take(self);
        Profile {
            events: events.into(),
            dropped,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(number: u64, layers: usize) -> ProfileEvent {
        ProfileEvent {
            step: String::new(),
            layers: vec![LayerId(0); layers],
            start_ns: number,
            end_ns: number,
        }
    }

    #[test]
    fn the_last_events_are_kept_and_the_others_counted() {
        let mut ring = EventRing::default();
        for number in 0..Profile::MOST_EVENTS as u64 + 3 {
            ring.push(event(number, 1));
        }
        let profile = ring.take();
        assert_eq!(profile.events.len(), Profile::MOST_EVENTS);
        assert_eq!((profile.events[0].start_ns, profile.dropped), (3, 3));
        assert_eq!(ring.take(), Profile::default());
    }

    #[test]
    fn events_of_many_layers_are_fewer() {
        let mut ring = EventRing::default();
        for number in 0..5 {
            ring.push(event(number, Profile::MOST_LAYERS / 2));
        }
        let profile = ring.take();
        assert_eq!((profile.events.len(), profile.dropped), (2, 3));
        let mut other = EventRing::default();
        other.push(event(9, 1));
        other.append(profile);
        let profile = other.take();
        assert_eq!((profile.events.len(), profile.dropped), (2, 4));
    }
}
