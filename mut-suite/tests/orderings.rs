use interloper::blocks::{Bug, Expected, Settings};
use interloper_suite::blocks::programs;

#[test]
fn scratch() {
    for program in programs() {
        let settings = program.own_settings();
        if settings.memory != Some(interloper::blocks::Memory::Weak) {
            continue;
        }
        let settings = Settings { executions: 2000, ..settings };
        let t = std::time::Instant::now();
        let o = program.orderings_with(&settings).unwrap();
        println!("#### {} {:?} {:?}\n{o}", program.name, program.expected, t.elapsed());
    }
}
