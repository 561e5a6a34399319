//! A method under test over a collection as it was published.

use super::*;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().expect("the repository")
}

/// What stands between "```text" and "```" in the header.
fn promised(source: &str) -> String {
    let header = source.lines().map_while(|line| line.strip_prefix("//!"));
    let lines = header.map(|line| line.strip_prefix(' ').unwrap_or(line));
    let output = lines.skip_while(|line| *line != "```text").skip(1).take_while(|line| *line != "```");
    output.map(|line| format!("{line}\n")).collect()
}

/// The real `dashmap::DashMap`, without a wrapper: put-if-absent in two calls is not atomic, in one call it is. The report
/// names the calls with their places in the example. The second method is one call, from 9 states: nothing comes before it, or one of
/// 12 operations, which a second one might follow after the call if there were another call: 9 (1 + 12) = 117 executions.
#[test]
fn the_example_of_the_real_map_prints_what_its_header_says() {
    let example = "examples/published";
    let source = fs::read_to_string(root().join(example).join("src/main.rs")).expect("the example");
    let manifest = format!("{example}/Cargo.toml");
    let ran = interloper(&root(), &["run", "--manifest-path", &manifest]).expect(0);
    let printed: String = ran.out.lines().map(|line| format!("{}\n", line.trim_end())).collect();
    assert_eq!(printed, promised(&source));
}
