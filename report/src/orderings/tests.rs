use super::*;

fn site(line: u32, operation: &str, ordering: &str, times: u64, trials: Vec<(&str, Outcome)>) -> Site {
    let trials =
        trials.into_iter().map(|(ordering, outcome)| Trial { ordering: ordering.to_owned(), outcome }).collect();
    let (operation, ordering) = (operation.to_owned(), ordering.to_owned());
    Site { file: "src/lib.rs".to_owned(), line, column: 9, operation, ordering, times, trials }
}

fn survived() -> Outcome {
    Outcome::Survived { executions: 1200 }
}

fn killed() -> Outcome {
    let replay = Some("INTERLOPER_REPLAY=T1/2 cargo interloper test".to_owned());
    Outcome::Killed { test: Some("tests::send".to_owned()), finding: "panic: no letter".to_owned(), replay }
}

fn timed_out() -> Outcome {
    Outcome::TimedOut { test: "tests::send".to_owned(), seconds: 60 }
}

#[test]
fn verdicts_by_hand() {
    #[track_caller]
    fn check(times: u64, trials: Vec<(&str, Outcome)>, expected: Verdict<'_>) {
        assert_eq!(site(1, "update", "SeqCst", times, trials).verdict(), expected);
    }
    check(0, vec![], Verdict::NotReached);
    check(3, vec![("AcqRel", killed())], Verdict::Needed);
    check(3, vec![("AcqRel", timed_out())], Verdict::Unclear);
    check(
        3,
        vec![("AcqRel", survived()), ("Acquire", killed()), ("Release", killed())],
        Verdict::Stronger(vec!["AcqRel"]),
    );
    let both = vec![("AcqRel", survived()), ("Acquire", survived()), ("Release", survived()), ("Relaxed", killed())];
    check(3, both, Verdict::Stronger(vec!["Acquire", "Release"]));
    let all = vec![("AcqRel", survived()), ("Acquire", survived()), ("Release", survived()), ("Relaxed", survived())];
    check(3, all, Verdict::Stronger(vec!["Relaxed"]));
    check(3, vec![("AcqRel", survived()), ("Acquire", timed_out())], Verdict::Stronger(vec!["AcqRel"]));
    check(3, vec![("Acquire", killed()), ("Release", timed_out())], Verdict::Unclear);
    check(3, vec![("Acquire", Outcome::Missed { executions: 5 })], Verdict::Unclear);
}

fn every_outcome() -> Orderings {
    let failed = Outcome::Failed { test: "tests::count".to_owned(), message: "17 instead of 16".to_owned() };
    let crashed = Outcome::Crashed { test: "tests::count".to_owned(), message: "signal: 6 (SIGABRT)".to_owned() };
    let unrelated = Outcome::Unrelated { test: None, finding: "deadlock".to_owned() };
    Orderings {
        name: "mailbox".to_owned(),
        executions: 10_000,
        findings: vec![],
        sites: vec![
            site(12, "store", "Release", 40, vec![("Relaxed", killed())]),
            site(20, "update", "SeqCst", 7, vec![("AcqRel", survived()), ("Acquire", failed), ("Release", crashed)]),
            site(30, "load", "Acquire", 1, vec![("Relaxed", timed_out())]),
            site(31, "load", "Acquire", 1, vec![("Relaxed", unrelated)]),
            site(40, "fence", "SeqCst", 0, vec![]),
        ],
    }
}

#[test]
fn the_table_has_each_trial_and_each_verdict() {
    let expected = "\
the orderings of mailbox: 5 sites, 10,000 executions as it is

place             operation   ordering   instead   outcome
────────────────────────────────────────────────────────────────────────────────────────────────────────────
src/lib.rs:12:9   store       Release    Relaxed   killed: tests::send: panic: no letter
src/lib.rs:20:9   update      SeqCst     AcqRel    survived 1,200 executions
                                         Acquire   failed without a finding: tests::count: 17 instead of 16
                                         Release   crashed: tests::count: signal: 6 (SIGABRT)
src/lib.rs:30:9   load        Acquire    Relaxed   timed out: tests::send ran for more than 60 s
src/lib.rs:31:9   load        Acquire    Relaxed   unrelated: deadlock, also with the ordering of the source
src/lib.rs:40:9   fence       SeqCst     –         not reached

src/lib.rs:12:9: Release is needed
    see it with Relaxed: INTERLOPER_REPLAY=T1/2 cargo interloper test
src/lib.rs:20:9: AcqRel is enough: SeqCst is stronger than these tests can justify, or the tests are too weak
src/lib.rs:30:9: unclear: not every weaker ordering had a finding, and none survived
src/lib.rs:31:9: unclear: not every weaker ordering had a finding, and none survived
src/lib.rs:40:9: not reached: no execution under weak memory makes this fence

1 needed, 1 stronger than these tests can justify, 2 unclear, 1 not reached
";
    assert_eq!(text(&every_outcome()), expected);
}

