//! Countersign with other people's programs: the example agents on the real Agent SDKs, each with the claude that it
//! carries, against a scripted model; the commands of docs/headless.md on that claude; and `countersign mcp` with the
//! official MCP clients. The packages are fetched once,
//! into a cache outside the repository. These tests need `node`, `npm`, `python3` with pip, `tmux` and `git`; a missing
//! one fails with its name.

mod agents;
mod clients;
mod headless;
mod packages;
mod program;

// Shared with the tests of the host; each uses its own part of them.
#[allow(dead_code)]
#[path = "../e2e/api.rs"]
mod api;
#[allow(dead_code)]
#[path = "../e2e/desk.rs"]
mod desk;
#[allow(dead_code)]
#[path = "../e2e/sandbox.rs"]
mod sandbox;
#[allow(dead_code)]
#[path = "../e2e/tui.rs"]
mod tui;
