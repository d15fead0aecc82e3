use super::*;

/// The faults of one file, as they are shown.
fn faults(text: &str) -> Vec<String> {
    let files = [("x.toml".to_owned(), text.to_owned())];
    match parse_files(&files) {
        Ok(_) => Vec::new(),
        Err(faults) => faults.iter().map(ToString::to_string).collect(),
    }
}

/// An entry with these lines after its name and `about`, which stand on lines 1 to 3.
fn entry(lines: &str) -> String {
    format!("[[command]]\nname = \"x\"\nabout = \"does x\"\n{lines}")
}

#[track_caller]
fn refused(lines: &str, fault: &str) {
    assert_eq!(faults(&entry(lines)), [fault], "{lines}");
}

#[test]
fn a_good_entry_has_no_faults() {
    let text = entry(
        "flags = \"-a --all\"\noperands = \"plain path-read*\"\neffects = [\"send shared forever\"]\n\
         [command.values]\n\"-n --lines\" = \"plain=#\"\n[command.when.\"-a\"]\npath-read = \"tree-read\"\nwithout = \"-n --lines\"\n\
         [command.examples]\n\"x -a y\" = \"safe\"\n\"x -z\" = \"unproven\"\n",
    );
    let entries = parse_files(&[("x.toml".to_owned(), text)]).unwrap();
    assert_eq!(entries.len(), 1);
    assert_eq!(entries[0].options.len(), 3);
    assert_eq!(entries[0].operands[1].times, Times::Any);
    assert_eq!(entries[0].whens[0].reads, Some(Role::TreeRead));
    assert_eq!(entries[0].whens[0].without, [2]);
    assert_eq!(entries[0].examples[0].tier, Some(Tier::Safe));
    assert_eq!(entries[0].examples[1].tier, None);
    assert_eq!(entries[0].examples[1].line, 14);
}

#[test]
fn an_unknown_key_is_refused_with_the_keys_that_there_are() {
    let shown = faults(&entry("flgas = \"-a\"\n"));
    assert_eq!(shown.len(), 1);
    assert!(
        shown[0].starts_with("x.toml:4: unknown field `flgas`, expected one of `name`, `names`"),
        "{shown:?}"
    );
}

#[test]
fn text_that_is_no_toml_is_refused_at_its_line() {
    let shown = faults(&entry("flags = -a\n"));
    assert!(shown[0].starts_with("x.toml:4: "), "{shown:?}");
}

#[test]
fn an_unknown_role_is_refused_with_the_roles_that_there_are() {
    let shown = faults(&entry("operands = \"plain path-raed*\"\n"));
    assert_eq!(shown.len(), 1);
    assert!(
        shown[0].starts_with("x.toml:4: `path-raed` is no role; write one of: plain, path-read, "),
        "{shown:?}"
    );
    assert!(
        Role::ALL.iter().all(|role| shown[0].contains(role.as_str())),
        "{shown:?}"
    );
}

#[test]
fn an_unknown_effect_is_refused_with_its_form() {
    refused(
        "effects = [\"snd shared\"]\n",
        "x.toml:4: `snd` is no action, place, loss or reach; write \"ACTION [PLACE] [UNDO] [REACH]\", as in \
         \"send shared forever\"",
    );
    refused(
        "bare = [\"shared\"]\n",
        "x.toml:4: `shared` names no action; write \"ACTION [PLACE] [UNDO] [REACH]\", as in \"send shared forever\"",
    );
}

#[test]
fn an_unknown_style_is_refused_with_the_styles_that_there_are() {
    refused(
        "style = \"bsd\"\n",
        "x.toml:4: `bsd` is no style; write one of: gnu, posix, dash, shell, none",
    );
}

#[test]
fn an_unknown_expectation_is_refused_with_the_tiers_that_there_are() {
    refused(
        "[command.examples]\n\"x\" = \"fine\"\n",
        "x.toml:5: `fine` is no expectation; write one of: safe, low, medium, high, critical, unproven",
    );
}

#[test]
fn a_name_that_has_an_entry_already_is_refused_with_both_places() {
    let text = format!("{}\n{}", entry(""), entry(""));
    assert_eq!(
        faults(&text),
        ["x.toml:5: `x` has an entry already at x.toml:1; keep one"]
    );
}

#[test]
fn a_subcommand_that_is_there_twice_is_refused() {
    refused(
        "[[command.sub]]\nname = \"a\"\n[[command.sub]]\nnames = [\"b\", \"a\"]\n",
        "x.toml:6: `a` has an entry already at x.toml:4; keep one",
    );
}

#[test]
fn a_missing_name_or_about_is_refused() {
    assert_eq!(
        faults("[[command]]\nabout = \"does x\"\n"),
        ["x.toml:1: write either `name = \"..\"` or `names = [\"..\", \"..\"]`"]
    );
    assert_eq!(
        faults("[[command]]\nname = \"x\"\n"),
        ["x.toml:1: `x` has no `about`; write what it does in a few words"]
    );
}

#[test]
fn an_option_that_is_spelt_twice_is_refused() {
    refused(
        "flags = \"-a\"\n[command.values]\n\"-b -a\" = \"plain\"\n",
        "x.toml:6: `-a` is listed twice; keep it once, as a flag or with its value's role",
    );
}

