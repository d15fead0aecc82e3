//! The relay as a service: how it is turned on and off, started, ended, bounded and watched.

#[path = "../shared/card.rs"]
mod card;
#[path = "../shared/eventually.rs"]
mod eventually;
#[path = "../shared/http.rs"]
mod http;
mod limits;
#[path = "../shared/port.rs"]
mod port;
#[path = "../shared/postgres.rs"]
mod postgres;
mod running;
mod service;
#[path = "../shared/serving.rs"]
mod serving;
mod several;
mod storage;
mod support;
mod switch;
