//! A Linux kernel and an initial root file system in memory, made from Debian's packages.
//!
//! Packages are unpacked, not installed: none of their scripts runs. Everything is cached in the
//! target folder, and made again when its inputs have changed.

use anyhow::{Context, Result, bail};
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Instant;

/// The guest's first process.
const INIT: &str = include_str!("init.sh");
/// Packages that the guest needs, without their dependencies.
const PACKAGES: &str = "nfs-kernel-server nfs-common rpcbind ksmbd-tools busybox-static dash mount util-linux kmod \
    coreutils libgcc-s1 python3-minimal libpython3-stdlib";
/// Dependencies that only package scripts need, and large unused ones.
const UNNEEDED: &str = "perl libperl usrmerge media-types lsb-base libc-bin adduser ucf init-system-helpers libicu \
    dpkg debconf base-files passwd";
/// Kernel modules, without their dependencies. The kernel requests those from aesni-intel on by name.
const MODULES: &str = "virtio_pci virtio_net virtio_blk virtio-rng 9pnet_virtio 9p nfsd lockd sunrpc nfs nfsv3 \
    nfsv4 nfs_acl auth_rpcgss ext4 crc32c_generic ksmbd cifs aesni-intel ccm cmac ctr ecb gcm \
    ghash-generic hmac md5 nls_utf8 sha256_generic sha512_generic";
/// Folders that a running system expects.
const FOLDERS: &str = "proc sys dev run/rpcbind tmp mnt share root var/tmp var/lib/nfs/rpc_pipefs \
    var/lib/nfs/nfsdcld var/lib/nfs/sm var/lib/nfs/sm.bak var/lib/nfs/v4recovery etc";
/// Parts of packages that are not used here.
const UNREAD: &str = "usr/share/doc usr/share/man usr/share/locale usr/share/info usr/share/perl5 usr/lib/udev \
    usr/lib/systemd usr/lib/x86_64-linux-gnu/gconv etc/init.d";
const ACCOUNTS: &str = "root:x:0:0:root:/root:/bin/sh\n_rpc:x:100:65534::/run/rpcbind:/bin/false\n\
    statd:x:101:65534::/var/lib/nfs:/bin/false\nuser1:x:1000:1000::/tmp:/bin/sh\n\
    nobody:x:65534:65534::/:/bin/false\n";
const GROUPS: &str = "root:x:0:\nuser1:x:1000:\nnogroup:x:65534:\n";

/// Kernel and root file system for QEMU.
#[derive(Debug, Clone)]
pub struct Image {
    pub kernel: PathBuf,
    pub root: PathBuf,
}

impl Image {
    /// Returns the image in `folder`; makes it if it is missing or out of date.
    pub fn find_or_make(folder: &Path) -> Result<Self> {
        fs::create_dir_all(folder.join("packages/partial"))?;
        let image = Self::within(folder);
        let packages = wanted(folder)?;
        let stamp = stamp(&packages);
        let stamped = folder.join("stamp");
        let is_current = fs::read_to_string(&stamped).is_ok_and(|made| made == stamp);
        if !is_current {
            let start = Instant::now();
            image.make(folder, &packages)?;
            fs::write(&stamped, stamp)?;
            println!(
                "image of {} packages made in {:.1} s",
                packages.len(),
                start.elapsed().as_secs_f64()
            );
        }
        Ok(image)
    }

    /// Returns the paths of an image in a folder.
    pub fn within(folder: &Path) -> Self {
        Self {
            kernel: folder.join("kernel"),
            root: folder.join("initramfs"),
        }
    }

    fn make(&self, folder: &Path, packages: &[String]) -> Result<()> {
        let archives = download(&folder.join("packages"), packages)?;
        let root = folder.join("root");
        remove(&root)?;
        let unpacked = folder.join("kernel-package");
        remove(&unpacked)?;
        lay_out(&root)?;
        for (package, archive) in packages.iter().zip(&archives) {
            let is_kernel = package.starts_with("linux-image");
            let into = if is_kernel { &unpacked } else { &root };
            unpack(archive, into)?;
        }
        for path in UNREAD.split(' ') {
            remove(&root.join(path))?;
        }
        populate(&root)?;
        let version = modules(&unpacked, &root)?;
        kernel(
            &unpacked.join("boot").join(format!("vmlinuz-{version}")),
            &self.kernel,
        )?;
        remove(&unpacked)?;
        pack(&root, &self.root)?;
        remove(&root)
    }
}

