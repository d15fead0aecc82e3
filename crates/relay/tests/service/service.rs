//! `service install`, `uninstall` and `status`, on Linux without a service manager that answers.

use crate::support::Home;

#[test]
fn the_unit_is_written_and_taken_away_and_what_to_run_is_said_where_systemd_does_not_answer() {
    let home = Home::on();
    let file = home.0.path().join(".config/systemd/user/countersign-relay.service");
    // PATH names no systemctl.
    let run = |words: &[&str]| {
        let output = home
            .command(words)
            .env("PATH", "/nonexistent")
            .output()
            .expect("it starts");
        (
            output.status.success(),
            String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned(),
        )
    };
    let (done, said) = run(&["service", "install"]);
    assert!(
        done && said.contains("systemctl --user enable --now countersign-relay"),
        "{said}"
    );
    let text = std::fs::read_to_string(&file).expect("a unit");
    assert!(
        text.contains(&format!(
            "--listen {} --dir \"{}\"",
            home.parties().address,
            home.dir().display()
        )),
        "{text}"
    );
    assert_eq!(home.parties().presence()["paired"], 1, "it runs meanwhile");
    assert!(run(&["service", "install"]).0);
    assert!(run(&["service", "status"]).1.contains("at login"));
    let (done, said) = run(&["service", "uninstall"]);
    assert!(
        done && said.contains("systemctl --user disable --now countersign-relay"),
        "{said}"
    );
    assert!(!file.exists());
    assert!(run(&["service", "uninstall"]).0);
    assert_eq!(home.parties().presence()["paired"], 1, "the relay itself stays on");
}

#[test]
fn a_relay_that_moves_takes_its_unit_along() {
    let home = Home::on();
    home.run(&["service", "install"]);
    let address = home.parties().address;
    let _taken = home.taken();
    let said = home.done(&["on"]);
    assert!(said.contains("Changed where the system starts the relay"), "{said}");
    let file = home.0.path().join(".config/systemd/user/countersign-relay.service");
    let text = std::fs::read_to_string(&file).expect("a unit");
    let now = home.parties().address;
    assert_ne!(now, address);
    assert!(text.contains(&format!("--listen {now} ")), "{text}");
    assert!(!home.done(&["on"]).contains("Changed where"));
}

#[test]
fn a_unit_of_that_name_that_is_not_ours_is_left_alone() {
    let home = Home::on();
    let file = home.0.path().join(".config/systemd/user/countersign-relay.service");
    std::fs::create_dir_all(file.parent().expect("a directory")).expect("a directory");
    std::fs::write(&file, "[Unit]\n").expect("a unit");
    for verb in ["install", "uninstall"] {
        assert!(!home.run(&["service", verb]).status.success(), "{verb}");
        assert_eq!(std::fs::read_to_string(&file).expect("a unit"), "[Unit]\n");
    }
}

#[test]
fn where_the_relay_is_off_or_elsewhere_there_is_nothing_to_install() {
    let home = Home::new();
    assert!(!home.run(&["service", "install"]).status.success());
    home.done(&["on", "--url", "https://relay.example"]);
    assert!(!home.run(&["service", "install"]).status.success());
    assert!(!home.0.path().join(".config").exists());
}
