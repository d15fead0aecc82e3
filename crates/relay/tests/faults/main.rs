//! Nothing that breaks on the way becomes an allow that nobody gave, and nothing that somebody gave is used twice.
//! docs/security.md has the table of steps and faults, and names these tests.

mod broken;
mod chain;
mod clock;
mod desk;
mod double;
#[path = "../shared/eventually.rs"]
mod eventually;
mod home;
#[path = "../shared/http.rs"]
mod http;
mod kills;
mod lies;
#[path = "../shared/port.rs"]
mod port;
#[path = "../shared/postgres.rs"]
mod postgres;
#[path = "../../../../tests/support/pty.rs"]
mod pty;
mod requests;
mod shown;
mod tls;
mod waiting;
