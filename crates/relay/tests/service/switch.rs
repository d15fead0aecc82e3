//! `on`, `off` and `status`.

use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::Home;

#[test]
fn turned_on_a_home_has_a_machine_and_a_terminal_that_believe_each_other_and_a_relay_that_knows_both() {
    let home = Home::on();
    let (machine, terminal, clients) = (
        home.read("machine.json"),
        home.read("terminal.json"),
        home.read("clients.json"),
    );
    assert_eq!(machine["pinned"][0]["name"], terminal["name"]);
    assert_eq!(terminal["pinned"][0]["name"], machine["name"]);
    assert_eq!(clients[0]["key"], terminal["pinned"][0]["key"]);
    assert_eq!(clients[1]["key"], machine["pinned"][0]["key"]);
    assert_eq!(
        (&clients[0]["role"], &clients[1]["role"]),
        (&json!("machine"), &json!("approver"))
    );
    let parties = home.parties();
    let card = parties.put();
    assert_eq!(parties.allow(&card).status, 200);
    assert_eq!(parties.consume(&card).body["verdict"]["verdict"]["answer"], "allow");
    assert!(home.done(&["status"]).contains("and answers"));
}

#[test]
fn nobody_else_reads_a_file_of_the_relays() {
    let home = Home::on();
    home.parties().put();
    let mode = |path: &std::path::Path| std::fs::metadata(path).expect("a file").permissions().mode() & 0o777;
    assert_eq!(mode(&home.dir()), 0o700);
    for file in std::fs::read_dir(home.dir()).expect("the directory") {
        let path = file.expect("a file").path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
}

#[test]
fn on_again_and_off_and_on_keep_every_key_and_whoever_else_was_paired() {
    let home = Home::on();
    let all = || (home.read("machine.json"), home.read("terminal.json"));
    let before = all();
    let mut clients = home.read("clients.json");
    let phone =
        json!({"role": "approver", "name": "phone", "key": before.0["pinned"][0]["key"], "token": "0".repeat(64)});
    clients.as_array_mut().expect("a list").push(phone);
    std::fs::write(home.dir().join("clients.json"), clients.to_string()).expect("the clients");
    let mut machine = before.0.clone();
    machine["pinned"]
        .as_array_mut()
        .expect("a list")
        .insert(0, json!({"name": "phone", "key": before.1["pinned"][0]["key"]}));
    std::fs::write(home.dir().join("machine.json"), machine.to_string()).expect("the machine");
    home.done(&["on"]);
    home.done(&["off"]);
    assert!(!home.dir().join("machine.json").exists(), "the hook finds no relay");
    assert_eq!(home.done(&["status"]), "The relay is off.\n");
    home.done(&["on"]);
    assert_eq!(all(), (machine, before.1));
    assert_eq!(home.read("clients.json"), clients);
}

#[test]
fn off_ends_the_relay_and_forget_leaves_nothing() {
    let home = Home::on();
    let address = home.parties().address;
    assert!(std::net::TcpStream::connect(&address).is_ok());
    home.done(&["off"]);
    assert!(std::net::TcpStream::connect(&address).is_err());
    home.done(&["off", "--forget"]);
    assert!(!home.dir().exists());
}

#[test]
fn a_port_that_another_has_is_passed_over() {
    // Held here, or by whoever has it already.
    let _taken = TcpListener::bind("127.0.0.1:47163");
    let home = Home::new();
    home.done(&["on"]);
    assert_ne!(home.parties().address, "127.0.0.1:47163");
    assert_eq!(home.parties().presence()["paired"], 1);
}

#[test]
fn a_relay_elsewhere_is_told_of_by_what_its_keeper_may_know() {
    let home = Home::new();
    let said = home.done(&["on", "--url", "https://relay.example/"]);
    let parties = home.parties();
    assert!(
        !said.contains(&parties.machine) && !said.contains(&parties.terminal),
        "{said}"
    );
    let entries = &said[said.find('[').expect("a list")..];
    let entries: serde_json::Value = serde_json::from_str(entries).expect("JSON");
    assert_eq!(entries[0]["role"], "machine");
    assert_eq!(home.read("machine.json")["url"], "https://relay.example");
    assert!(!home.dir().join("clients.json").exists());
    home.done(&["ensure"]);
    assert!(!home.dir().join("relay.log").exists(), "there is nothing to start");
    for wrong in ["http://relay.example", "ftp://127.0.0.1", "relay.example"] {
        let output = home.run(&["on", "--url", wrong]);
        assert!(!output.status.success(), "{wrong}");
    }
    assert_eq!(home.read("machine.json")["url"], "https://relay.example");
}

#[test]
fn what_is_made_while_everything_is_forgotten_is_forgotten_too() {
    let home = Home::on();
    let dir = home.dir();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut ends = Instant::now() + Duration::from_secs(10);
            let mut is_removed = false;
            let mut made = (0..).map(|number| std::fs::write(dir.join(format!("made-{number}")), ""));
            while Instant::now() < ends && made.next().is_some_and(|made| made.is_ok()) {
                if !is_removed && !dir.join("terminal.json").exists() {
                    (is_removed, ends) = (true, Instant::now() + Duration::from_millis(100));
                }
            }
        });
        home.done(&["off", "--forget"]);
    });
    assert!(!dir.exists());
}

