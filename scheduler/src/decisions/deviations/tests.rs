use super::*;
use crate::decisions::{ReplaySource, mix};

/// A program whose next question is a function of the answers so far: `shape` says which tree.
#[derive(Clone, Copy)]
struct Tree {
    shape: u64,
    depth: usize,
}

impl Tree {
    /// The next question after these answers, or `None` at the end.
    fn question(self, answers: &[u32]) -> Option<(Question, u32)> {
        let hash = answers.iter().fold(self.shape, |hash, &answer| mix(hash, u64::from(answer)));
        let ends = answers.len() >= self.depth || hash.is_multiple_of(11);
        let question = match hash >> 8 & 7 {
            0..4 => Question::Environment,
            4 => Question::Argument,
            5 => Question::InitialState,
            6 => Question::Task,
            _ => Question::Other,
        };
        (!ends).then_some((question, 1 + (hash >> 16 & 3) as u32))
    }

    /// Asks `source` until the end. With `lazy`, skips what the source does not want.
    fn run(self, source: &mut impl Source, lazy: bool) {
        let mut answers = Vec::new();
        while let Some((question, options)) = self.question(&answers) {
            answers.push(if lazy && !source.wants(question) { 0 } else { source.decide(question, options) });
        }
    }

    /// Every list of decisions, by the obvious recursion.
    fn all(self) -> Vec<Decisions> {
        fn extend(tree: Tree, answers: &mut Vec<u32>, list: &mut Decisions, all: &mut Vec<Decisions>) {
            let Some((question, options)) = tree.question(answers) else { return all.push(list.clone()) };
            for answer in 0..options {
                answers.push(answer);
                list.0.push(Decision::new(question, options, answer));
                extend(tree, answers, list, all);
                list.0.pop();
                answers.pop();
            }
        }
        let mut all = Vec::new();
        extend(self, &mut Vec::new(), &mut Decisions::default(), &mut all);
        all
    }
}

fn deviations(list: &Decisions) -> usize {
    list.0.iter().filter(|decision| decision.question == Question::Environment && decision.answer != 0).count()
}

/// The lists that a search visits, in its order, and what it covered.
fn visit(bound: u32, mut program: impl FnMut(&mut Deviations)) -> (Vec<Decisions>, Coverage) {
    let mut search = Deviations::new(bound);
    let mut lists = Vec::new();
    while search.next_run() {
        program(&mut search);
        lists.push(search.decisions());
        search.end_run();
    }
    assert_eq!(search.divergence(), None);
    (lists, search.coverage())
}

#[test]
fn each_list_within_the_bound_is_visited_exactly_once() {
    let (mut trees, mut largest) = (0, 0);
    for shape in 0..300 {
        let tree = Tree { shape, depth: 7 };
        for bound in 0..4 {
            let (visited, coverage) = visit(bound, |search| tree.run(search, false));
            let mut expected = tree.all();
            expected.retain(|list| deviations(list) <= bound as usize);
            let count = |level| expected.iter().filter(|list| deviations(list) == level).count() as u64;
            assert_eq!(coverage.runs, (0..=bound as usize).map(count).collect::<Vec<_>>());
            assert!(coverage.complete);
            assert!(visited.iter().map(deviations).is_sorted());
            (trees, largest) = (trees + 1, largest.max(visited.len()));
            let mut visited = visited;
            visited.sort();
            expected.sort();
            assert_eq!(visited, expected, "shape {shape}, bound {bound}");
        }
    }
    assert!(trees == 1200 && largest > 300, "the trees are large enough to mean something: {largest}");
}

#[test]
fn what_is_not_wanted_may_be_left_out() {
    let leave_out = |bound: usize, mut list: Decisions| {
        let is_deviation = |decision: &Decision| decision.question == Question::Environment && decision.answer != 0;
        if deviations(&list) == bound {
            let last = list.0.iter().rposition(is_deviation).map_or(0, |last| last + 1);
            let tail = list.0.split_off(last);
            list.0.extend(tail.into_iter().filter(|decision| decision.question != Question::Environment));
        }
        list
    };
    for shape in 0..300 {
        let tree = Tree { shape, depth: 7 };
        for bound in 0..4 {
            let (mut visited, _) = visit(bound, |search| tree.run(search, true));
            let within = |list: &Decisions| deviations(list) <= bound as usize;
            let mut expected: Vec<_> =
                tree.all().into_iter().filter(within).map(|list| leave_out(bound as usize, list)).collect();
            visited.sort();
            expected.sort();
            assert_eq!(visited, expected, "shape {shape}, bound {bound}");
        }
    }
}

#[test]
fn each_visited_list_replays() {
    for shape in 0..100 {
        let tree = Tree { shape, depth: 7 };
        let (visited, _) = visit(2, |search| tree.run(search, true));
        for list in visited {
            let mut replay = ReplaySource::new(list);
            tree.run(&mut replay, true);
            assert_eq!(replay.finish(), Ok(()));
        }
    }
}

