//! The package for Fedora, RHEL and SUSE. rpmbuild determines the required glibc symbols from the
//! program.

use super::content::{self, ZshFolder};
use super::{DESCRIPTION, HOMEPAGE, MAINTAINER, Release, SUMMARY, VERSION, archive, files};
use anyhow::{Context, Result};
use filestone_interop::tool;
use std::path::Path;
use std::process::Command;

/// Makes the package.
pub fn make(release: &Release, program: &Path, file: &Path) -> Result<()> {
    let top = release.work.path.join("rpm");
    let root = top.join("content");
    content::install(release, program, &root, "filestone", ZshFolder::Rpm)?;
    content::licences(release, &root.join("usr/share/licenses/filestone"))?;
    files::settle(release, &root)?;
    let spec = top.join("filestone.spec");
    files::write(&spec, specification(&root)?)?;
    // rpmbuild sets root as the owner and clears its build root.
    let copied = top.join("content.tar");
    archive::tar(release, &root, &["usr"], &copied)?;
    let define = |name: &str, value: &str| ["--define".to_string(), format!("{name} {value}")];
    let settings = [
        define("_topdir", &top.display().to_string()),
        define("content", &copied.display().to_string()),
        define("_buildhost", "filestone"),
        define("use_source_date_epoch_as_buildtime", "1"),
        define("clamp_mtime_to_source_date_epoch", "1"),
        define("_build_id_links", "none"),
        define("_binary_payload", "w6.xzdio"),
        // The default would recompress pages and look for an interpreter of every script.
        define("__os_install_post", "%{nil}"),
    ];
    tool::run(
        Command::new("rpmbuild")
            .args(["-bb", "--quiet", "--target", release.machine.name()])
            .args(settings.concat())
            .arg(&spec)
            .env("SOURCE_DATE_EPOCH", release.time.to_string()),
    )?;
    let built = top.join("RPMS").join(release.machine.name());
    let name = file.file_name().context("a package has a name")?;
    std::fs::rename(built.join(name), file).context("rpmbuild left no package")
}

/// Directories below /usr/share that belong to the package alone.
const OWN: [&str; 3] = ["filestone", "doc/filestone", "licenses/filestone"];
/// Directories that shells share, if they are installed; without shells they are removed with the
/// package.
const SHARED: [&str; 7] = [
    "bash-completion",
    "bash-completion/completions",
    "fish",
    "fish/vendor_completions.d",
    "licenses",
    "zsh",
    "zsh/site-functions",
];

/// Returns the spec file for rpmbuild, with every file by its name.
fn specification(root: &Path) -> Result<String> {
    let mut files = String::new();
    for folder in SHARED {
        files.push_str(&format!("%dir /usr/share/{folder}\n"));
    }
    for folder in OWN {
        files.push_str(&format!("/usr/share/{folder}\n"));
    }
    for path in files::files(root)? {
        let path = path.strip_prefix(root)?;
        let share = path.strip_prefix("usr/share").unwrap_or(path);
        if !OWN.iter().any(|folder| share.starts_with(folder)) {
            files.push_str(&format!("/{}\n", path.display()));
        }
    }
    Ok(format!(
        "Name: filestone\nVersion: {VERSION}\nRelease: 1\nSummary: {SUMMARY}\nLicense: MIT OR Apache-2.0\n\
         URL: {HOMEPAGE}\nPackager: {MAINTAINER}\nAutoReq: yes\n\n%description\n{DESCRIPTION}\n\n\
         %install\nmkdir -p %{{buildroot}}\ntar -xf %{{content}} -C %{{buildroot}}\n\n\
         %files\n%defattr(-,root,root)\n{files}"
    ))
}