#[test]
fn of_a_damaged_file_what_to_do_is_said_and_mends_it() {
    for file in ["machine.json", "terminal.json"] {
        for change in [
            |_: &str| String::new(),
            |text: &str| text.replace("\"key\": \"30", "\"key\": \"31"),
        ] {
            let home = Home::on();
            let path = home.dir().join(file);
            let text = std::fs::read_to_string(&path).expect("the file");
            std::fs::write(&path, change(&text)).expect("the file");
            let output = home.run(&["on"]);
            assert!(!output.status.success(), "{file}");
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            for words in [
                file,
                "damaged",
                "`countersign relay off --forget`, then `countersign relay on`",
            ] {
                assert!(said.contains(words), "{said}");
            }
            home.done(&["off", "--forget"]);
            home.done(&["on"]);
            assert!(home.done(&["status"]).contains("and answers"));
        }
    }
}

#[test]
fn where_the_own_relay_has_lost_whom_it_knows_on_is_said_to_mend_it_and_does() {
    let home = Home::on();
    let clients = home.dir().join("clients.json");
    let loss: [fn(&Path) -> std::io::Result<()>; 3] = [
        |path| std::fs::remove_file(path),
        |path| std::fs::write(path, ""),
        |path| std::fs::write(path, "[]"),
    ];
    for lose in loss {
        lose(&clients).expect("they are lost");
        for words in ["status", "pending"] {
            let output = home.run(&[words]);
            assert!(!output.status.success(), "{words}");
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(said.contains("`countersign relay on`"), "{said}");
        }
        home.done(&["on"]);
        assert!(home.done(&["status"]).contains("and answers"));
    }
}

#[test]
fn turned_to_another_relay_it_shows_a_new_token_ends_its_own_and_says_how_to_come_back() {
    let home = Home::on();
    let own = home.parties();
    let mut url = "https://relay.example";
    home.done(&["on", "--url", url]);
    assert!(std::net::TcpStream::connect(&own.address).is_err(), "its own runs on");
    let mut tokens = vec![(own.machine, own.terminal)];
    for next in ["https://other.example", ""] {
        let parties = home.parties();
        assert!(
            tokens
                .iter()
                .all(|(machine, terminal)| *machine != parties.machine && *terminal != parties.terminal)
        );
        let said = home.done(&["on"]);
        assert!(
            said.contains(url) && said.contains("`countersign relay off --forget`"),
            "{said}"
        );
        assert_eq!(
            home.parties().machine,
            parties.machine,
            "the same relay is shown the same token"
        );
        tokens.push((parties.machine, parties.terminal));
        if !next.is_empty() {
            home.done(&["on", "--url", next]);
            url = next;
        }
    }
    let output = home.run(&["on", "--url", ""]);
    assert!(!output.status.success());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("no address of a relay, such as https://"), "{said}");
    home.done(&["on", "--url", &format!("http://{}", own.address)]);
    assert!(home.done(&["status"]).contains("and answers"));
}
