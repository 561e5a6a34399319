//! Copies the sources of the real parking_lot from where cargo keeps them.

use std::path::{Path, PathBuf};
use std::{env, fs};

use cargo_metadata::{CargoOpt, MetadataCommand};

fn main() {
    let metadata = MetadataCommand::new()
        .features(CargoOpt::AllFeatures)
        .other_options(["--offline".to_owned()])
        .exec()
        .expect("cargo metadata of this workspace");
    let is_original = |package: &&cargo_metadata::Package| package.name == "parking_lot" && package.source.is_some();
    let package = metadata.packages.iter().find(is_original).expect("the workspace depends on parking_lot");
    let sources = package.manifest_path.parent().expect("a manifest is in a folder").join("src");
    let target = PathBuf::from(env::var_os("OUT_DIR").expect("cargo says where"));
    copy(sources.as_std_path(), &target);
    println!("cargo::rerun-if-changed={sources}");
    println!("cargo::rerun-if-changed=build.rs");
}

fn copy(sources: &Path, target: &Path) {
    for entry in fs::read_dir(sources).expect("the sources can be read") {
        let path = entry.expect("the sources can be read").path();
        let name = path.file_name().expect("a file has a name");
        let text = fs::read_to_string(&path).expect("a source file is text");
        // The root is included, where there may be no inner attributes.
        let is_root = name == "lib.rs";
        let keep = |line: &&str| !is_root || !(line.starts_with("//!") || line.starts_with("#!["));
        let text: Vec<&str> = text.lines().filter(keep).collect();
        // Its own tests need crates that are not there.
        let text = text.join("\n").replace("#[cfg(test)]", "#[cfg(any())]");
        fs::write(target.join(name), text).expect("the copy can be written");
    }
}
