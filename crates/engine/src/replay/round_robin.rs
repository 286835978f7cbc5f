//! Several targets of one layer: client *i* works on target *i* modulo their number.

use super::layer::LayerLost;
use super::site::{BlockingWorkDir, TreeCleanup, WorkDir};
use filestone_host::control::Cancellation;
use filestone_host::error::RunError;
use filestone_measure::measure::run_record::{DurableHandles, Target};
use filestone_setup::workspace::ClaimError;

/// Several sites of one layer.
pub struct RoundRobin<S> {
    /// At least one site.
    sites: Vec<S>,
    /// Index of each client's site; empty for round robin.
    places: Vec<u32>,
}

impl<S: WorkDir> RoundRobin<S> {
    /// Claims all sites or none: if one claim fails, the others are released.
    pub fn claim(sites: impl Iterator<Item = Result<S, RunError>>) -> Result<Self, RunError> {
        let mut claimed = Vec::new();
        for site in sites {
            match site {
                Ok(site) => claimed.push(site),
                Err(error) => {
                    let error = if claimed.is_empty() {
                        error
                    } else {
                        told_of_own(error)
                    };
                    // Report the first error.
                    for site in claimed {
                        let _: Result<(), RunError> = S::release(site, TreeCleanup::Remove);
                    }
                    return Err(error);
                }
            }
        }
        Ok(Self {
            sites: claimed,
            places: Vec::new(),
        })
    }

    /// Assigns to each client the site at its index in `places`.
    pub fn dealt(self, places: Vec<u32>) -> Self {
        Self { places, ..self }
    }

    /// Returns the site of a client.
    pub fn of(&self, client: u32) -> &S {
        let place = self.places.get(client as usize).copied();
        &self.sites[place.unwrap_or(client) as usize % self.sites.len()]
    }
}

/// Converts the error of a directory in use if this run itself uses it.
fn told_of_own(error: RunError) -> RunError {
    match error.of_area() {
        Some(ClaimError::InUse { owner, .. }) if owner.is_this_process() => {
            let path = owner.path.clone();
            ClaimError::Twice { path }.into()
        }
        _ => error,
    }
}

impl<S: WorkDir> WorkDir for RoundRobin<S> {
    /// Returns the target of the first site, with the addresses of all.
    fn target(&self) -> Target {
        let mut targets = self.sites.iter().map(WorkDir::target);
        let mut first = targets.next().unwrap_or_default();
        for other in targets {
            first.address = format!("{}, {}", first.address, other.address);
            if other.export != first.export {
                first.export = format!("{}, {}", first.export, other.export);
            }
        }
        first
    }

    fn note(&self) -> Option<String> {
        let remarks: Vec<String> = self.sites.iter().filter_map(WorkDir::note).collect();
        (!remarks.is_empty()).then(|| remarks.join("; "))
    }

    fn durable(&self) -> Option<DurableHandles> {
        let all = self.sites.iter().filter_map(WorkDir::durable);
        all.reduce(DurableHandles::with)
    }

    fn cancel_with(&mut self, cancellation: &Cancellation) {
        for site in &mut self.sites {
            site.cancel_with(cancellation);
        }
    }

    /// Releases all sites, even after an error; returns the first error.
    fn release(self, trees: TreeCleanup) -> Result<(), RunError> {
        let results: Vec<_> = self
            .sites
            .into_iter()
            .map(|site| site.release(trees))
            .collect();
        results.into_iter().collect()
    }
}

impl<S: BlockingWorkDir> BlockingWorkDir for RoundRobin<S> {
    type Layer = S::Layer;

    fn layer(&self, client: u32) -> Result<S::Layer, RunError> {
        self.of(client).layer(client)
    }

    fn clean_up(&self, client: u32, layer: &mut S::Layer) -> Result<(), LayerLost> {
        self.of(client).clean_up(client, layer)
    }
}