/// Returns the names of the packages: those above with their dependencies, and the kernel.
fn wanted(folder: &Path) -> Result<Vec<String>> {
    let nothing = folder.join("no-packages");
    File::create(&nothing)?;
    let resolve = || {
        let mut command = Command::new("apt-get");
        command
            .args(["-s", "-o", "APT::Install-Recommends=0", "-o"])
            .arg(format!("Dir::State::status={}", nothing.display()))
            .args(["-o", "Debug::NoLocking=1", "install"])
            .args(PACKAGES.split(' '));
        output(&mut command)
    };
    let said = match resolve() {
        Ok(said) => said,
        Err(_) => {
            // A new machine has no package lists.
            output(Command::new("apt-get").args(["-q", "update"]))?;
            resolve()?
        }
    };
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    let mut packages: Vec<String> = said
        .lines()
        .filter_map(|line| line.strip_prefix("Inst "))
        .filter_map(|line| line.split([' ', ':']).next())
        .filter(|name| {
            !UNNEEDED
                .split(' ')
                .any(|unneeded| name.starts_with(unneeded))
        })
        .map(str::to_owned)
        .collect();
    packages.sort();
    packages.push(kernel_package()?);
    Ok(packages)
}

/// Returns the name of the distribution's kernel package, to which `linux-image-amd64` only refers.
fn kernel_package() -> Result<String> {
    let said = output(Command::new("apt-cache").args(["depends", "linux-image-amd64"]))?;
    let said = String::from_utf8_lossy(&said.stdout);
    said.lines()
        .filter_map(|line| line.trim().strip_prefix("Depends: "))
        .find(|name| name.starts_with("linux-image-"))
        .map(str::to_owned)
        .context("linux-image-amd64 names no kernel\nhelp: this needs Debian's packages for amd64")
}

fn stamp(packages: &[String]) -> String {
    let mut hasher = DefaultHasher::new();
    (packages, INIT, MODULES, FOLDERS, UNREAD, ACCOUNTS).hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

/// Downloads the package archives. Returns their paths in the same order.
fn download(folder: &Path, packages: &[String]) -> Result<Vec<PathBuf>> {
    let archive = |package: &String| -> Result<Option<PathBuf>> {
        let begins = format!("{package}_");
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            if entry.file_name().to_string_lossy().starts_with(&begins) {
                return Ok(Some(entry.path()));
            }
        }
        Ok(None)
    };
    let mut missing = Vec::new();
    for package in packages {
        if archive(package)?.is_none() {
            missing.push(package);
        }
    }
    if !missing.is_empty() {
        println!("downloading {} packages", missing.len());
        let mut command = Command::new("apt-get");
        command.args(["-q", "-o", "APT::Sandbox::User=root", "download"]);
        output(command.args(missing).current_dir(folder))?;
    }
    let archives = packages.iter().map(|package| {
        archive(package)?.with_context(|| format!("package {package}: not downloaded"))
    });
    archives.collect()
}

/// Makes the skeleton of a system whose programs are all below `usr`.
fn lay_out(root: &Path) -> Result<()> {
    for path in ["bin", "sbin", "lib", "lib64"] {
        fs::create_dir_all(root.join("usr").join(path))?;
        symlink(format!("usr/{path}"), root.join(path))?;
    }
    for path in FOLDERS.split(' ') {
        fs::create_dir_all(root.join(path))?;
    }
    Ok(())
}

fn unpack(archive: &Path, into: &Path) -> Result<()> {
    fs::create_dir_all(into)?;
    let mut files = Command::new("dpkg-deb")
        .arg("--fsys-tarfile")
        .arg(archive)
        .stdout(Stdio::piped())
        .spawn()
        .context("dpkg-deb did not start")?;
    let stdout = files.stdout.take().context("dpkg-deb has no output")?;
    let mut tar = Command::new("tar");
    tar.args(["--keep-directory-symlink", "-xf", "-", "-C"])
        .arg(into);
    let unpacked = output(tar.stdin(stdout));
    let status = files.wait()?;
    unpacked.with_context(|| format!("{}: cannot be unpacked", archive.display()))?;
    if !status.success() {
        bail!("{}: dpkg-deb ended with {status}", archive.display());
    }
    Ok(())
}

/// Writes files that an installation would have made, and links to busybox under all its names.
fn populate(root: &Path) -> Result<()> {
    let write = |path: &str, text: &str| fs::write(root.join(path), text);
    write("etc/passwd", ACCOUNTS)?;
    write("etc/group", GROUPS)?;
    write(
        "etc/nsswitch.conf",
        "passwd: files\ngroup: files\nhosts: files\n",
    )?;
    write(
        "etc/hosts",
        "127.0.0.1 localhost knfsd\n10.77.0.2 guest\n10.77.0.1 host\n",
    )?;
    write("init", INIT)?;
    fs::set_permissions(root.join("init"), fs::Permissions::from_mode(0o755))?;
    for path in ["tmp", "var/tmp"] {
        fs::set_permissions(root.join(path), fs::Permissions::from_mode(0o1777))?;
    }
    if root.join("var/run").symlink_metadata().is_err() {
        symlink("../run", root.join("var/run"))?;
    }
    symlink("../proc/self/mounts", root.join("etc/mtab"))?;
    // busybox's shell would prefer its built-in mount to the one that supports NFS.
    if root.join("usr/bin/sh").symlink_metadata().is_err() {
        symlink("dash", root.join("usr/bin/sh"))?;
    }
    let busybox = ["bin/busybox", "usr/bin/busybox"]
        .iter()
        .map(|path| root.join(path))
        .find(|path| path.exists())
        .context("busybox-static holds no busybox")?;
    let names = output(Command::new(&busybox).arg("--list"))?;
    for name in String::from_utf8_lossy(&names.stdout).lines() {
        let places = ["usr/bin", "usr/sbin"].map(|path| root.join(path).join(name));
        if places.iter().all(|path| path.symlink_metadata().is_err()) {
            symlink("busybox", &places[0])?;
        }
    }
    Ok(())
}

