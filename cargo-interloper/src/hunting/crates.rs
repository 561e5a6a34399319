//! The published crates whose types are described here, and a project for each that hunts them.

use std::fs;
use std::path::{Path, PathBuf};

use interloper_adopt::Refusal;
use interloper_report::file;

/// A published crate.
pub struct Known {
    /// Its name.
    pub name: &'static str,
    /// The version that the description is for.
    pub version: &'static str,
    /// Its entry under `[dependencies]`, with `VERSION` for the version.
    entry: &'static str,
    /// What else the description needs there.
    besides: &'static str,
    /// The names of the objects, in the order of the description.
    pub objects: &'static [&'static str],
    /// The description: a module with a function `all`.
    source: &'static str,
}

macro_rules! known {
    ($($file:literal $name:literal $version:literal $entry:literal $besides:literal [$($object:literal),+])+) => {
        /// All of them, in the order of their names.
        pub const KNOWN: &[Known] = &[$(Known {
            name: $name,
            version: $version,
            entry: $entry,
            besides: $besides,
            objects: &[$($object),+],
            source: include_str!(concat!("../../objects/", $file, ".rs")),
        }),+];
    };
}

known! {
    "aarc" "aarc" "0.4" "\"VERSION\"" "" ["aarc::AtomicArc"]
    "append_only_vec" "append-only-vec" "0.1" "\"VERSION\"" "" ["append_only_vec::AppendOnlyVec"]
    "appendvec" "appendvec" "0.2" "\"VERSION\"" "" ["appendvec::AppendVec"]
    "arc_cell" "arc-cell" "0.3" "\"VERSION\"" "" ["arc_cell::ArcCell"]
    "arc_swap" "arc-swap" "1" "\"VERSION\"" "" ["arc_swap::ArcSwap"]
    "arc_swap_simple" "arc-swap-simple" "0.1" "\"VERSION\"" "" ["arc_swap_simple::AtomicSwap"]
    "arcshift" "arcshift" "0.4" "\"VERSION\"" "" ["arcshift::ArcShift"]
    "arena_alligator" "arena-alligator" "0.7" "\"VERSION\"" "" ["arena_alligator::FixedArena"]
    "arenaskiplist" "arenaskiplist" "0.2" "\"VERSION\"" "" ["arenaskiplist::SkipList"]
    "async_channel" "async-channel" "2" "\"VERSION\"" "" ["async_channel::bounded"]
    "async_lock" "async-lock" "3" "\"VERSION\"" "" ["async_lock::Semaphore", "async_lock::OnceCell", "async_lock::RwLock"]
    "atomic_option" "atomic-option" "0.1" "\"VERSION\"" "" ["atomic_option::AtomicOption"]
    "atomic_queue" "atomic-queue" "2" "\"VERSION\"" "" ["atomic_queue::Queue"]
    "atomic_cell" "atomic_cell" "0.2" "\"VERSION\"" "" ["atomic_cell::AtomicCell"]
    "atomic_refcell" "atomic_refcell" "0.1" "\"VERSION\"" "" ["atomic_refcell::AtomicRefCell"]
    "atomic_swapping" "atomic_swapping" "0.1" "\"VERSION\"" ""
        ["atomic_swapping::AtomicSwap", "atomic_swapping::option::AtomicSwapOption"]
    "atomicbox" "atomicbox" "0.4" "\"VERSION\"" "" ["atomicbox::AtomicOptionBox"]
    "atomicell" "atomicell" "0.2" "\"VERSION\"" "" ["atomicell::AtomicCell"]
    "atomicring" "atomicring" "1" "\"VERSION\"" "" ["atomicring::AtomicRingBuffer", "atomicring::AtomicRingQueue"]
    "bondi" "bondi" "0.1" "\"VERSION\"" "" ["bondi::Bondi"]
    "boxcar" "boxcar" "0.2" "\"VERSION\"" "" ["boxcar::Vec"]
    "cht" "cht" "0.5" "\"VERSION\"" "" ["cht::HashMap"]
    "concread" "concread" "0.5" "{ version = \"VERSION\", default-features = false, features = [\"ebr\", \"maps\", \"foldhash\"] }" ""
        ["concread::CowCell", "concread::EbrCell", "concread::bptree::BptreeMap"]
    "concurrent_bloom_rs" "concurrent-bloom-rs" "0.1" "\"VERSION\"" "" ["concurrent_bloom_rs::Bloom"]
    "concurrent_interner" "concurrent-interner" "0.1" "\"VERSION\"" "" ["concurrent_interner::ConcurrentInterner"]
    "concurrent_queue" "concurrent-queue" "2" "\"VERSION\"" ""
        ["concurrent_queue::ConcurrentQueue", "concurrent_queue::single", "concurrent_queue::unbounded"]
    "concurrent_arena" "concurrent_arena" "0.1" "\"VERSION\"" "" ["concurrent_arena::Arena"]
    "concurrent_lru" "concurrent_lru" "0.2" "\"VERSION\"" "" ["concurrent_lru::sharded::LruCache"]
    "congee" "congee" "0.4" "\"VERSION\"" "" ["congee::Congee"]
    "countdown_latch" "countdown_latch" "0.1" "\"VERSION\"" "" ["countdown_latch::CountDownLatch"]
    "crossbeam_channel" "crossbeam-channel" "0.5" "\"VERSION\"" "" ["crossbeam_channel::bounded", "crossbeam_channel::unbounded"]
    "crossbeam_deque" "crossbeam-deque" "0.8" "\"VERSION\"" "" ["crossbeam_deque::Injector"]
    "crossbeam_epoch" "crossbeam-epoch" "0.9" "\"VERSION\"" "" ["crossbeam_epoch::Atomic"]
    "crossbeam_queue" "crossbeam-queue" "0.3" "\"VERSION\"" "" ["crossbeam_queue::SegQueue", "crossbeam_queue::ArrayQueue"]
    "crossbeam_skiplist" "crossbeam-skiplist" "0.1" "\"VERSION\"" ""
        ["crossbeam_skiplist::SkipMap", "crossbeam_skiplist::SkipSet"]
    "crossbeam_utils" "crossbeam-utils" "0.8" "\"VERSION\"" ""
        ["crossbeam_utils::atomic::AtomicCell", "crossbeam_utils::sync::ShardedLock"]
    "dashmap" "dashmap" "6" "\"VERSION\"" "" ["dashmap::DashMap"]
    "doublebuf" "doublebuf" "0.2" "\"VERSION\"" "" ["doublebuf::DoubleBuf"]
    "elsa" "elsa" "1" "\"VERSION\"" "" ["elsa::sync::FrozenMap", "elsa::sync::FrozenVec", "elsa::sync::LockFreeFrozenVec"]
    "faaa_queue" "faaa_queue" "1" "\"VERSION\"" "" ["faaa_queue::FAAAQueue"]
    "fast_counter" "fast-counter" "1" "\"VERSION\"" "" ["fast_counter::ConcurrentCounter"]
    "flume" "flume" "0.12" "{ version = \"VERSION\", default-features = false }" "" ["flume::bounded", "flume::unbounded"]
    "flurry" "flurry" "0.5" "\"VERSION\"" "" ["flurry::HashMap"]
    "hazarc" "hazarc" "0.2" "\"VERSION\"" "" ["hazarc::AtomicArc"]
    "hazptr" "hazptr" "0.1" "\"VERSION\"" "" ["hazptr::Atomic"]
    "heapless" "heapless" "0.9" "\"VERSION\"" "" ["heapless::mpmc::Queue"]
    "intid_allocator" "intid-allocator" "0.3" "\"VERSION\"" "" ["intid_allocator::UniqueIdAllocatorAtomic"]
    "kanal" "kanal" "0.1" "\"VERSION\"" "" ["kanal::bounded"]
    "latches" "latches" "0.2" "{ version = \"VERSION\", default-features = false, features = [\"std\", \"sync\"] }" ""
        ["latches::sync::Latch"]
    "leapfrog" "leapfrog" "0.3" "{ version = \"VERSION\", features = [\"stable_alloc\"] }" "allocator-api2 = \"0.2\"\n"
        ["leapfrog::LeapMap"]
    "lf_queue" "lf-queue" "0.1" "\"VERSION\"" "" ["lf_queue::Queue"]
    "lfqueue" "lfqueue" "0.8" "\"VERSION\"" "" ["lfqueue::AllocBoundedQueue", "lfqueue::UnboundedQueue"]
    "lock_free_stack" "lock-free-stack" "0.1" "\"VERSION\"" "" ["lock_free_stack::Stack"]
    "lockfree" "lockfree" "0.5" "\"VERSION\"" ""
        ["lockfree::map::Map", "lockfree::queue::Queue", "lockfree::stack::Stack"]
    "lockout_hazard" "lockout-hazard" "0.1" "\"VERSION\"" "" ["lockout_hazard::AtomicPtr"]
    "loole" "loole" "0.6" "\"VERSION\"" "" ["loole::bounded"]
    "maitake_sync" "maitake-sync" "0.3" "\"VERSION\"" "" ["maitake_sync::Semaphore"]
    "matecito" "matecito" "0.1" "\"VERSION\"" "" ["matecito::Matecito"]
    "mini_moka" "mini-moka" "0.10" "\"VERSION\"" "" ["mini_moka::sync::Cache"]
    "moka" "moka" "0.12" "{ version = \"VERSION\", default-features = false, features = [\"sync\"] }" "" ["moka::sync::Cache"]
    "mpmc" "mpmc" "0.1" "\"VERSION\"" "" ["mpmc::Queue"]
    "nolock" "nolock" "0.4" "{ version = \"VERSION\", default-features = false, features = [\"std\", \"queues\"] }" ""
        ["nolock::queues::mpmc::bounded::ncq", "nolock::queues::mpmc::bounded::scq"]
    "object_pool" "object-pool" "0.6" "\"VERSION\"" "" ["object_pool::Pool"]
    "once_cell" "once_cell" "1" "\"VERSION\"" "" ["once_cell::sync::OnceCell"]
    "opool" "opool" "0.2" "\"VERSION\"" "" ["opool::Pool"]
    "orx_concurrent_bag" "orx-concurrent-bag" "4" "\"VERSION\"" "" ["orx_concurrent_bag::ConcurrentBag"]
    "orx_concurrent_queue" "orx-concurrent-queue" "2" "\"VERSION\"" "" ["orx_concurrent_queue::ConcurrentQueue"]
    "orx_concurrent_vec" "orx-concurrent-vec" "4" "\"VERSION\"" "" ["orx_concurrent_vec::ConcurrentVec"]
    "papaya" "papaya" "0.2" "{ version = \"VERSION\", default-features = false }" "" ["papaya::HashMap"]
    "parking_lot" "parking_lot" "0.12" "\"VERSION\"" "" ["parking_lot::RwLock"]
    "quick_cache" "quick_cache" "0.6" "\"VERSION\"" "" ["quick_cache::sync::Cache"]
    "quickbloom" "quickbloom" "0.2" "\"VERSION\"" "" ["quickbloom::AtomicBloomFilter"]
    "rate_limit" "rate_limit" "0.1" "\"VERSION\"" "" ["rate_limit::SyncLimiter"]
    "ratelimit" "ratelimit" "2" "\"VERSION\"" "" ["ratelimit::Ratelimiter"]
    "rcu_clean" "rcu-clean" "0.1" "\"VERSION\"" "" ["rcu_clean::graceful::Rcu"]
    "rcu_cell" "rcu_cell" "1" "\"VERSION\"" "" ["rcu_cell::RcuCell"]
    "scc" "scc" "3" "\"VERSION\"" ""
        ["scc::HashMap", "scc::HashIndex", "scc::TreeIndex", "scc::Queue", "scc::Stack", "scc::Bag"]
    "seql" "seql" "0.1" "\"VERSION\"" "" ["seql::MutexSeqLock"]
    "seqlock" "seqlock" "0.2" "\"VERSION\"" "" ["seqlock::SeqLock"]
    "sharded_counter" "sharded-counter" "0.1" "\"VERSION\"" "" ["sharded_counter::CounterPool"]
    "sharded_slab" "sharded-slab" "0.1" "\"VERSION\"" "" ["sharded_slab::Slab"]
    "simple_semaphore" "simple-semaphore" "1" "\"VERSION\"" "" ["simple_semaphore::Semaphore"]
    "spin" "spin" "0.12" "\"VERSION\"" "" ["spin::Mutex", "spin::RwLock", "spin::Once"]
    "spinny" "spinny" "0.2" "\"VERSION\"" "" ["spinny::RwLock"]
    "spmc" "spmc" "0.3" "\"VERSION\"" "" ["spmc::channel"]
    "str_intern" "str-intern" "0.0.2" "\"VERSION\"" "" ["str_intern::sync::Interner"]
    "swap_arc" "swap-arc" "0.1" "\"VERSION\"" "" ["swap_arc::SwapArc"]
    "thingbuf" "thingbuf" "0.1" "\"VERSION\"" "" ["thingbuf::ThingBuf"]
    "tokio" "tokio" "1" "{ version = \"VERSION\", features = [\"sync\"] }" ""
        ["tokio::sync::Semaphore", "tokio::sync::mpsc::channel", "tokio::sync::mpsc::unbounded_channel",
         "tokio::sync::broadcast::channel", "tokio::sync::watch::channel", "tokio::sync::RwLock", "tokio::sync::OnceCell",
         "tokio::sync::Notify"]
    "trotcast" "trotcast" "0.5" "\"VERSION\"" "" ["trotcast::Channel"]
}

