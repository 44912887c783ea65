//! Small models for tests, written by hand.
