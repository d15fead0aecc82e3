//! Compiles the command catalog into the bytes that the program carries. A fault in a file fails the build.

use std::path::Path;

use catalog_spec::{Diagnostic, compile, load_dir, load_environment};

const COMMANDS: &str = "src/catalog/commands";
const ENVIRONMENT: &str = "src/catalog/environment.toml";

fn main() {
    println!("cargo:rerun-if-changed={COMMANDS}");
    println!("cargo:rerun-if-changed={ENVIRONMENT}");
    let bytes = match (load_dir(Path::new(COMMANDS)), load_environment(Path::new(ENVIRONMENT))) {
        (Ok(entries), Ok(environment)) => compile(&entries, &environment),
        (entries, environment) => refuse(
            &[entries.err(), environment.err()]
                .map(Option::unwrap_or_default)
                .concat(),
        ),
    };
    let out = std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR");
    std::fs::write(Path::new(&out).join("catalog.bin"), bytes).expect("OUT_DIR is writable");
}

fn refuse(faults: &[Diagnostic]) -> ! {
    for fault in faults {
        eprintln!("{fault}");
    }
    std::process::exit(1);
}