/// The crate that is asked for, as `name` or `name@version`, with the version.
///
/// # Errors
/// When no crate of this name is described.
pub fn find(asked: &str) -> Result<(&'static Known, String), Refusal> {
    let (name, version) = match asked.split_once('@') {
        Some((name, version)) => (name, Some(version)),
        None => (asked, None),
    };
    let same = |known: &&Known| known.name.replace('-', "_") == name.replace('-', "_");
    let Some(known) = KNOWN.iter().find(same) else {
        let names: Vec<&str> = KNOWN.iter().map(|known| known.name).collect();
        return Err(Refusal::Request(format!(
            "no description of {name}: there are {}; describe a type of another crate with `Object::describe` in a project of \
             your own",
            names.join(", ")
        )));
    };
    let version = version.unwrap_or(known.version);
    let fits =
        !version.is_empty() && version.chars().all(|one| one.is_ascii_alphanumeric() || ".-+=^~<>, *".contains(one));
    if !fits {
        return Err(Refusal::Request(format!("'{version}' is not a version")));
    }
    Ok((known, version.to_owned()))
}

/// Writes the project that hunts a crate, and gives its folder. What a hunt of the same version has built stays.
///
/// # Errors
/// When it cannot be written.
pub fn project(known: &Known, version: &str, interloper: &Path) -> Result<PathBuf, Refusal> {
    let plain: String =
        version.chars().map(|one| if one.is_ascii_alphanumeric() || one == '.' { one } else { '_' }).collect();
    let all = cache()?;
    let folder = all.join(format!("{}-{plain}", known.name));
    let entry = known.entry.replace("VERSION", version);
    let Known { name, besides, .. } = known;
    let manifest = format!(
        "# Written by `cargo interloper hunt --crate {name}`.\n[package]\nname = \"hunt-{name}\"\nversion = \"0.0.0\"\n\
         edition = \"2021\"\npublish = false\n\n[dependencies]\n{name} = {entry}\n{besides}interloper = {{ path = {:?}, features = [\"objects\"] }}\n\n\
         [lints.rust]\nunexpected_cfgs = {{ level = \"warn\", check-cfg = [\"cfg(interloper)\"] }}\n\n[profile.dev]\nopt-level = 1\n\n[workspace]\n",
        interloper.display().to_string()
    );
    let tests: String = (0..known.objects.len())
        .map(|number| {
            format!(
                "    #[test]\n    fn object_{number}() {{\n        interloper::objects::hunted::run(super::described::all()\
                 .swap_remove({number}));\n    }}\n"
            )
        })
        .collect();
    let library =
        format!("#![allow(warnings)]\n\n#[cfg(test)]\nmod described;\n\n#[cfg(test)]\nmod hunts {{\n{tests}}}\n");
    let (source, settings) = (folder.join("src"), all.join(".cargo"));
    for made in [&source, &settings] {
        fs::create_dir_all(made).map_err(|error| cannot("make", made, &error))?;
    }
    for (path, text) in [
        // Most of what is built is the same for all of them.
        (settings.join("config.toml"), "[build]\ntarget-dir = \"target\"\n"),
        (folder.join("Cargo.toml"), manifest.as_str()),
        (source.join("lib.rs"), &library),
        (source.join("described.rs"), known.source),
    ] {
        // Cargo builds again what has another time.
        if fs::read_to_string(&path).ok().as_deref() != Some(text) {
            file::write(&path, text.as_bytes()).map_err(|error| cannot("write", &path, &error))?;
        }
    }
    Ok(folder)
}

