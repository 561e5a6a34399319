//! What every command that judges prints for services, against the schemas of the formats.

use std::path::Path;
use std::process::Command;

use super::{Folder, bad, good};

#[test]
fn what_services_read_is_valid() {
    let folder = Folder::new();
    let call =
        "{\"process\":3,\"type\":\"invoke\",\"call\":\"read\"}\n{\"process\":3,\"type\":\"return\",\"value\":7}\n";
    folder.write("a history.jsonl", call);
    folder.write("sound.jsonl", &call.replace("7", "null"));
    for part in ["1/2", "2/2"] {
        let run = folder.run(&["run", bad(), "figure-1", "--shard", part]);
        folder.write(&format!("part-{}.json", &part[..1]), &run.out);
    }
    let replay = format!("interloper-failures/{}-42.json", bad());
    let commands: [&[&str]; 13] = [
        &["--executions", "20"],
        &["run", good(), bad(), "figure-1"],
        &["run", bad(), "--executions", "1"],
        &["show", "figure-1"],
        &["compare", "--executions", "20"],
        &["merge", "part-1.json", "part-2.json"],
        &["hunt", "striped-map", "--programs", "20"],
        &["hunt", "striped-map", "--schema", "{ get(0); size() } || { put(0, 0) }", "--engine", "systematic"],
        &["hunt", "two-lock-queue", "--engine", "stress", "--programs", "2", "--method", "put"],
        &["visibility", "striped-map", "--programs", "20"],
        &["check-history", "--type", "register", "a history.jsonl"],
        &["check-history", "--type", "register", "sound.jsonl"],
        &["replay", &replay],
    ];
    let mut files = Vec::new();
    for (number, command) in commands.iter().enumerate() {
        for (format, ending) in [("sarif", "sarif"), ("junit", "xml")] {
            let ran = folder.run(&[command, &["--format", format][..]].concat());
            assert!(matches!(ran.code, Some(0 | 1)), "{command:?}: {}", ran.err);
            let name = format!("{number}.{ending}");
            folder.write(&name, &ran.out);
            files.push(name);
        }
    }
    let validate = Path::new(env!("CARGO_MANIFEST_DIR")).join("../report/tests/formats/validate");
    let judged = Command::new("bash").arg(validate).args(&files).current_dir(&folder.0).status();
    match judged {
        Ok(judged) => assert!(judged.success(), "what is wrong is said above"),
        Err(error) => {
            eprintln!("\n!!! SKIPPED: results were not validated against the schemas of their formats: {error}\n")
        }
    }
}
