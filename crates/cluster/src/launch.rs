//! Detection of a start as one of many processes, from the launcher's environment variables.

/// Variables that a launcher of MPI programs sets, and the launcher's name. A batch job has Slurm's
/// variables even if it is not a step that `srun` starts with several ranks: the number of tasks
/// decides.
const LAUNCHED: [(&str, &str); 6] = [
    ("OMPI_COMM_WORLD_SIZE", "Open MPI's mpirun"),
    ("PMIX_RANK", "PMIx"),
    ("PMI_RANK", "PMI"),
    ("PMI_ID", "PMI"),
    ("MV2_COMM_WORLD_SIZE", "MVAPICH's mpirun"),
    ("MPI_LOCALNRANKS", "Hydra's mpirun"),
];

/// Returns the launcher that started this process as one of many; `None` if it runs alone.
///
/// `variable` looks up an environment variable.
pub fn launcher(variable: impl Fn(&str) -> Option<String>) -> Option<&'static str> {
    let set = |name: &str| variable(name).is_some_and(|value| !value.is_empty());
    let by_mpi = LAUNCHED.iter().find(|(name, _)| set(name));
    if let Some((_, launcher)) = by_mpi {
        return Some(launcher);
    }
    let tasks = variable("SLURM_STEP_NUM_TASKS").and_then(|tasks| tasks.parse::<u32>().ok());
    let is_step = set("SLURM_PROCID") && set("SLURM_MPI_TYPE");
    (is_step && tasks.is_some_and(|tasks| tasks > 1)).then_some("srun")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launched(variables: &[(&str, &str)]) -> Option<&'static str> {
        launcher(|name| {
            let mut variables = variables.iter();
            let found = variables.find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_string())
        })
    }

    #[test]
    fn a_process_that_nobody_launched_is_alone() {
        assert_eq!(launched(&[]), None);
        assert_eq!(launched(&[("OMPI_COMM_WORLD_SIZE", "")]), None);
        // The shell of a batch job.
        assert_eq!(
            launched(&[("SLURM_JOB_ID", "7"), ("SLURM_PROCID", "0")]),
            None
        );
    }

    #[test]
    fn launchers_are_known_by_what_they_set() {
        assert_eq!(
            launched(&[("OMPI_COMM_WORLD_SIZE", "4")]),
            Some("Open MPI's mpirun")
        );
        assert_eq!(launched(&[("PMI_RANK", "0")]), Some("PMI"));
        let step = [
            ("SLURM_PROCID", "1"),
            ("SLURM_MPI_TYPE", "pmi2"),
            ("SLURM_STEP_NUM_TASKS", "2"),
        ];
        assert_eq!(launched(&step), Some("srun"));
    }
}
