//! What each memory ordering of the programs is for: the bad programs are told what removes their bugs, and the good ones
//! which orderings they need.

use interloper::blocks::{Expected, Settings};
use interloper::report::orderings::{Orderings, Verdict};
use interloper_suite::blocks::find_program;

fn orderings(name: &str) -> Orderings {
    let program = find_program(name).expect("it is there");
    let settings = Settings { executions: 2_000, ..program.own_settings() };
    program.orderings_with(&settings).unwrap_or_else(|misuse| panic!("{name}: {misuse}"))
}

/// How many orderings are needed, stronger than needed, and not reached.
fn counted(orderings: &Orderings) -> [usize; 3] {
    let count = |is: fn(&Verdict<'_>) -> bool| orderings.sites.iter().filter(|site| is(&site.verdict())).count();
    let unclear = count(|verdict| *verdict == Verdict::Unclear);
    assert_eq!(unclear, 0, "{orderings}");
    [
        count(|verdict| *verdict == Verdict::Needed),
        count(|verdict| matches!(verdict, Verdict::Stronger(_))),
        count(|verdict| *verdict == Verdict::NotReached),
    ]
}

/// Programs with no ordering to spare: a Release or a release fence on one side, an Acquire or an acquire fence on the other.
/// The relay has two such pairs, and so has the reader of a seqlock.
#[test]
fn every_ordering_of_a_publication_is_needed() {
    let expected = [
        ("publish", 2),
        ("release-fence-before-store", 2),
        ("broadcast-fenced", 2),
        ("relay-release", 4),
        ("release-sequence-fetch-add", 2),
        ("statistics-release", 2),
        ("double-checked-acquire", 2),
        ("once-cell-release", 2),
        ("arc-drop-fenced", 2),
        ("arc-get-mut-acquire", 2),
        ("latch-release", 2),
        ("spin-lock-release", 2),
        ("ticket-lock-acquire", 2),
        ("seqlock-fenced", 4),
    ];
    for (name, needed) in expected {
        let orderings = orderings(name);
        assert_eq!(counted(&orderings), [needed, 0, 0], "{name}\n{orderings}");
    }
}

#[track_caller]
fn check_verdicts(name: &str, expected: &[(&str, &str, Verdict<'_>)]) {
    let orderings = orderings(name);
    let found: Vec<_> =
        orderings.sites.iter().map(|site| (&*site.operation, &*site.ordering, site.verdict())).collect();
    assert_eq!(found, expected, "{orderings}");
}

/// The twins: orderings that these programs can do without.
#[test]
fn an_ordering_that_is_not_needed_survives() {
    use Verdict::{Needed, NotReached, Stronger};
    // Two loads that are SeqCst agree on the order of two flags, whatever the stores: the second load of one thread comes
    // before the first load of the other in the order of all that is SeqCst, and the same holds the other way round.
    let observers =
        [("store", "SeqCst", Stronger(vec!["Relaxed"])), ("load", "SeqCst", Needed), ("load", "SeqCst", Needed)];
    check_verdicts("observers-seq-cst", &observers);
    // Each reader of a box takes its content from the other one: nobody takes it back. Its owner publishes, and acquires
    // nothing when its compare-exchange succeeds, since the box was empty.
    let once_box =
        [("load", "Acquire", Needed), ("load", "Acquire", Needed), ("update", "AcqRel", Stronger(vec!["Release"]))];
    check_verdicts("once-box-acquire-failure", &once_box);
    // The link that publishes a node is needed; the compare-exchange that makes it never fails with one producer.
    let queue = orderings("michael-scott-release-link");
    let link =
        |operation: &str| queue.sites.iter().find(|site| site.place().ends_with(":42") && site.operation == operation);
    assert_eq!(link("update").map(|site| (&*site.ordering, site.verdict())), Some(("Release", Needed)), "{queue}");
    assert_eq!(link("load").map(|site| (&*site.ordering, site.verdict())), Some(("Acquire", NotReached)), "{queue}");
}

/// What the text of each program says is too weak in it.
#[test]
fn a_bad_program_is_told_which_ordering_removes_its_bug() {
    let expected = [
        ("publish-relaxed-store", "store", "Relaxed", "Release"),
        ("publish-relaxed-load", "load", "Relaxed", "Acquire"),
        ("relay-relaxed", "store", "Relaxed", "Release"),
        ("release-sequence-store", "store", "Relaxed", "Release"),
        ("statistics-relaxed", "update", "Relaxed", "Release"),
        ("double-checked-relaxed", "load", "Relaxed", "Acquire"),
        ("once-cell-relaxed", "store", "Relaxed", "Release"),
        ("once-box-relaxed-failure", "load", "Relaxed", "Acquire"),
        // Instead of the fence that is missing, which no ordering is.
        ("arc-drop-unfenced", "update", "Release", "AcqRel"),
        ("arc-drop-relaxed", "update", "Relaxed", "Release"),
        ("arc-get-mut-relaxed", "load", "Relaxed", "Acquire"),
        ("latch-relaxed", "update", "Relaxed", "Release"),
        ("spin-lock-relaxed-unlock", "store", "Relaxed", "Release"),
        ("spin-lock-relaxed-lock", "update", "Relaxed", "Acquire"),
        ("ticket-lock-relaxed", "load", "Relaxed", "Acquire"),
        ("reader-flag-acquire-release", "fence", "AcqRel", "SeqCst"),
        ("seqlock-writer-relaxed", "store", "Relaxed", "Release"),
        ("spsc-ring-relaxed-tail", "store", "Relaxed", "Release"),
        ("michael-scott-relaxed-link", "update", "Relaxed", "Release"),
        ("treiber-relaxed-push", "update", "Relaxed", "Release"),
        ("marked-list-relaxed-insert", "update", "Relaxed", "Release"),
    ];
    for (name, operation, from, to) in expected {
        let orderings = orderings(name);
        let [finding] = &orderings.findings[..] else { panic!("{name}\n{orderings}") };
        let fixes = finding.fixes.iter().map(|fix| (&*fix.site.operation, &*fix.site.ordering, &*fix.ordering));
        assert_eq!(fixes.collect::<Vec<_>>(), [(operation, from, to)], "{name}\n{orderings}");
        assert!(matches!(find_program(name).map(|program| program.expected), Some(Expected::Bug(_))));
    }
}

/// Bugs that take two orderings, or that no ordering causes.
#[test]
fn no_single_ordering_removes_some_bugs() {
    for name in [
        "observers-acquire",
        "peterson-acquire-release",
        "channel-close-acquire-release",
        "atomic-arc-increment",
        "michael-scott-early-free",
        "treiber-early-free",
        "marked-list-unmarked",
    ] {
        let orderings = orderings(name);
        let [finding] = &orderings.findings[..] else { panic!("{name}\n{orderings}") };
        assert_eq!(finding.fixes, [], "{name}\n{orderings}");
    }
}
