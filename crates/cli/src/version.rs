//! Output of `--version` about this build.

/// Returns the text that `--version` prints behind the program's name: the version, and a line each
/// for the commit, the profile, the target, the features and MPI. `-V` prints the version alone.
pub fn build_details() -> String {
    let commit = option_env!("FILESTONE_BUILD_COMMIT").unwrap_or("not recorded");
    let features = if cfg!(feature = "mpi") { "mpi" } else { "none" };
    format!(
        "{}\ncommit    {commit}\nprofile   {}\ntarget    {}\nfeatures  {features}\nMPI       {}",
        env!("CARGO_PKG_VERSION"),
        env!("FILESTONE_BUILD_PROFILE"),
        env!("FILESTONE_BUILD_TARGET"),
        mpi(),
    )
}

#[cfg(feature = "mpi")]
fn mpi() -> String {
    format!("with {}", filestone_cluster::library_version())
}

#[cfg(not(feature = "mpi"))]
fn mpi() -> &'static str {
    "without"
}
