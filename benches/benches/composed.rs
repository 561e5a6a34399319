//! Adversarial executions a second: Figure 3's `compute`, three operations on a real `DashMap`.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use interloper::collections::DashMap;
use interloper::{Adversary, MethodUnderTest};

fn compute(map: &DashMap<u32, u32>, key: u32) -> Option<u32> {
    let found = map.get(&key).map(|value| *value);
    if found.is_none() {
        map.entry(key).or_insert(key * 2);
    }
    map.get(&key).map(|value| *value)
}

fn figure_3(criterion: &mut Criterion) {
    for (name, adversary) in [("preceding", Adversary::Preceding), ("nearest", Adversary::Nearest)] {
        let method = MethodUnderTest::new("compute", DashMap::new, compute).arguments([7]).settings(|settings| {
            settings.adversary = adversary;
            settings.keep_going = true;
        });
        // The whole space within the default bounds: runs, their judgement, and the set-up once.
        let executions = method.check().expect("well described").executions();
        let mut group = criterion.benchmark_group("figure 3 compute");
        group.throughput(Throughput::Elements(executions));
        group.bench_function(name, |bencher| bencher.iter(|| method.check().expect("well described").executions()));
        group.finish();
    }
}

criterion_group!(benches, figure_3);
criterion_main!(benches);
