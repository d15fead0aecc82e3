//! Nothing that breaks on the way becomes an allow that nobody gave, and nothing that somebody gave is used twice.
//! docs/security.md has the table of steps and faults, and names these tests.

mod broken;
mod chain;
mod desk;
mod double;
#[path = "../shared/eventually.rs"]
mod eventually;
mod home;
#[path = "../shared/http.rs"]
mod http;
mod kills;
mod lies;
mod requests;
mod shown;
mod tls;
mod waiting;