/// Installs the modules and their dependencies, uncompressed. Returns the kernel's version.
fn modules(package: &Path, root: &Path) -> Result<String> {
    let from = [package.join("usr/lib/modules"), package.join("lib/modules")]
        .into_iter()
        .find(|path| path.exists())
        .context("the kernel's package holds no modules")?;
    let version = fs::read_dir(&from)?.next().context("no modules")??;
    let version = version.file_name().to_string_lossy().into_owned();
    let (from, to) = (
        from.join(&version),
        root.join("usr/lib/modules").join(&version),
    );
    // modprobe, run in the new root, lists the dependencies.
    fs::create_dir_all(root.join("usr/lib/modules"))?;
    fs::rename(&from, &to)?;
    inside(root, &["/usr/sbin/depmod", &version])?;
    let mut needed = Vec::new();
    for module in MODULES.split(' ') {
        let arguments = ["/usr/sbin/modprobe", "-S", &version, "-a", "-D", module];
        // Some are built into the kernel; modprobe then does not list a file.
        let Ok(said) = inside(root, &arguments) else {
            continue;
        };
        let said = String::from_utf8_lossy(&said.stdout).into_owned();
        let files = said.lines().filter_map(|line| line.strip_prefix("insmod "));
        let files = files.filter_map(|line| line.split_once(&format!("/{version}/")));
        needed.extend(files.map(|(_, file)| file.trim().to_owned()));
    }
    needed.sort();
    needed.dedup();
    let all = root.join("usr/lib/modules/all");
    fs::rename(&to, &all)?;
    for file in needed.iter().map(String::as_str).chain([
        "modules.builtin",
        "modules.builtin.modinfo",
        "modules.order",
    ]) {
        let there = to.join(file);
        fs::create_dir_all(there.parent().context("a module without a folder")?)?;
        fs::rename(all.join(file), &there)?;
        if file.ends_with(".xz") {
            output(Command::new("xz").arg("-d").arg(&there))?;
        }
    }
    remove(&all)?;
    inside(root, &["/usr/sbin/depmod", &version])?;
    Ok(version)
}

/// Writes the kernel, uncompressed if possible: QEMU then starts it at once and need not emulate
/// its decompression.
fn kernel(compressed: &Path, to: &Path) -> Result<()> {
    const XZ: &[u8] = b"\xfd7zXZ\0";
    let bytes = fs::read(compressed).with_context(|| compressed.display().to_string())?;
    let start = bytes.windows(XZ.len()).position(|window| window == XZ);
    let Some(start) = start else {
        return Ok(fs::write(to, bytes)?);
    };
    let xz = to.with_extension("xz");
    fs::write(&xz, &bytes[start..])?;
    // xz ends with an error, caused by the data after the compressed part.
    let plain = Command::new("xz")
        .args(["-d", "-c", "--single-stream"])
        .stdin(File::open(&xz)?)
        .stderr(Stdio::null())
        .output()?
        .stdout;
    fs::remove_file(&xz)?;
    let is_kernel = plain.starts_with(b"\x7fELF");
    fs::write(to, if is_kernel { plain } else { bytes })?;
    Ok(())
}

fn pack(root: &Path, to: &Path) -> Result<()> {
    let mut command = Command::new("sh");
    command
        .args([
            "-c",
            "find . -xdev | usr/bin/busybox cpio -o -H newc >\"$1\"",
        ])
        .arg("pack")
        .arg(to)
        .current_dir(root);
    output(&mut command)?;
    Ok(())
}

/// Runs a program of the new root.
fn inside(root: &Path, arguments: &[&str]) -> Result<Output> {
    output(Command::new("chroot").arg(root).args(arguments))
}

/// Runs `command`. Returns its output, or an error.
fn output(command: &mut Command) -> Result<Output> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command
        .env("DEBIAN_FRONTEND", "noninteractive")
        .output()
        .with_context(|| format!("{name} did not start"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("{name} ended with {}: {}", output.status, said.trim());
    }
    Ok(output)
}

/// Removes a folder of the image, if it exists.
fn remove(path: &Path) -> Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| path.display().to_string())
        }
        _ => Ok(()),
    }
}