#[test]
fn a_when_that_no_option_defines_is_refused() {
    refused(
        "flags = \"-a\"\n[command.when.\"-a --all\"]\nhere = \"path-read\"\n",
        "x.toml:5: `when` names `--all`, which no option defines; add it to `flags` or `values`",
    );
}

#[test]
fn a_spelling_that_the_style_cannot_read_is_refused() {
    refused(
        "flags = \"-it\"\n",
        "x.toml:4: `-it` would be read as a cluster of letters; write `-x`, `--long`, or style = \"dash\"",
    );
    refused(
        "flags = \"+x\"\n",
        "x.toml:4: `+x` is an option only with style = \"shell\"",
    );
    refused(
        "style = \"none\"\nflags = \"-x\"\n",
        "x.toml:5: `-x` cannot be read with style = \"none\"; choose another style",
    );
    for spelling in ["all", "--", "-", "--a=b"] {
        refused(
            &format!("flags = \"{spelling}\"\n"),
            &format!("x.toml:4: `{spelling}` is no option; write it exactly as typed, without `=` and value"),
        );
    }
}

#[test]
fn operands_that_cannot_be_told_apart_are_refused() {
    refused(
        "operands = \"path-read* path-write+\"\n",
        "x.toml:4: only one operand may have `*` or `+`, or they cannot be told apart",
    );
    refused(
        "style = \"posix\"\noperands = \"command plain\"\n",
        "x.toml:5: `command` takes all words that are left; write it last, without `*` or `+`",
    );
    refused(
        "operands = \"plain command\"\n",
        "x.toml:4: options after the command would be its own; write style = \"posix\" with `command`",
    );
}

#[test]
fn values_without_a_role_or_with_too_many_are_refused() {
    refused(
        "[command.values]\n\"-a\" = \"\"\n",
        "x.toml:5: an option under `values` has a role; list it in `flags` if it takes no value",
    );
    refused(
        "[command.values]\n\"-a\" = \"plain plain?\"\n",
        "x.toml:5: `plain plain?` names too many values; at most 4, and one where it is optional or its words are listed",
    );
}

#[test]
fn operands_beside_subcommands_and_subcommands_of_subcommands_are_refused() {
    refused(
        "operands = \"plain\"\n[[command.sub]]\nname = \"a\"\n",
        "x.toml:4: `x` has subcommands; give operands to these, not to it",
    );
    refused(
        "[[command.sub]]\nname = \"a\"\n[[command.sub.sub]]\nname = \"b\"\n",
        "x.toml:6: a subcommand has no subcommands; write `name = \"a ..\"` below `x`",
    );
}

#[test]
fn a_grammar_beside_options_is_refused() {
    refused(
        "flags = \"-a\"\ngrammar = \"find\"\n",
        "x.toml:5: the grammar `find` reads all words of `x`; leave out flags, values and operands",
    );
}

#[test]
fn a_name_with_a_directory_is_refused() {
    assert_eq!(
        faults("[[command]]\nname = \"bin/x\"\nabout = \"does x\"\n"),
        ["x.toml:2: `bin/x` is no name; write words with single spaces, without a directory"]
    );
}

#[test]
fn every_fault_of_a_file_is_shown_at_once() {
    assert_eq!(faults(&entry("style = \"bsd\"\nflags = \"x -ab\"\n")).len(), 3);
}

#[test]
fn a_when_that_names_an_option_in_one_of_its_spellings_only_is_refused() {
    refused(
        "[command.values]\n\"-e --regexp -m\" = \"plain\"\n[command.when.\"-e --regexp\"]\noperands = \"plain\"\n",
        "x.toml:6: `when` does not name `-m`, which `values` gives as a spelling of the same option; name it, or give each \
         option a line of its own",
    );
}

#[test]
fn a_set_of_options_is_taken_by_its_name_and_yields_to_what_the_entry_says_itself() {
    let set = "[[options]]\nname = \"shared\"\nflags = \"-a -b\"\n[options.values]\n\"-n --lines\" = \"plain\"\n";
    let text = format!("{}{set}", entry("with = \"shared\"\nflags = \"-n\"\n"));
    let entries = parse_files(&[("x.toml".to_owned(), text)]).unwrap();
    let options: Vec<String> = entries[0]
        .options
        .iter()
        .map(|o| format!("{:?} {:?}", o.spellings, o.values))
        .collect();
    assert_eq!(
        options,
        ["[\"-n\"] []", "[\"-a\"] []", "[\"-b\"] []", "[\"--lines\"] [Plain]"]
    );
    refused(
        "with = \"shared\"\n",
        "x.toml:4: no `[[options]]` of this file has the name `shared`",
    );
}

#[test]
fn only_a_command_names_its_witness_and_in_one_form() {
    assert_eq!(faults(&entry("witness = \"debian nl\"\n")), [""; 0]);
    refused(
        "witness = \"apt nl\"\n",
        "x.toml:4: `apt nl` is no witness; write `debian PACKAGE`, `npm PACKAGE` or `pypi PACKAGE`",
    );
    refused(
        "[[command.sub]]\nname = \"y\"\nwitness = \"debian nl\"\n",
        "x.toml:6: a subcommand has the witness of its command; write it at `x`",
    );
}
