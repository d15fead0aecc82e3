//! A relay that is down, slow, huge, elsewhere, or speaks something else, at every step.

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::double::{Answer, Step, Turn, http};
use crate::eventually::eventually;
use crate::home::{ALLOW, Home, Running, stays_open, with};

const STEPS: [Step; 4] = [Step::Presence, Step::Put, Step::Poll, Step::Consume];
/// Few enough that a slow machine does not make them late.
const AT_ONCE: usize = 8;
const DEADLINE: u64 = 6;
/// What starting and ending a process may take beside its deadline.
const SLACK: Duration = Duration::from_secs(4);

#[derive(Clone)]
struct Fault {
    name: &'static str,
    answer: Arc<dyn Fn(&Turn) -> Answer + Send + Sync>,
    /// One of them stands in the reason.
    words: &'static [&'static str],
}

const LATE: &[&str] = &[
    "nobody answered within",
    "time for an answer has passed",
    "the relay does not answer",
];

fn fault(
    name: &'static str,
    words: &'static [&'static str],
    answer: impl Fn(&Turn) -> Answer + Send + Sync + 'static,
) -> Fault {
    Fault {
        name,
        answer: Arc::new(answer),
        words,
    }
}

/// The honest answer's object.
fn object(turn: &Turn) -> Value {
    match turn.honest() {
        Answer::Json(_, body) => body,
        other => panic!("{other:?} is no object"),
    }
}

fn faults(elsewhere: &str) -> Vec<Fault> {
    const NONE: &[&str] = &["none of this protocol"];
    let mut faults = vec![
        fault("silence", LATE, |_| Answer::Silence),
        fault("closed", LATE, |_| Answer::Close),
        fault("drips its head", LATE, |turn| {
            Answer::Drip(Vec::new(), http("200 OK", "", &object(turn).to_string()))
        }),
        fault("drips its body", LATE, |turn| {
            let body = object(turn).to_string();
            let whole = http("200 OK", "", &body);
            let (head, body) = whole.split_at(whole.len() - body.len());
            Answer::Drip(head.to_vec(), body.to_vec())
        }),
        fault("headers without end", &["the relay does not answer"], |_| {
            Answer::Endless(
                b"HTTP/1.1 200 OK\r\ncountersign-protocol: 1\r\n".to_vec(),
                b"x-more: and more\r\n".to_vec(),
            )
        }),
        fault("a body without end", NONE, |_| {
            let head = "HTTP/1.1 200 OK\r\ncountersign-protocol: 1\r\ncontent-length: 99999999999\r\n\r\n{\"id\":\"";
            Answer::Endless(head.into(), vec![b'0'; 65536])
        }),
        fault("chunks without end", NONE, |_| {
            let head = "HTTP/1.1 200 OK\r\ncountersign-protocol: 1\r\ntransfer-encoding: chunked\r\n\r\n";
            let chunk = format!("4000\r\n{}\r\n", " ".repeat(0x4000));
            Answer::Endless(head.into(), chunk.into())
        }),
        fault(
            "a body that would unpack to much more",
            &["none of this protocol", "does not answer"],
            |_| {
                // 1000 zero bytes, packed by gzip.
                let packed: [u8; 29] = [
                    31, 139, 8, 0, 0, 0, 0, 0, 2, 255, 99, 96, 24, 5, 163, 96, 20, 12, 119, 0, 0, 129, 184, 70, 40,
                    232, 3, 0, 0,
                ];
                let mut answer = http("200 OK", "content-encoding: gzip\r\n", "");
                let head = String::from_utf8(std::mem::take(&mut answer)).expect("a head");
                let mut bytes = head.replace("content-length: 0", "content-length: 29").into_bytes();
                bytes.extend(packed);
                Answer::Raw(bytes)
            },
        ),
        fault("another version", &["speaks version"], |turn| {
            let whole = String::from_utf8(http("200 OK", "", &object(turn).to_string())).expect("text");
            Answer::Raw(
                whole
                    .replacen("countersign-protocol: 1", "countersign-protocol: 2", 1)
                    .into(),
            )
        }),
        fault("no version", &["no word of the protocol's version"], |turn| {
            let whole = String::from_utf8(http("200 OK", "", &object(turn).to_string())).expect("text");
            Answer::Raw(whole.replacen("countersign-protocol: 1\r\n", "", 1).into())
        }),
        fault("a page", NONE, |_| {
            Answer::Raw(http(
                "200 OK",
                "content-type: text/html\r\n",
                "<html><body>Sign in</body></html>",
            ))
        }),
        fault("half of the JSON", NONE, |turn| {
            let text = object(turn).to_string();
            Answer::Raw(http("200 OK", "", &text[..text.len() / 2]))
        }),
        fault("less than it says", LATE, |turn| {
            let mut whole = http("200 OK", "", &object(turn).to_string());
            whole.truncate(whole.len() - 5);
            Answer::Raw(whole)
        }),
        fault("an unknown field", NONE, |turn| {
            let mut object = object(turn);
            object["allow"] = json!(true);
            Answer::Json(200, object)
        }),
        fault("a key that is there twice", NONE, |turn| {
            let text = object(turn).to_string();
            let first = if turn.step() == Step::Presence {
                r#""online":1"#
            } else {
                r#""status":"decided""#
            };
            Answer::Raw(http("200 OK", "", &text.replacen('{', &format!("{{{first},"), 1)))
        }),
        fault("an array", NONE, |_| Answer::Raw(http("200 OK", "", "[]"))),
        fault("nothing", NONE, |_| Answer::Raw(http("200 OK", "", ""))),
        fault("no HTTP", &["the relay does not answer"], |_| {
            Answer::Raw(b"SSH-2.0-OpenSSH_9.2\r\n".to_vec())
        }),
    ];
    for status in [401, 403, 404, 409, 410, 422, 426] {
        faults.push(fault("refused", &["the relay refuses"], move |_| {
            Answer::refusal(status)
        }));
    }
    for status in [429, 500, 503] {
        faults.push(fault(
            "refused for now",
            &["the relay refuses", "does not answer", "nobody answered"],
            move |_| Answer::refusal(status),
        ));
    }
    for status in ["301 Moved", "302 Found", "307 Temporary", "308 Permanent"] {
        let away = elsewhere.to_owned();
        faults.push(fault("redirects elsewhere", NONE, move |_| {
            Answer::Raw(http(status, &format!("location: {away}/v1/presence\r\n"), ""))
        }));
        faults.push(fault("redirects to itself", NONE, move |turn| {
            let path = turn.seen.line.split(' ').nth(1).unwrap_or_default();
            Answer::Raw(http(status, &format!("location: /at{path}\r\n"), ""))
        }));
    }
    faults
}

