//! The pages of docs/reference that list every command and option, and tables of other pages there. The pages are made of what
//! clap knows, so they cannot say anything else than `--help`; the tables are made of the constants of the code.

use std::fmt::Write;
use std::path::Path;

use clap::{Arg, Command};

/// Compares a page of docs/reference with what the command line accepts. With `INTERLOPER_PAGES=write` the page is
/// written instead.
pub fn assert_current(page: &str, command: Command) {
    assert_is(page, |_| markdown(command));
}

/// The same for the table below a heading of a page: `rows` follow the two lines at its head.
pub fn assert_table(page: &str, heading: &str, rows: &[Vec<String>]) {
    let rows: String = rows.iter().map(|cells| format!("| {} |\n", cells.join(" | "))).collect();
    assert_is(page, |text| {
        let heading = format!("\n{heading}\n");
        let below = text.find(&heading).unwrap_or_else(|| panic!("{page} has no heading {heading:?}")) + heading.len();
        let table = below + text[below..].find("\n|").expect("a table below the heading") + 1;
        let head: usize = text[table..].split_inclusive('\n').take(2).map(str::len).sum();
        let lines = text[table + head..].split_inclusive('\n');
        let old: usize = lines.take_while(|line| line.starts_with('|')).map(str::len).sum();
        format!("{}{rows}{}", &text[..table + head], &text[table + head + old..])
    });
}

/// Compares a page with what it must be, given what it is.
fn assert_is(page: &str, expected: impl FnOnce(&str) -> String) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/reference").join(page);
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    let expected = expected(&found);
    if std::env::var("INTERLOPER_PAGES").is_ok_and(|value| value == "write") {
        return std::fs::write(&path, &expected).expect("the page can be written");
    }
    assert_eq!(found, expected, "{page} is out of date; INTERLOPER_PAGES=write writes it");
}

/// A command with its subcommands as a page.
fn markdown(mut command: Command) -> String {
    command.build();
    let mut page = format!("# `{}`\n", command.get_bin_name().unwrap_or(command.get_name()));
    page.push_str("\n<!-- Made from the command line itself: see cli/src/reference.rs. -->\n");
    describe(&mut page, &command, "##");
    // Options that every command has are listed once.
    let common: Vec<&str> = command
        .get_arguments()
        .filter(|option| option.is_global_set())
        .map(|option| option.get_id().as_str())
        .collect();
    for inner in command.get_subcommands().filter(|inner| !inner.is_hide_set()) {
        let _ = write!(page, "\n## `{}`\n", inner.get_bin_name().unwrap_or(inner.get_name()));
        let own = inner.clone().mut_args(|option| {
            let hide = common.contains(&option.get_id().as_str());
            option.hide(hide)
        });
        describe(&mut page, &own, "###");
    }
    page
}

fn describe(page: &mut String, command: &Command, level: &str) {
    if let Some(about) = command.get_long_about().or(command.get_about()) {
        let _ = write!(page, "\n{about}\n");
    }
    let usage = command.clone().render_usage().to_string();
    let _ = write!(page, "\n```text\n{}\n```\n", usage.trim_start_matches("Usage: ").trim());
    let mut headings: Vec<Option<&str>> = Vec::new();
    for argument in command.get_arguments().filter(|argument| is_listed(argument)) {
        if !headings.contains(&argument.get_help_heading()) {
            headings.push(argument.get_help_heading());
        }
    }
    for heading in headings {
        if let Some(heading) = heading {
            let _ = write!(page, "\n{level} {heading}\n");
        }
        page.push('\n');
        let arguments = command.get_arguments().filter(|argument| argument.get_help_heading() == heading);
        arguments.filter(|argument| is_listed(argument)).for_each(|argument| item(page, argument));
    }
}

fn is_listed(argument: &Arg) -> bool {
    !argument.is_hide_set() && !matches!(argument.get_id().as_str(), "help" | "version")
}

/// One option or argument, as an item of a list.
fn item(page: &mut String, argument: &Arg) {
    let help = argument.get_long_help().or(argument.get_help()).map(ToString::to_string).unwrap_or_default();
    let default: Vec<String> =
        argument.get_default_values().iter().map(|value| value.to_string_lossy().into_owned()).collect();
    let flag = argument.get_action().takes_values();
    let default = match default.as_slice() {
        [value] if flag && !argument.is_hide_default_value_set() => format!(" [default: {value}]"),
        _ => String::new(),
    };
    let _ = writeln!(page, "- `{argument}`: {}{default}", help.split('\n').collect::<Vec<&str>>().join(" "));
    let values = argument.get_possible_values();
    for value in values.iter().filter(|value| flag && !value.is_hide_set()) {
        let meaning = value.get_help().map(|help| format!(": {help}")).unwrap_or_default();
        let _ = writeln!(page, "  - `{}`{meaning}", value.get_name());
    }
}
