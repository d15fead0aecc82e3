//! Compiles the command catalog into the bytes that the program carries. A fault in a file fails the build.

use std::path::Path;

use catalog_spec::{Diagnostic, Setting, compile, load_dir, load_environment, load_settings};

const COMMANDS: &str = "src/catalog/commands";
const ENVIRONMENT: &str = "src/catalog/environment.toml";

const SETTINGS: &str = "src/catalog/git-settings.toml";

fn main() {
    println!("cargo:rerun-if-changed={SETTINGS}");
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
    match load_settings(Path::new(SETTINGS)) {
        Ok((settings, _)) => {
            let code = settings_in_rust(&settings);
            std::fs::write(Path::new(&out).join("git_settings.rs"), code).expect("OUT_DIR is writable");
        }
        Err(faults) => refuse(&faults),
    }
}

/// A constant table of what src/catalog/git_settings.rs calls a setting.
fn settings_in_rust(settings: &[Setting]) -> String {
    let one = |setting: &Setting| {
        let Setting {
            key,
            why,
            shell,
            effect,
        } = setting;
        let effect = format!(
            "EffectSpec {{ action: Action::{:?}, place: Place::{:?}, undo: Undo::{:?}, reach: Reach::{:?} }}",
            effect.action, effect.place, effect.undo, effect.reach
        );
        format!("    Setting {{ key: {key:?}, why: {why:?}, shell: {shell}, effect: {effect} }},\n")
    };
    let all: String = settings.iter().map(one).collect();
    format!("static SETTINGS: &[Setting] = &[\n{all}];\n")
}

fn refuse(faults: &[Diagnostic]) -> ! {
    for fault in faults {
        eprintln!("{fault}");
    }
    std::process::exit(1);
}
