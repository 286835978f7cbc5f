//! The image: an OCI layout in a tar archive, which podman, skopeo and docker load.
//!
//! The image consists of three short JSON documents and one layer. They are written here, without a
//! tool, and their bytes depend only on the program.

use super::archive::{self, sha256};
use super::{HOMEPAGE, Release, SUMMARY, VERSION, content, files};
use anyhow::Result;
use filestone_interop::tool;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// A user ID that exists nowhere and owns only the working directory.
pub const USER: &str = "65532";
/// Working directory of commands: a volume mounted here receives their results.
const WORKING_DIRECTORY: &str = "results";

/// Makes the image.
pub fn make(release: &Release, program: &Path, file: &Path) -> Result<()> {
    let layout = release.work.path.join("image");
    let layer = layer(release, program)?;
    let (plain, compressed) = (fs::read(&layer)?, layer.with_extension("tar.gz"));
    archive::gzip(&layer)?;
    let compressed = fs::read(compressed)?;
    let layer = descriptor("layer.v1.tar+gzip", &compressed);
    let config = configuration(release, &sha256(&plain)).to_string();
    let manifest = json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": descriptor("config.v1+json", config.as_bytes()),
        "layers": [layer],
        "annotations": labels(release),
    })
    .to_string();
    let mut listed = descriptor("manifest.v1+json", manifest.as_bytes());
    listed["platform"] = json!({"architecture": release.machine.debian_name(), "os": "linux"});
    listed["annotations"] = json!({
        "org.opencontainers.image.ref.name": VERSION,
        // Name that podman, containerd and docker use, so that `run filestone:VERSION` finds the
        // image.
        "io.containerd.image.name": format!("docker.io/library/filestone:{VERSION}"),
    });
    let index = json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.index.v1+json",
        "manifests": [listed],
    });
    for blob in [
        compressed.as_slice(),
        config.as_bytes(),
        manifest.as_bytes(),
    ] {
        files::write(&layout.join(blob_path(blob)), blob)?;
    }
    // Required by `docker load` before version 25.
    let for_docker = json!([{
        "Config": blob_path(config.as_bytes()),
        "RepoTags": [format!("filestone:{VERSION}")],
        "Layers": [blob_path(&compressed)],
    }]);
    files::write(&layout.join("index.json"), index.to_string())?;
    files::write(&layout.join("manifest.json"), for_docker.to_string())?;
    files::write(
        &layout.join("oci-layout"),
        r#"{"imageLayoutVersion":"1.0.0"}"#,
    )?;
    files::settle(release, &layout)?;
    archive::tar(
        release,
        &layout,
        &["oci-layout", "index.json", "manifest.json", "blobs"],
        file,
    )
}

/// Returns the path of a blob in a layout.
fn blob_path(bytes: &[u8]) -> String {
    format!("blobs/sha256/{}", sha256(bytes))
}

fn descriptor(kind: &str, bytes: &[u8]) -> Value {
    json!({
        "mediaType": format!("application/vnd.oci.image.{kind}"),
        "digest": format!("sha256:{}", sha256(bytes)),
        "size": bytes.len(),
    })
}

/// Returns the path of a tar archive with the files of the image.
fn layer(release: &Release, program: &Path) -> Result<std::path::PathBuf> {
    let root = release.work.path.join("layer");
    let file = release.work.path.join("layer.tar");
    files::copy(program, &root.join("filestone"))?;
    content::licences(release, &root.join("licenses"))?;
    fs::create_dir_all(root.join(WORKING_DIRECTORY))?;
    files::settle(release, &root)?;
    archive::tar(release, &root, &["filestone", "licenses"], &file)?;
    tool::run(
        archive::tar_command(release, &root, &file)
            .args([format!("--owner={USER}"), format!("--group={USER}")])
            .args(["--append", WORKING_DIRECTORY]),
    )?;
    Ok(file)
}

fn configuration(release: &Release, layer: &str) -> Value {
    json!({
        "created": release.timestamp(),
        "architecture": release.machine.debian_name(),
        "os": "linux",
        "config": {
            "User": format!("{USER}:{USER}"),
            "Entrypoint": ["/filestone"],
            "Cmd": ["--help"],
            "WorkingDir": format!("/{WORKING_DIRECTORY}"),
            "Labels": labels(release),
        },
        "rootfs": {"type": "layers", "diff_ids": [format!("sha256:{layer}")]},
        "history": [{"created": release.timestamp(), "created_by": "cargo xtask dist"}],
    })
}

fn labels(release: &Release) -> Value {
    json!({
        "org.opencontainers.image.title": "filestone",
        "org.opencontainers.image.description": SUMMARY,
        "org.opencontainers.image.version": VERSION,
        "org.opencontainers.image.revision": release.commit.as_deref().unwrap_or("not recorded"),
        "org.opencontainers.image.created": release.timestamp(),
        "org.opencontainers.image.source": HOMEPAGE,
        "org.opencontainers.image.licenses": "MIT OR Apache-2.0",
    })
}