fn with_a_finding() -> Orderings {
    let found = |fixes| Finding {
        test: None,
        finding: "panic: no letter".to_owned(),
        replay: Some("replay".to_owned()),
        tried: 3,
        fixes,
    };
    let fix = Fix { site: site(12, "store", "Relaxed", 5, vec![]), ordering: "Release".to_owned(), executions: 300 };
    let findings = vec![found(vec![fix]), found(vec![])];
    Orderings { name: "mailbox".to_owned(), executions: 7, findings, sites: vec![] }
}

#[test]
fn a_finding_comes_with_what_removes_it() {
    let expected = "\
mailbox has a finding as it is, so no ordering was weakened

panic: no letter
    see it: replay
    Release instead of Relaxed removes it: the store at src/lib.rs:12:9 (300 executions)
panic: no letter
    see it: replay
    no single stronger ordering removes it (3 sites tried)
";
    assert_eq!(text(&with_a_finding()), expected);
    let none = Orderings { findings: vec![], ..with_a_finding() };
    let expected = "the orderings of mailbox: 0 sites, 7 executions as it is\n  no atomic operation or fence has an \
                    ordering stronger than Relaxed\n";
    assert_eq!(text(&none), expected);
}

#[test]
fn json_is_read_back_and_has_the_verdicts() {
    for orderings in [every_outcome(), with_a_finding()] {
        let text = json(&orderings);
        assert_eq!(serde_json::from_str::<Orderings>(&text).unwrap(), orderings);
        let document: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(document["version"], 1);
    }
    let document: serde_json::Value = serde_json::from_str(&json(&every_outcome())).unwrap();
    let verdicts: Vec<&str> =
        document["sites"].as_array().unwrap().iter().map(|site| site["verdict"].as_str().unwrap()).collect();
    assert_eq!(verdicts, ["needed", "stronger-than-justified", "unclear", "unclear", "not-reached"]);
    assert_eq!(document["sites"][0]["trials"][0]["outcome"], "killed");
}

fn results(orderings: &Orderings) -> Vec<(String, String, u64)> {
    let log: serde_json::Value = serde_json::from_str(&sarif(orderings)).unwrap();
    assert_eq!((&log["version"], &log["runs"][0]["tool"]["driver"]["name"]), (&"2.1.0".into(), &"interloper".into()));
    let rules = &log["runs"][0]["tool"]["driver"]["rules"];
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    let known: Vec<String> = rules.as_array().unwrap().iter().map(|rule| text(&rule["id"])).collect();
    let one = |result: &serde_json::Value| {
        assert!(known.contains(&text(&result["ruleId"])) && text(&result["message"]["text"]).ends_with('.'));
        let place = &result["locations"][0]["physicalLocation"];
        assert_eq!(place["region"]["startColumn"], 9);
        let line = place["region"]["startLine"].as_u64().unwrap();
        (text(&result["ruleId"]), text(&place["artifactLocation"]["uri"]), line)
    };
    log["runs"][0]["results"].as_array().unwrap().iter().map(one).collect()
}

#[test]
fn sarif_has_a_result_for_each_survivor() {
    let result = |rule: &str, line| (rule.to_owned(), "src/lib.rs".to_owned(), line);
    let expected = [result("ordering-stronger-than-justified", 20), result("ordering-not-reached", 40)];
    assert_eq!(results(&every_outcome()), expected);
    assert_eq!(results(&with_a_finding()), [result("ordering-too-weak", 12)]);
    let mut elsewhere = every_outcome();
    elsewhere.sites.iter_mut().for_each(|site| site.file = "/a folder/x#.rs".to_owned());
    assert!(results(&elsewhere).iter().all(|(_, uri, _)| uri == "file:///a%20folder/x%23.rs"));
}

#[test]
fn junit_has_a_case_for_each_ordering_and_fails_with_a_finding_alone() {
    let document = junit(&every_outcome());
    let suite = "<testsuite name=\"orderings of mailbox\" tests=\"5\" failures=\"0\" errors=\"0\" skipped=\"3\">";
    assert!(document.contains(suite), "{document}");
    let needed =
        "name=\"store Release at src/lib.rs:12:9\">\n      <system-out>needed\nRelaxed: killed: tests::send: panic";
    assert!(document.contains(needed), "{document}");
    assert!(document.contains("stronger than the tests can justify: AcqRel is enough"), "{document}");
    let fix = Fix { site: site(21, "store", "Relaxed", 3, vec![]), ordering: "Release".to_owned(), executions: 9 };
    let finding = Finding {
        test: Some("tests::send".to_owned()),
        finding: "panic: no letter".to_owned(),
        replay: Some("again".to_owned()),
        tried: 1,
        fixes: vec![fix],
    };
    let found = Orderings { findings: vec![finding], sites: vec![], ..every_outcome() };
    let failure =
        "<failure message=\"panic: no letter\">src/lib.rs:21:9: Release instead of Relaxed removes it\nreplay: again\n";
    assert!(junit(&found).contains(failure), "{}", junit(&found));
    let annotation = "::error file=src/lib.rs,line=21,col=9,title=tests%3A%3Asend%3A an ordering is too weak::panic: no \
                      letter: Release instead of Relaxed removes it.\n";
    assert_eq!((annotations(&found).as_str(), annotations(&every_outcome()).as_str()), (annotation, ""));
}
