//! The hook on the real host: pinned releases of Claude Code, each session in a HOME and a tmux server of its own,
//! against a scripted model. These tests need `npm` (to fetch the host once), `tmux` and `git`; a missing one fails
//! with its name.

mod answers;
mod api;
mod control;
mod desk;
mod headless;
mod host;
mod marker;
mod modes;
mod product;
mod race;
mod relay;
mod sandbox;
mod session;
mod tui;