#[test]
fn a_relay_that_keeps_to_the_protocol_brings_the_allow_of_the_pinned_device() {
    let (home, double) = with(|turn| turn.honest());
    let ran = Running::start(&mut home.hold(DEADLINE), &home.event("rm notes.txt")).end();
    assert_eq!((ran.said.as_str(), ran.status), (ALLOW, Some(0)), "{ran:?}");
    let steps: Vec<Step> = double.seen().iter().map(|seen| seen.step).collect();
    assert_eq!(
        steps,
        [Step::Presence, Step::Put, Step::Poll, Step::Consume, Step::Outcome]
    );
    let record = home.record();
    assert_eq!(
        (&record["action"], &record["rule"]),
        (&json!("allow"), &json!("you have decided, on phone"))
    );
}

#[test]
fn a_broken_answer_at_any_step_is_no_decision_in_time_and_says_why() {
    let visited = Arc::new(AtomicUsize::new(0));
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let elsewhere = format!("http://{}", listener.local_addr().expect("its address"));
    let visits = Arc::clone(&visited);
    thread::spawn(move || {
        listener.incoming().for_each(|_| {
            visits.fetch_add(1, Ordering::SeqCst);
        })
    });

    let cases: Vec<(Step, Fault)> = STEPS
        .into_iter()
        .flat_map(|step| faults(&elsewhere).into_iter().map(move |fault| (step, fault)))
        .collect();
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some((step, fault)) = cases.get(next.fetch_add(1, Ordering::SeqCst)) {
                    meets(*step, fault);
                }
            });
        }
    });
    assert_eq!(visited.load(Ordering::SeqCst), 0, "a redirect was followed");
}

fn meets(step: Step, fault: &Fault) {
    let answer = Arc::clone(&fault.answer);
    let (home, double) = with(move |turn| {
        if turn.step() == step {
            answer(turn)
        } else {
            turn.honest()
        }
    });
    let ran = Running::start(&mut home.hold(DEADLINE), &home.event("rm notes.txt")).end();
    let what = format!("{} at {step:?}", fault.name);
    stays_open(&what, &home, &ran, Duration::from_secs(DEADLINE) + SLACK, fault.words);
    assert!(double.count(step) > 0, "{what}: the step was not reached");
    let later = STEPS.iter().skip_while(|other| **other != step).skip(1);
    for later in later {
        assert_eq!(double.count(*later), 0, "{what}: and {later:?} came after it");
    }
    // A card that may be there is taken down.
    if step != Step::Presence {
        assert_eq!(double.count(Step::Withdraw), 1, "{what}");
    }
}