#[test]
fn free_answers_come_in_lexicographic_order() {
    for shape in 0..300 {
        let tree = Tree { shape, depth: 7 };
        let (visited, _) = visit(0, |search| tree.run(search, false));
        assert!(visited.is_sorted_by(|a, b| a.0.iter().map(|d| d.answer).lt(b.0.iter().map(|d| d.answer))));
    }
}

#[test]
fn counts_by_hand() {
    // An argument out of 2 and three places for one of 3 environment operations: 2 · C(3, k) · 3^k.
    let program = |search: &mut Deviations| {
        search.decide(Question::Argument, 2);
        for _ in 0..3 {
            search.decide(Question::Environment, 4);
        }
    };
    assert_eq!(visit(3, program).1, Coverage { runs: vec![2, 18, 54, 54], complete: true });
    assert_eq!(visit(5, program).1, Coverage { runs: vec![2, 18, 54, 54, 0, 0], complete: true });
    assert_eq!(visit(0, program).1, Coverage { runs: vec![2], complete: true });
}

#[test]
fn a_free_question_behind_a_deviation() {
    // Only after the environment has acted there is an argument out of 2: 1 run without the environment, 2 runs with
    // it.
    let program = |search: &mut Deviations| {
        if search.decide(Question::Environment, 2) == 1 {
            search.decide(Question::Argument, 2);
        }
    };
    let (visited, coverage) = visit(1, program);
    assert_eq!(visited.iter().map(Decisions::to_string).collect::<Vec<_>>(), ["E0", "E1.A0", "E1.A1"]);
    assert_eq!(coverage.runs, [1, 2]);
}

#[test]
fn a_program_without_questions_has_one_run() {
    assert_eq!(visit(2, |_| {}).1, Coverage { runs: vec![1, 0, 0], complete: true });
}

#[test]
fn a_search_that_was_stopped_is_not_complete() {
    let mut search = Deviations::new(1);
    assert!(search.next_run());
    search.decide(Question::Argument, 2);
    search.end_run();
    assert_eq!(search.coverage(), Coverage { runs: vec![1, 0], complete: false });
}

#[test]
fn a_program_that_is_not_deterministic_ends_the_search() {
    #[track_caller]
    fn check(mut program: impl FnMut(&mut Deviations, u32)) {
        let mut search = Deviations::new(2);
        let mut runs = 0;
        while search.next_run() {
            runs += 1;
            assert!(runs < 100);
            program(&mut search, runs);
            search.end_run();
        }
        assert!(search.divergence().is_some());
        assert!(!search.coverage().complete);
    }
    // The number of options of a free question changes.
    check(|search, run| {
        search.decide(Question::Argument, 1 + run);
        search.decide(Question::Argument, 2);
    });
    // A free question becomes one about the environment, before the deviation of a child.
    check(|search, run| {
        search.decide(if run > 1 { Question::Argument } else { Question::Other }, 1);
        search.decide(Question::Environment, 2);
    });
    // The child ends before its deviation.
    check(|search, run| {
        if run == 1 {
            search.decide(Question::Environment, 2);
        }
    });
}

#[test]
fn nothing_is_allocated_on_the_last_level_in_the_steady_state() {
    let mut search = Deviations::new(2);
    let mut capacity = None;
    while search.next_run() {
        search.decide(Question::Argument, 2);
        for _ in 0..8 {
            search.decide(Question::Environment, 5);
        }
        search.end_run();
        if search.level() == 2 {
            let now = (search.path.capacity(), search.next.ends.capacity(), search.next.answers.capacity());
            assert_eq!(*capacity.get_or_insert(now), now);
        }
    }
    // 2 · C(8, k) · 4^k
    assert_eq!(search.coverage().runs, [2, 64, 896]);
}

#[test]
fn a_bound_may_be_any_number() {
    let mut search = Deviations::new(u32::MAX);
    let mut runs = 0;
    while search.next_run() {
        search.decide(Question::Environment, 3);
        search.end_run();
        runs += 1;
    }
    let counts = [vec![1, 2], vec![0; LEVELS - 2]].concat();
    assert_eq!((runs, search.coverage().runs), (3, counts));
    assert!(search.coverage().complete);
}

#[test]
fn the_places_of_long_runs_are_not_all_kept() {
    // 2^18 places in each run: the children of the first level have 2^36 of them.
    const LENGTH: usize = 1 << 18;
    let mut search = Deviations::new(2);
    let mut runs = 0;
    while search.next_run() && runs < 400 {
        for _ in 0..LENGTH {
            search.decide(Question::Environment, 2);
        }
        search.end_run();
        runs += 1;
    }
    assert_eq!((runs, search.level()), (400, 1));
    assert!(search.next.candidates.len() <= MOST_CANDIDATES + LENGTH, "{}", search.next.candidates.len());
    assert!(search.truncated);
    // A search that dropped children does not call itself complete.
    (search.phase, search.divergence) = (Phase::Done, None);
    assert!(!search.is_complete());
}