/// The folder of these projects, in the user's cache.
fn cache() -> Result<PathBuf, Refusal> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = set("XDG_CACHE_HOME").or_else(|| Some(std::env::home_dir()?.join(".cache")));
    let cache =
        cache.ok_or_else(|| Refusal::Request("there is no folder for what is built: set XDG_CACHE_HOME".to_owned()))?;
    Ok(cache.join("interloper").join("hunt"))
}

fn cannot(what: &str, path: &Path, error: &std::io::Error) -> Refusal {
    Refusal::System { doing: format!("{what} {}", path.display()), reason: error.to_string() }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// The names of the objects are those of the descriptions, and each description is in the list.
    #[test]
    fn the_list_is_that_of_the_descriptions() {
        for known in KNOWN {
            let described = known.source.split("Object::describe(\"").skip(1);
            let names: Vec<&str> = described.map(|text| text.split_once('"').expect("a name").0).collect();
            assert_eq!(known.objects, names, "{}", known.name);
        }
        assert!(KNOWN.is_sorted_by_key(|known| known.name));
        let files = fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/objects")).expect("the descriptions");
        let files: BTreeSet<String> =
            files.map(|file| file.expect("a file").file_name().to_string_lossy().replace(".rs", "")).collect();
        let names: BTreeSet<String> = KNOWN.iter().map(|known| known.name.replace('-', "_")).collect();
        assert_eq!(files, names);
    }

    #[test]
    fn names_and_versions() {
        let found =
            |asked: &str| find(asked).map(|(known, version)| (known.name, version)).map_err(|one| one.to_string());
        assert_eq!(found("scc"), Ok(("scc", "3".to_owned())));
        assert_eq!(found("arc_swap@=1.7.1"), Ok(("arc-swap", "=1.7.1".to_owned())));
        assert!(
            found("sccc")
                .is_err_and(|said| said.starts_with("no description of sccc: there are aarc, append-only-vec"))
        );
        assert_eq!(found("scc@\"3"), Err("'\"3' is not a version".to_owned()));
    }
}
