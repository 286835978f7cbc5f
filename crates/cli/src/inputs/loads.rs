//! Load files that a command line or a plan names, parsed and compiled, and the check for
//! operations that a layer would reject.

use crate::console;
use crate::error::Error;
use crate::inputs::load_source::{load_source, read_load};
use filestone_plan::plan::limits::LOADS_MAX;
use filestone_plan::plan::{LoadName, Plan, ReplayPlan};
use filestone_workload::load::Load;
use filestone_workload::load::refusals::{VerbRefusal, refusals};
use filestone_workload::operation::OpKind;
use filestone_workload::text::thousands;
use std::path::Path;
use std::sync::Arc;

/// A load file with its properties in plans.
#[derive(Debug, Clone)]
pub struct Named {
    /// Name, length and grammar.
    pub name: LoadName,
    /// Kinds of operation in it.
    pub kinds: Vec<OpKind>,
    /// Whether lines have time stamps.
    pub has_stamps: bool,
    /// The compiled load file.
    pub load: Arc<Load>,
}

#[cfg(test)]
impl Named {
    /// Returns dbench's load file with constant properties, for tests.
    pub fn canned() -> Self {
        use filestone_workload::load::Generation;
        Self {
            name: LoadName {
                name: "client.txt".into(),
                operations: 458_344,
                generation: Generation::Cifs,
            },
            kinds: vec![OpKind::ReadX],
            has_stamps: false,
            load: Arc::new(Load::empty(Generation::Cifs)),
        }
    }
}

/// Reads the load files of a comma-separated list. All errors of a load file are printed except the
/// last, which is returned.
pub fn list(names: &str) -> Result<Vec<Named>, Error> {
    let names: Vec<&str> = names.split(',').collect();
    if names.len() > LOADS_MAX {
        return Err(Error::usage(format!(
            "{} loads: a replay has at most {LOADS_MAX}",
            names.len()
        )));
    }
    names.into_iter().map(named).collect()
}

fn named(name: &str) -> Result<Named, Error> {
    if name.is_empty() {
        return Err(Error::usage("LOAD: a name is missing")
            .with_help("put the names of loads side by side with one comma between them"));
    }
    let source = load_source(Path::new(name))?;
    let load = read_load(&source).map_err(|errors| last_of(errors, name))?;
    if load.operations() == 0 {
        return Err(Error::usage(format!("{name}: there is no operation in it")));
    }
    Ok(Named {
        name: LoadName {
            name: name.into(),
            operations: load.operations(),
            generation: load.generation(),
        },
        kinds: load.kinds(),
        has_stamps: load.has_stamps(),
        load: Arc::new(load),
    })
}

/// Prints all errors except the last and returns that.
fn last_of(mut errors: Vec<Error>, name: &str) -> Error {
    let last = errors.pop();
    errors.iter().for_each(console::error);
    last.unwrap_or_else(|| {
        Error::internal(format!("{name}: it cannot be read, and nobody says why"))
    })
}

/// Reads the load files of a plan again; they must be unchanged since it was made.
pub fn of_plan(replay: &ReplayPlan) -> Result<Vec<Arc<Load>>, Error> {
    let mut loads = Vec::new();
    for planned in &replay.loads {
        let found = named(&planned.name)?;
        if found.name != *planned {
            return Err(Error::usage(format!(
                "{}: the plan was made for {} operations of another load; this one has {}",
                planned.name,
                thousands(planned.operations),
                thousands(found.name.operations)
            ))
            .with_help("make a new plan with --dry-run, or bring the old load back"));
        }
        let strange = found.kinds.iter().find(|kind| !replay.kinds.contains(kind));
        if let Some(kind) = strange {
            return Err(Error::usage(format!(
                "{}: it has {} operations, which the plan's \"kinds\" leave out",
                planned.name,
                kind.name()
            )));
        }
        loads.push(found.load);
    }
    Ok(loads)
}

/// Rejects load files that the plan's layer cannot execute, before anything is sent.
pub fn refuse(plan: &Plan, loads: &[Arc<Load>]) -> Result<(), Error> {
    let layer = plan.layer_kind();
    let mut errors = Vec::new();
    for load in loads {
        let refused = refusals(load, layer);
        let refused = refused.iter().filter(|refusal| refusal.refused);
        errors.extend(refused.map(|refusal| refusal_error(load, plan.target.layer(), refusal)));
    }
    if errors.is_empty() {
        Ok(())
    } else {
        Err(last_of(errors, "the load"))
    }
}

fn refusal_error(load: &Load, layer: &str, refusal: &VerbRefusal) -> Error {
    let operations = match refusal.count {
        1 => "1 operation of a pass".into(),
        count => format!("{} operations of a pass", thousands(count)),
    };
    Error::usage(format!(
        "{}:{}: {layer}: cannot do {}: {} ({operations})",
        load.name(),
        refusal.first_line,
        refusal.verb,
        refusal.reason.sentence()
    ))
    .with_help(format!(
        "nothing has been sent; `filestone check {} --layers` lists what each layer takes",
        load.name()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use filestone_plan::plan::{LocalTarget, TargetPlan, TcpTarget};

    #[test]
    fn a_list_names_several_loads() {
        let loads = list("office,mail").expect("our own loads");
        let names: Vec<&str> = loads.iter().map(|load| load.name.name.as_str()).collect();
        assert_eq!(names, ["office", "mail"]);
        assert!(loads.iter().all(|load| load.name.operations > 100));
        assert!(list("office,").is_err());
        assert!(list("/nowhere/a.load").is_err());
    }

    fn plan_of(loads: &[Named]) -> ReplayPlan {
        let mut plan = filestone_report::fixtures::replayed().plan;
        let replay = plan.replay_mut().expect("a replay");
        replay.loads = loads.iter().map(|load| load.name.clone()).collect();
        replay.kinds = crate::planning::replay::kinds(loads);
        replay.clone()
    }

    #[test]
    fn another_load_of_the_same_name_is_noticed() {
        let loads = list("mail").expect("a load of our own");
        let mut plan = plan_of(&loads);
        assert!(of_plan(&plan).is_ok());
        plan.loads[0].operations += 1;
        let error = of_plan(&plan).expect_err("another number of operations");
        assert!(error.message.contains("another load"), "{}", error.message);
        let mut plan = plan_of(&loads);
        plan.kinds.pop();
        let error = of_plan(&plan).expect_err("a kind that nothing is ready to count");
        assert!(error.message.contains("\"kinds\""), "{}", error.message);
    }

    #[test]
    fn what_a_layer_cannot_do_is_refused_before_anything_is_sent() {
        let path = std::env::temp_dir().join(format!("filestone-loads-{}", std::process::id()));
        std::fs::write(&path, "GETATTR3 \"/a\" 0x0\n").expect("a temporary file");
        let loads = list(&path.display().to_string()).expect("an NFS load");
        let _ = std::fs::remove_file(&path);
        let mut plan = filestone_report::fixtures::replayed().plan;
        let read = vec![Arc::clone(&loads[0].load)];
        plan.target = TargetPlan::Local(LocalTarget { directory: None });
        assert_eq!(refuse(&plan, &read), Ok(()));
        plan.target = TargetPlan::Tcp(TcpTarget {
            host: None,
            port: None,
        });
        let error = refuse(&plan, &read).expect_err("tbench has no message for it");
        assert!(
            error
                .message
                .contains(":1: tcp: cannot do GETATTR3: bare TCP has no message for it"),
            "{}",
            error.message
        );
    }
}
