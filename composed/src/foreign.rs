//! Collections of other crates that the driver runs as they were published, without knowing these crates: the code of a harness says
//! how they are used (`interloper::collections::foreign`).

/// A collection of another crate.
#[derive(Debug)]
pub(crate) struct Foreign {
    /// The crate, as `use` says it.
    library: &'static str,
    kind: &'static str,
    pub(crate) package: &'static str,
    /// How it is seen.
    view: &'static str,
    /// Says how it is used. `HERE` stands for a type of the harness, `LIBRARY` for the crate.
    implementation: &'static str,
}

static ALL: [Foreign; 8] = [
    // Since version 3, whose methods have other names than before.
    Foreign { library: "scc", kind: "HashMap", package: "scc", view: "AsMap", implementation: SCC },
    Foreign { library: "papaya", kind: "HashMap", package: "papaya", view: "AsMap", implementation: PINNED },
    Foreign { library: "flurry", kind: "HashMap", package: "flurry", view: "AsMap", implementation: PINNED },
    Foreign { library: "moka", kind: "Cache", package: "moka", view: "AsMap", implementation: MOKA },
    Foreign {
        library: "quick_cache",
        kind: "Cache",
        package: "quick_cache",
        view: "AsMap",
        implementation: QUICK_CACHE,
    },
    Foreign { library: "arc_swap", kind: "ArcSwap", package: "arc-swap", view: "AsRegister", implementation: ARC_SWAP },
    Foreign {
        library: "arc_swap",
        kind: "ArcSwapOption",
        package: "arc-swap",
        view: "AsRegister",
        implementation: ARC_SWAP_OPTION,
    },
    Foreign { library: "once_cell", kind: "OnceCell", package: "once_cell", view: "AsOnce", implementation: ONCE_CELL },
];

/// The locks of parking_lot. The environment sees one as it sees those of std.
static PARKING_LOT: [Foreign; 2] = [
    Foreign {
        library: "parking_lot",
        kind: "Mutex",
        package: "parking_lot",
        view: "AsLock",
        implementation: PARKING_LOT_MUTEX,
    },
    Foreign {
        library: "parking_lot",
        kind: "RwLock",
        package: "parking_lot",
        view: "AsLock",
        implementation: PARKING_LOT_RWLOCK,
    },
];

/// That of std, which needs no more words.
static ONCE_LOCK: Foreign =
    Foreign { library: "std", kind: "OnceLock", package: "", view: "AsOnce", implementation: "" };

/// The collection of this name in a crate.
pub(crate) fn of(library: &str, kind: &str) -> Option<&'static Foreign> {
    match kind {
        "OnceLock" => Some(&ONCE_LOCK),
        _ => ALL.iter().find(|one| one.library == library && one.kind == kind),
    }
}

/// The lock of parking_lot of this name.
pub(crate) fn parking_lot(kind: &str) -> Option<&'static Foreign> {
    PARKING_LOT.iter().find(|one| one.kind == kind)
}

impl Foreign {
    /// Whether its crate has to be under control.
    pub(crate) fn is_of_a_package(&self) -> bool {
        !self.package.is_empty()
    }

    /// The collection to which `code` leads, as something that the environment acts on; `here` is a type of the harness.
    pub(crate) fn seen(&self, code: &str, here: &str) -> String {
        format!("interloper::collections::foreign::{}::<_, {here}>::of({code})", self.view)
    }

    /// The item that says how it is used.
    pub(crate) fn item(&self, here: &str) -> String {
        self.implementation.replace("HERE", here).replace("LIBRARY", self.library)
    }
}

const SCC: &str = include_str!("foreign/scc.txt");

/// A map whose methods need a guard, which `pin` gives.
const PINNED: &str = include_str!("foreign/pinned.txt");
const MOKA: &str = include_str!("foreign/moka.txt");
const QUICK_CACHE: &str = include_str!("foreign/quick_cache.txt");
const ARC_SWAP: &str = include_str!("foreign/arc_swap.txt");
const ARC_SWAP_OPTION: &str = include_str!("foreign/arc_swap_option.txt");
const ONCE_CELL: &str = include_str!("foreign/once_cell.txt");
const PARKING_LOT_MUTEX: &str = include_str!("foreign/parking_lot_mutex.txt");
const PARKING_LOT_RWLOCK: &str = include_str!("foreign/parking_lot_rwlock.txt");
