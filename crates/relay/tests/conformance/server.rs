//! This repository's relay, started for a test, on SQLite or on a PostgreSQL of its own.

use std::path::Path;
use std::process::Command;

use crate::client::{Client, Parties};
use crate::postgres::Database;
use crate::serving::{ANYWHERE, RELAY, Serving};

pub struct Server {
    running: Serving,
    dir: tempfile::TempDir,
    postgres: Option<String>,
    parties: Parties,
}

impl Server {
    pub fn on_sqlite() -> Server {
        Server::start(None)
    }

    pub fn on_postgresql(database: &Database) -> Server {
        Server::start(Some(database.address.clone()))
    }

    fn start(postgres: Option<String>) -> Server {
        let dir = tempfile::tempdir().expect("a directory");
        let parties = Parties::new();
        std::fs::write(dir.path().join("clients.json"), parties.clients()).expect("the clients");
        Server {
            running: serve(dir.path(), postgres.as_deref()),
            dir,
            postgres,
            parties,
        }
    }

    pub fn client(&self) -> Client {
        Client::new(&format!("http://{}", self.running.address), &self.parties)
    }

    /// Ends the relay, with SIGKILL or as it is meant to end, and starts it anew.
    pub fn restart(&mut self, kill: bool) {
        let child = &mut self.running.child;
        if kill {
            child.kill().expect("the relay is killed");
        } else {
            let told = Command::new("kill").arg(child.id().to_string()).status();
            assert!(told.expect("kill starts").success());
        }
        child.wait().expect("the relay's end");
        self.running = serve(self.dir.path(), self.postgres.as_deref());
    }
}

fn serve(dir: &Path, postgres: Option<&str>) -> Serving {
    let postgres = postgres.map(|file| ["--postgres", file]);
    Serving::start(
        &mut Command::new(RELAY),
        ANYWHERE,
        dir,
        postgres.as_ref().map_or(&[], |words| words),
    )
}
