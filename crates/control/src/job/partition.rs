//! Partitioning of a job over several hosts, so that together they send the requests of one host.

use crate::arrivals::counts_of_clients;
use filestone_plan::gate::GatesPlan;
use filestone_plan::plan::{JobPartition, Plan, WorkloadPlan};

/// Error when a job cannot be partitioned over several hosts.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PartitionError {
    /// Some hosts would have no clients.
    #[error("{clients} clients cannot be dealt to {parts} hosts")]
    FewClients {
        /// Number of clients.
        clients: u32,
        /// Number of hosts.
        parts: u32,
    },
    /// The clients share state that hosts do not exchange.
    #[error("{0} cannot be dealt to several hosts")]
    NotByCalls(String),
    /// A local directory is a different one on each host.
    #[error("a mix on a local directory cannot be dealt to several hosts")]
    LocalDirectory,
    /// Counters around a run are read by one host, which does not generate the whole load.
    #[error("what operations cost cannot be read in a job of several hosts")]
    Cost,
    /// The plan already is a part of a job.
    #[error("this plan is part {part} of a job already")]
    IsAPart {
        /// Number of the part, from 1.
        part: u32,
    },
}

impl PartitionError {
    /// Returns the suggested remedy.
    pub const fn help(&self) -> &'static str {
        match self {
            Self::FewClients { .. } => {
                "ask for as many clients as there are hosts that make load (--clients), or for so many on each (--per-host)"
            }
            Self::NotByCalls(_) => "probe and mix can be; run this command on each host by itself",
            Self::LocalDirectory => {
                "name the server (nfs:// or smb://), or run the mix on each host by itself"
            }
            Self::Cost => {
                "leave out the options that name readings, and read the server beside the job"
            }
            Self::IsAPart { .. } => "run the plan of the whole job",
        }
    }
}

/// Splits a job into parts for this number of hosts: clients, load and count are totals of all
/// parts. Threads and CPUs are per host.
pub fn deal(job: &Plan, parts: u32) -> Result<Vec<Plan>, PartitionError> {
    check(job, parts)?;
    Ok((0..parts).map(|index| part_of(job, index, parts)).collect())
}

/// Returns a job in which each of `hosts` hosts has the clients and load of this plan.
pub fn on_each_of(plan: &Plan, hosts: u32) -> Plan {
    let mut job = plan.clone();
    job.clients = plan.clients.saturating_mul(hosts);
    job.arrivals = plan.arrivals.times(f64::from(hosts));
    job.count = plan.count.map(|count| count.saturating_mul(hosts.into()));
    if let Some(mix) = job.mix_mut() {
        let working = &mut mix.file_set.working_set_bytes;
        *working = working.map(|bytes| bytes.saturating_mul(hosts.into()));
    }
    job
}

fn check(job: &Plan, parts: u32) -> Result<(), PartitionError> {
    if let Some(part) = job.part {
        return Err(PartitionError::IsAPart {
            part: part.index.saturating_add(1),
        });
    }
    match &job.workload {
        WorkloadPlan::LoadFile(_) | WorkloadPlan::Fleet(_) => {
            return Err(PartitionError::NotByCalls(job.command.clone()));
        }
        WorkloadPlan::Mix(_) if job.target.is_directory() => {
            return Err(PartitionError::LocalDirectory);
        }
        WorkloadPlan::Mix(_) | WorkloadPlan::Probe(_) => {}
    }
    if job.cost.is_some() {
        return Err(PartitionError::Cost);
    }
    if parts == 0 || job.clients < parts {
        return Err(PartitionError::FewClients {
            clients: job.clients,
            parts,
        });
    }
    Ok(())
}

/// Returns the name of a part's file set: part `index`, from 0, of a job whose set is called
/// `name`.
pub fn dealt_set(name: &str, index: u32, parts: u32) -> String {
    format!("{name}-{}of{parts}", index.saturating_add(1))
}

