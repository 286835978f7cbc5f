//! Completes a claimed file set.

use super::places::{ObjectTable, SetObjectKind};
use super::scan::{self, RepairList};
use super::server::{FileSetProgress, Missing, PendingObject, SetServer};
use filestone_host::control::Observer;
use filestone_host::error::RunError;
use filestone_plan::file_set::VolatileDirectory;
use std::time::Instant;

/// Builder that completes a claimed file set.
pub(crate) struct Builder<'a, 't, S: SetServer> {
    pub places: ObjectTable<'a, S::Handle>,
    pub findings: RepairList,
    /// Number of objects made.
    pub made: u64,
    /// Maximum bytes of a WRITE.
    pub transfer: u32,
    pub tree: &'a mut S::Tree<'t>,
    pub observer: &'a mut dyn Observer,
    /// Number of complete data files.
    pub files_done: u64,
}

impl<S: SetServer> Builder<'_, '_, S> {
    /// Builds from the clients' directories down to their contents. A missing directory is made
    /// before its contents are searched, and then there is nothing to search.
    pub fn build(&mut self) -> Result<(), RunError> {
        let paths: Vec<&str> = self
            .places
            .homes
            .iter()
            .map(|home| &*home.directory.path)
            .collect();
        self.observer
            .preparing(&format!("checking the file set in {}", paths.join(", ")));
        scan::find_clients::<S>(self.tree, &mut self.places, &mut self.findings)?;
        let clients = 0..self.places.layout.clients();
        let roots = clients
            .clone()
            .map(|client| self.places.index(client, SetObjectKind::Root));
        let roots: Vec<u32> = roots.collect();
        let old_roots: Vec<bool> = roots.iter().map(|root| self.places.exists(*root)).collect();
        self.make_missing(&roots)?;
        for (client, is_old) in clients.zip(old_roots) {
            if is_old {
                let (places, findings) = (&mut self.places, &mut self.findings);
                scan::find_directories::<S>(self.tree, places, findings, client)?;
            }
        }
        let directories = self.directories();
        let is_old = directories.iter().map(|one| self.places.exists(*one));
        let is_old: Vec<bool> = is_old.collect();
        self.make_missing(&directories)?;
        for (directory, is_old) in directories.into_iter().zip(is_old) {
            let (places, findings) = (&mut self.places, &mut self.findings);
            if is_old {
                scan::find_contents::<S>(self.tree, places, findings, directory)?;
            } else {
                scan::all_spares(places, findings, directory);
            }
        }
        self.make_contents()
    }

    /// Returns the directories in the clients' directories.
    fn directories(&self) -> Vec<u32> {
        let mut directories = Vec::new();
        for client in 0..self.places.layout.clients() {
            let of_files = (0..self.places.layout.file_directories()).map(SetObjectKind::Files);
            let changing = self
                .places
                .changing
                .iter()
                .copied()
                .map(SetObjectKind::Changing);
            let parts = of_files.chain(changing);
            directories.extend(parts.map(|part| self.places.index(client, part)));
        }
        directories
    }

    fn make_missing(&mut self, objects: &[u32]) -> Result<(), RunError> {
        let missing = objects
            .iter()
            .filter(|object| !self.places.exists(**object));
        let steps: Vec<PendingObject> = missing
            .map(|object| PendingObject::Object(*object))
            .collect();
        self.make(steps.into_iter())
    }

    /// Makes missing files, links, pipes and volatile names.
    fn make_contents(&mut self) -> Result<(), RunError> {
        let wrong = std::mem::take(&mut self.findings.wrong);
        let (links, others): (Vec<_>, Vec<_>) = std::mem::take(&mut self.findings.spares)
            .into_iter()
            .partition(|spare| spare.changing == VolatileDirectory::Links);
        let objects = 0..self.places.len();
        let missing = objects.filter(|object| !self.places.exists(*object));
        let missing: Vec<u32> = missing.collect();
        let is_file =
            |object: &&u32| matches!(self.places.part(**object).1, SetObjectKind::File(_));
        let files = missing.iter().filter(is_file).count() + wrong.len();
        self.files_done = self.places.layout.totals().files - files as u64;
        let steps = wrong
            .into_iter()
            .map(PendingObject::Wrong)
            .chain(missing.into_iter().map(PendingObject::Object))
            .chain(others.into_iter().map(PendingObject::Spare));
        self.make(steps)?;
        // Hard links need their target files first.
        self.make(links.into_iter().map(PendingObject::Spare))
    }

    fn make(&mut self, mut steps: impl Iterator<Item = PendingObject>) -> Result<(), RunError> {
        let home = self.places.homes.first();
        let progress = FileSetProgress {
            observer: &mut *self.observer,
            path: home.map_or_else(String::new, |home| home.directory.path.clone()),
            files_done: self.files_done,
            files: self.places.layout.totals().files,
            last: Instant::now(),
        };
        let missing = Missing {
            places: &mut self.places,
            steps: &mut steps,
            transfer: self.transfer,
            progress,
        };
        self.made += S::make(self.tree, missing)?;
        Ok(())
    }
}
