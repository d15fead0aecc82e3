//! A relay that is reached by https: through a front that speaks TLS, whose certificate this test has issued.

use std::fs;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use rcgen::{CertificateParams, KeyPair};
use serde_json::json;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

use crate::desk::{Desk, relay};
use crate::home::{ALLOW, Running, stays_open};

/// A front before the relay, with a certificate for this name that counts from yesterday until tomorrow.
pub struct Front {
    port: u16,
    pub certificate: String,
    _running: tokio::runtime::Runtime,
}

impl Front {
    pub fn before(address: SocketAddr, name: &str) -> Front {
        const DAY: Duration = Duration::from_secs(24 * 60 * 60);
        let pair = KeyPair::generate().expect("a key");
        let mut params = CertificateParams::new([name.to_owned()]).expect("a name");
        params.not_before = (SystemTime::now() - DAY).into();
        params.not_after = (SystemTime::now() + DAY).into();
        let cert = params.self_signed(&pair).expect("a certificate");
        let key = PrivateKeyDer::try_from(pair.serialize_der()).expect("its key");
        let config = ServerConfig::builder()
            .with_no_client_auth()
            .with_single_cert(vec![cert.der().clone()], key)
            .expect("a configuration");
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let running = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("a runtime");
        let listener = running.block_on(TcpListener::bind("127.0.0.1:0")).expect("a port");
        let port = listener.local_addr().expect("its address").port();
        running.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let acceptor = acceptor.clone();
                tokio::spawn(async move {
                    // Who does not believe the certificate goes away here.
                    let mut inner = acceptor.accept(stream).await.ok()?;
                    let mut outer = TcpStream::connect(address).await.ok()?;
                    copy_bidirectional(&mut inner, &mut outer).await.ok()
                });
            }
        });
        Front {
            port,
            certificate: cert.pem(),
            _running: running,
        }
    }
}

/// A desk whose machine and terminal reach the relay through the front.
pub fn through(front: &Front, desk: &Desk, ca: Option<&str>) {
    for file in ["machine.json", "terminal.json"] {
        desk.change(file, |identity| {
            identity["url"] = json!(format!("https://127.0.0.1:{}", front.port));
            if let Some(ca) = ca {
                let path = desk.home.path().join("ca.pem");
                fs::write(&path, ca).expect("a file");
                identity["ca"] = json!(path);
            }
        });
    }
}

#[test]
fn a_relay_is_asked_by_https_where_its_certificate_is_the_one_that_was_named() {
    let desk = Desk::new();
    let front = Front::before(desk.address, "127.0.0.1");
    through(&front, &desk, Some(&front.certificate));
    let running = Running::start(&mut desk.home.hold(60), &desk.home.event("rm notes.txt"));
    let id = desk.one_waits();
    assert_eq!(desk.approve(&id).status, Some(0));
    let ran = running.end();
    assert_eq!(ran.said, ALLOW, "{ran:?}");
}

#[test]
fn a_certificate_that_is_not_believed_or_is_anothers_ends_in_no_decision() {
    let desk = Desk::new();
    let strange = Front::before(desk.address, "127.0.0.1");
    let other = Front::before(desk.address, "relay.example");
    let cases = [
        ("of nobody that is known", &strange, None),
        ("other than the one named", &strange, Some(other.certificate.as_str())),
        ("for another name", &other, Some(other.certificate.as_str())),
    ];
    for (what, front, ca) in cases {
        through(front, &desk, ca);
        let ran = Running::start(&mut desk.home.hold(20), &desk.home.event("rm notes.txt")).end();
        stays_open(what, &desk.home, &ran, Duration::from_secs(22), &["certificate"]);
    }
}

#[test]
fn plain_http_goes_to_this_machine_only() {
    let desk = Desk::new();
    desk.change("machine.json", |machine| {
        machine["url"] = json!("http://relay.example:47163")
    });
    let ran = Running::start(&mut desk.home.hold(20), &desk.home.event("rm notes.txt")).end();
    stays_open("in the open", &desk.home, &ran, Duration::from_secs(5), &["https only"]);
    let on = relay(&desk.home, &["on", "--url", "http://10.0.0.1:47163"]);
    assert_ne!(on.status, Some(0), "{on:?}");
    assert!(on.errors.contains("https only"), "{on:?}");
}