/// The parts of a search together make its runs: those of level 0 in each part, every other one in a single part, in the order of
/// the whole.
#[test]
fn the_parts_of_a_search_make_its_runs() {
    let mut dealt = 0;
    for shape in 0..60 {
        let tree = Tree { shape, depth: 6 };
        let visited = |mut search: Deviations| {
            let mut lists = Vec::new();
            while search.next_run() {
                tree.run(&mut search, shape % 2 == 0);
                lists.push((search.decisions(), search.is_shared()));
                search.end_run();
            }
            assert!(search.is_complete(), "{shape}");
            lists
        };
        let whole = visited(Deviations::new(3));
        for of in [1, 2, 3, 8] {
            let shards = (1..=of).map(|number| Shard::new(number, of).expect("a shard"));
            let parts: Vec<_> = shards.map(|shard| visited(Deviations::part(3, shard))).collect();
            for part in &parts {
                let mut rest = whole.iter();
                assert!(part.iter().all(|run| rest.any(|other| other == run)), "{shape} of {of}");
            }
            let mut makers = std::collections::BTreeMap::new();
            for (run, _) in parts.iter().flatten() {
                *makers.entry(run.to_string()).or_insert(0) += 1;
            }
            for (run, is_shared) in &whole {
                let expected = if *is_shared { of } else { 1 };
                assert_eq!(makers.get(&run.to_string()), Some(&expected), "{shape} of {of}: {run}");
            }
            dealt += usize::from(parts.iter().all(|part| part.iter().any(|run| !run.1)));
        }
    }
    assert!(dealt > 60, "{dealt}");
}

/// Where runs have no deviations, what they begin with is dealt: one part makes each run, and another part learns only that the run
/// is not its own.
#[test]
fn beginnings_are_dealt_where_there_are_no_deviations() {
    let visited = |mut search: Deviations| {
        let (mut runs, mut elsewhere) = (Vec::new(), 0);
        while search.next_run() {
            let first = search.decide(Question::Argument, 3);
            search.decide(Question::InitialState, 1 + first);
            if search.is_own() {
                search.decide(Question::Task, 2);
                search.decide(Question::Task, 1 + first);
                runs.push(search.decisions().to_string());
            }
            elsewhere += usize::from(search.is_elsewhere());
            search.end_run();
        }
        assert!(search.is_complete());
        (runs, elsewhere)
    };
    let (mut whole, none) = visited(Deviations::new(0));
    // 1 · 2 · 1 runs with the first argument, 2 · 2 · 2 with the second one, 3 · 2 · 3 with the third one.
    assert_eq!((whole.len(), none), (28, 0));
    whole.sort();
    for of in [1, 2, 5, 9] {
        let shards = (1..=of).map(|number| Shard::new(number, of).expect("a shard"));
        let parts: Vec<_> = shards.map(|shard| visited(Deviations::part(0, shard))).collect();
        let mut all: Vec<String> = parts.iter().flat_map(|(runs, _)| runs.clone()).collect();
        all.sort();
        assert_eq!(all, whole, "{of} parts");
        // There are 6 beginnings: 1 + 2 + 3.
        assert_eq!(parts.iter().map(|(_, elsewhere)| elsewhere).sum::<usize>(), 6 * (of as usize - 1));
    }
}

/// The program leaves out an answer at one place, and every answer at another.
#[test]
fn needless_answers_are_not_given() {
    let mut search = Deviations::new(0);
    let (mut runs, mut given_up) = (Vec::new(), 0);
    while search.next_run() {
        let first = search.decide(Question::Task, 3);
        let needless = [0b001, 0b101, 0b111][first as usize];
        match search.decide_among(Question::Task, 3, needless) {
            Some(second) => runs.push((first, second, search.decide(Question::Other, 1 + second))),
            None => given_up += 1,
        }
        search.end_run();
    }
    assert_eq!(runs, [(0, 1, 0), (0, 1, 1), (0, 2, 0), (0, 2, 1), (0, 2, 2), (1, 1, 0), (1, 1, 1)]);
    assert_eq!((given_up, search.is_complete()), (1, true));
    // The lists are those of the whole questions, so that they can be replayed.
    let mut search = Deviations::new(0);
    assert!(search.next_run());
    assert_eq!(search.decide_among(Question::Task, 3, 0b011), Some(2));
    assert_eq!(search.decisions(), Decisions(vec![Decision::new(Question::Task, 3, 2)]));
}

/// A search with deviations makes every run: those with more of them descend from it.
#[test]
fn with_deviations_no_answer_is_needless() {
    let mut search = Deviations::new(1);
    let mut runs = 0;
    while search.next_run() {
        assert!(search.decide_among(Question::Task, 2, 0b11).is_some());
        search.decide(Question::Environment, 2);
        search.end_run();
        runs += 1;
    }
    assert_eq!(runs, 4);
}

/// A program that leaves out what it did not leave out before does something different after the same answers.
#[test]
fn an_answer_that_becomes_needless_is_a_divergence() {
    let mut search = Deviations::new(0);
    let mut needless = 0;
    while search.next_run() {
        search.decide_among(Question::Task, 2, needless);
        search.decide(Question::Other, 2);
        search.end_run();
        needless = 0b01;
    }
    assert_eq!(search.divergence(), Some(0));
}