#[test]
fn a_relay_that_cannot_be_reached_is_given_up_long_before_the_deadline() {
    let home = Home::asking("https://127.0.0.1:1");
    let ran = Running::start(&mut home.hold(600), &home.event("rm notes.txt")).end();
    stays_open(
        "nobody listens",
        &home,
        &ran,
        Duration::from_secs(30),
        &["the relay does not answer"],
    );
}

#[test]
fn a_relay_that_falls_silent_while_a_call_waits_is_waited_for_until_the_deadline() {
    let (home, double) = with(|turn| match turn.step() {
        Step::Poll => Answer::refusal(503),
        _ => turn.honest(),
    });
    let ran = Running::start(&mut home.hold(10), &home.event("rm notes.txt")).end();
    stays_open(
        "silent",
        &home,
        &ran,
        Duration::from_secs(12),
        &["the relay does not answer", "nobody answered"],
    );
    let polls = double.count(Step::Poll);
    assert!((3..=20).contains(&polls), "{polls} polls in 8 s");
    assert_eq!(double.count(Step::Withdraw), 1);
}

#[test]
fn another_program_on_the_relays_port_learns_no_token_and_no_call() {
    let (home, double) = with(|turn| turn.honest());
    // Without a path it is the address of this machine's own relay, which does not run.
    home.ask(double.url.trim_end_matches("/at"));
    let ran = Running::start(&mut home.hold(8), &home.event("rm notes.txt")).end();
    stays_open(
        "another's port",
        &home,
        &ran,
        Duration::from_secs(15),
        &["another program listens on", "time for an answer has passed"],
    );
    assert!(double.seen().is_empty(), "{:?}", double.seen());
}

#[test]
fn a_relay_is_spoken_to_only_by_a_certificate_that_is_vouched_for_and_names_it() {
    const REFUSED: &[&str] = &["the relay does not answer"];
    const SPOKEN_TO: &[&str] = &["no word of the protocol's version"];
    for (name, vouched_for, words) in [
        ("localhost", false, REFUSED),
        ("another.example", true, REFUSED),
        ("localhost", true, SPOKEN_TO),
    ] {
        let home = Home::new();
        let Some(serving) = Tls::serve(home.path(), name) else {
            return;
        };
        home.ask(&format!("https://localhost:{}", serving.port));
        if vouched_for {
            let path = home.relay_dir().join("machine.json");
            let mut machine: Value = serde_json::from_str(&fs::read_to_string(path).expect("the file")).expect("JSON");
            machine["ca"] = json!(home.path().join("cert.pem"));
            home.write("machine.json", &machine.to_string());
        }
        let ran = Running::start(&mut home.hold(DEADLINE), &home.event("rm notes.txt")).end();
        let what = format!("a certificate of {name}, vouched for: {vouched_for}");
        stays_open(&what, &home, &ran, Duration::from_secs(DEADLINE) + SLACK, words);
    }
}

/// A server that answers every request over TLS with a page, by a certificate of its own.
struct Tls {
    child: Child,
    port: u16,
}

impl Tls {
    /// `None`, and said, where openssl is not installed; in CI that fails.
    fn serve(dir: &Path, name: &str) -> Option<Tls> {
        let (key, cert) = (dir.join("key.pem"), dir.join("cert.pem"));
        let made = Command::new("openssl")
            .args([
                "req",
                "-x509",
                "-newkey",
                "ec",
                "-pkeyopt",
                "ec_paramgen_curve:prime256v1",
                "-nodes",
                "-days",
                "2",
            ])
            .args([
                "-subj",
                "/CN=relay",
                "-addext",
                "basicConstraints=critical,CA:FALSE",
                "-addext",
            ])
            .arg(format!("subjectAltName=DNS:{name}"))
            .arg("-keyout")
            .arg(&key)
            .arg("-out")
            .arg(&cert)
            .output();
        let Ok(made) = made else {
            assert!(std::env::var_os("CI").is_none(), "openssl is not there");
            eprintln!("nothing is shown: openssl is not there");
            return None;
        };
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let free = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = free.local_addr().expect("its address").port();
        drop(free);
        let child = Command::new("openssl")
            .args(["s_server", "-www", "-accept", &format!("127.0.0.1:{port}"), "-key"])
            .arg(&key)
            .arg("-cert")
            .arg(&cert)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("openssl starts");
        let serving = Tls { child, port };
        eventually("it listens", Duration::from_secs(20), || {
            std::net::TcpStream::connect(("127.0.0.1", port)).is_ok()
        });
        Some(serving)
    }
}

impl Drop for Tls {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
