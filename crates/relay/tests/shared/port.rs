//! Ports that nobody else takes meanwhile.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};

use countersign_protocol::keys::random_hex;

/// A port of this machine's that is free, and stays so for whoever left it and comes back: the system gives it to nobody
/// who asks for any port, since it lies below those (32768 and on).
pub fn free() -> SocketAddr {
    loop {
        let chance = random_hex::<2>().expect("a number");
        let chance = u16::from_str_radix(&chance, 16).expect("a number");
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 12_000 + chance % 20_000));
        if TcpListener::bind(address).is_ok() {
            return address;
        }
    }
}