fn part_of(job: &Plan, index: u32, parts: u32) -> Plan {
    let part = JobPartition {
        index,
        parts,
        clients: job.clients,
        arrivals: job.arrivals,
        count: job.count,
    };
    let clients = part.own_clients();
    let share = f64::from(clients) / f64::from(job.clients.max(1));
    let mut plan = Plan {
        clients,
        arrivals: job.arrivals.times(share),
        workers: job.workers.clamp(1, clients.max(1)),
        steering: None,
        gates: GatesPlan::default(),
        part: Some(part),
        ..job.clone()
    };
    plan.count = counts_of_clients(&plan).map(|counts| counts.iter().sum());
    if let Some(mix) = plan.mix_mut() {
        let set = &mut mix.file_set;
        // Each client's part of the working set stays unchanged.
        let share = |bytes: u64| bytes.div_ceil(u64::from(job.clients).max(1));
        set.working_set_bytes = set
            .working_set_bytes
            .map(|bytes| share(bytes).saturating_mul(clients.into()));
        set.name = dealt_set(&set.name, index, parts);
    }
    plan
}

#[cfg(test)]
mod tests {
    use super::*;
    use filestone_plan::examples::{example, example_mix, example_replay};
    use filestone_plan::plan::ArrivalsPlan;

    fn poisson(offered_load_ops_per_s: f64) -> ArrivalsPlan {
        ArrivalsPlan::Poisson {
            offered_load_ops_per_s,
        }
    }

    #[test]
    fn totals_of_the_parts_are_those_of_the_job() {
        let job = Plan {
            clients: 7,
            count: Some(1000),
            duration_ns: None,
            arrivals: poisson(700.0),
            ..example()
        };
        let parts = deal(&job, 3).expect("parts");
        let clients: Vec<u32> = parts.iter().map(|part| part.clients).collect();
        assert_eq!(clients, [3, 2, 2]);
        let loads = parts.iter().filter_map(|part| part.arrivals.offered_load());
        assert_eq!(
            loads.map(f64::round).collect::<Vec<_>>(),
            [300.0, 200.0, 200.0]
        );
        assert_eq!(
            parts.iter().filter_map(|part| part.count).sum::<u64>(),
            1000
        );
        let numbers = parts.iter().map(|part| {
            let own = 0..part.clients;
            own.map(|client| part.number_of(client)).collect::<Vec<_>>()
        });
        assert_eq!(
            numbers.collect::<Vec<_>>(),
            [vec![0, 3, 6], vec![1, 4], vec![2, 5]]
        );
        parts.iter().for_each(|part| part.check().expect("a plan"));
    }

    #[test]
    fn each_client_begins_as_many_operations_as_in_one_run() {
        let job = Plan {
            clients: 5,
            count: Some(333),
            duration_ns: None,
            arrivals: poisson(100.0),
            ..example()
        };
        let whole = counts_of_clients(&job).expect("a count");
        for parts in 1..=5 {
            for part in deal(&job, parts).expect("parts") {
                let counts = counts_of_clients(&part).expect("a count");
                let own = (0..part.clients).map(|client| whole[part.number_of(client) as usize]);
                assert_eq!(counts, own.collect::<Vec<u64>>());
            }
        }
    }

    #[test]
    fn a_mix_keeps_each_clients_share_of_the_working_set() {
        let mut job = example_mix();
        job.mix_mut().expect("a mix").file_set.working_set_bytes = Some(8 * 4096 + 1);
        let parts = deal(&job, 2).expect("parts");
        let sets = parts.iter().filter_map(Plan::mix).map(|mix| &mix.file_set);
        let sets: Vec<_> = sets
            .map(|set| (&*set.name, set.working_set_bytes))
            .collect();
        let share = Some(4 * 4097);
        assert_eq!(sets, [("set-1of2", share), ("set-2of2", share)]);
    }

    #[test]
    fn as_much_on_each_host_is_dealt_back_to_what_it_was() {
        let job = Plan {
            clients: 4,
            count: Some(100),
            duration_ns: None,
            arrivals: poisson(50.0),
            ..example()
        };
        let parts = deal(&on_each_of(&job, 3), 3).expect("parts");
        for part in parts {
            assert_eq!((part.clients, part.arrivals), (4, poisson(50.0)));
        }
    }

    #[test]
    fn what_cannot_be_dealt_says_why() {
        let few = deal(&example(), 2).expect_err("one client");
        assert_eq!(few.to_string(), "1 clients cannot be dealt to 2 hosts");
        assert!(matches!(
            deal(&example(), 0),
            Err(PartitionError::FewClients { .. })
        ));
        let replay = deal(&example_replay(), 2);
        assert_eq!(replay, Err(PartitionError::NotByCalls("replay".into())));
        let part = deal(&example_mix(), 2).expect("parts").remove(1);
        assert_eq!(deal(&part, 2), Err(PartitionError::IsAPart { part: 2 }));
    }
}
