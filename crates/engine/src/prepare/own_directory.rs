//! A directory of our own on the server, for operations that change things.
//!
//! It has a name that nobody else uses and a file in it that says whose it is.
//! Only what is in it is ever removed, and then the directory itself.

use super::listing;
use crate::error::RunError;
use crate::nfs3::session::{Session, failed, owned};
use crate::workspace::emptying::Emptying;
use crate::workspace::error::never_empty;
use crate::workspace::set_directory::MARKER;
use crate::workspace::tree::{DIRECTORY_MODE, FILE_MODE, join};
use filestone_model::workload::{FileEntry, ObjectKind};
use filestone_wire::nfs3::write::StableHow;
use filestone_wire::nfs3::{
    DirOpArgs, Handle, Procedure, Sattr3, SetTime, Status, create, mkdir, remove, rmdir, write,
};
use filestone_wire::xdr::Decode;
use std::hash::{BuildHasher, Hasher, RandomState};

/// What the marker says.
const MARKER_TEXT: &[u8] =
    b"This directory was made by filestone, a benchmark. It is removed at the end of a run.\n\
If no run is going on, it was left over and can be deleted.\n";
/// Times that a name is tried which somebody else turns out to have.
const NAME_TRIES: u32 = 4;
/// Times that the directory is listed and emptied: calls of an interrupted run
/// may still arrive meanwhile.
const PASSES: u32 = 16;
/// Entries removed per pass.
const PASS_MAX: u32 = 100_000;

/// A directory of our own.
pub struct OwnDirectory {
    parent: Handle,
    handle: Handle,
    name: String,
    path: String,
}

fn attributes(mode: u32) -> Sattr3 {
    Sattr3 {
        mode: Some(mode),
        uid: None,
        gid: None,
        size: None,
        atime: SetTime::DontChange,
        mtime: SetTime::DontChange,
    }
}

impl OwnDirectory {
    /// Makes it in `parent`, which is at `path`.
    pub fn make(session: &mut Session, path: &str, parent: Handle) -> Result<Self, RunError> {
        let mut tries = 0;
        loop {
            // Not of the plan's seed: two runs of one plan must not meet.
            let name = format!(
                "filestone-{:016x}",
                RandomState::new().build_hasher().finish()
            );
            let path = join(path, name.as_bytes());
            match mkdir_in(session, &path, &parent, &name) {
                Ok(handle) => {
                    let own = Self {
                        parent,
                        handle,
                        name,
                        path,
                    };
                    return match own.mark(session) {
                        Ok(()) => Ok(own),
                        Err(error) => {
                            let _ = own.remove(session);
                            Err(error)
                        }
                    };
                }
                Err(RunError::Nfs {
                    status: Status::EXIST,
                    ..
                }) if tries < NAME_TRIES => tries += 1,
                Err(error) => return Err(error),
            }
        }
    }

    /// Its handle.
    pub fn handle(&self) -> Handle {
        self.handle
    }

    /// Its path.
    pub fn path(&self) -> &str {
        &self.path
    }

    fn mark(&self, session: &mut Session) -> Result<(), RunError> {
        let file = self.make_file(session, MARKER)?;
        let args = write::Args {
            file: file.borrow(),
            offset: 0,
            count: MARKER_TEXT.len() as u32,
            stable: StableHow::FileSync,
            data: MARKER_TEXT,
        };
        let bytes = session.call(Procedure::Write, &self.path, &args)?;
        match write::Reply::from_bytes(&bytes) {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(fail)) => Err(failed(&self.path, "WRITE", fail.status)),
            Err(error) => Err(session.undecodable(Procedure::Write, &self.path, error)),
        }
    }

    /// Makes an empty file in it.
    pub fn make_file(&self, session: &mut Session, name: &str) -> Result<Handle, RunError> {
        let path = join(&self.path, name.as_bytes());
        let where_ = DirOpArgs {
            dir: self.handle.borrow(),
            name: name.as_bytes(),
        };
        let args = create::Args {
            where_,
            how: create::CreateHow::Guarded(attributes(FILE_MODE)),
        };
        let bytes = session.call(Procedure::Create, &path, &args)?;
        let handle = match create::Reply::from_bytes(&bytes) {
            Ok(Ok(ok)) => ok.obj.map(owned),
            Ok(Err(fail)) if fail.status == Status::EXIST && session.was_resent() => None,
            Ok(Err(fail)) => return Err(failed(&path, "CREATE", fail.status)),
            Err(error) => return Err(session.undecodable(Procedure::Create, &path, error)),
        };
        match handle {
            Some(handle) => Ok(handle),
            // The server may leave the handle out (RFC 1813, section 3.3.8).
            None => session.lookup(&path, &self.handle, name.as_bytes()),
        }
    }

    /// Removes everything in it, and it.
    pub fn remove(mut self, session: &mut Session) -> Result<(), RunError> {
        let sign = session.retry().sign.clone();
        let mut emptying = Emptying::default();
        for _ in 0..PASSES {
            let names = match self.names(session) {
                // A server that was started again may have lost the directory,
                // or only its handle.
                Err(RunError::Nfs {
                    status: Status::STALE,
                    ..
                }) => match self.find_again(session)? {
                    true => self.names(session)?,
                    false => return Ok(()),
                },
                names => names?,
            };
            if !emptying.may_end(names.iter().map(Vec::as_slice)) {
                return Err(never_empty(&self.path).into());
            }
            for name in names {
                sign.go_on()?;
                self.remove_entry(session, &name)?;
            }
            match rmdir_in(session, &self.path, &self.parent, self.name.as_bytes())? {
                Status::OK | Status::NOENT => return Ok(()),
                Status::NOTEMPTY | Status::EXIST => {}
                status => return Err(failed(&self.path, "RMDIR", status)),
            }
        }
        Err(never_empty(&self.path).into())
    }

    /// What is in it.
    fn names(&self, session: &mut Session) -> Result<Vec<Vec<u8>>, RunError> {
        let directory = FileEntry {
            handle: self.handle,
            len: 0,
            kind: ObjectKind::Directory,
            has_pattern: false,
        };
        let sign = session.retry().sign.clone();
        listing::names(session, &sign, &self.path, &directory, PASS_MAX)
    }

    /// Looks it up by its name; says whether it is still there.
    fn find_again(&mut self, session: &mut Session) -> Result<bool, RunError> {
        match session.lookup(&self.path, &self.parent, self.name.as_bytes()) {
            Ok(handle) => {
                self.handle = handle;
                Ok(true)
            }
            Err(RunError::Nfs {
                status: Status::NOENT,
                ..
            }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Removes a file, link, pipe or empty directory of ours.
    fn remove_entry(&self, session: &mut Session, name: &[u8]) -> Result<(), RunError> {
        let path = join(&self.path, name);
        let object = DirOpArgs {
            dir: self.handle.borrow(),
            name,
        };
        let bytes = session.call(Procedure::Remove, &path, &remove::Args { object })?;
        let status = match remove::Reply::from_bytes(&bytes) {
            Ok(Ok(_)) => return Ok(()),
            Ok(Err(fail)) => fail.status,
            Err(error) => return Err(session.undecodable(Procedure::Remove, &path, error)),
        };
        // What REMOVE says of a directory differs between servers.
        match (status, rmdir_in(session, &path, &self.handle, name)?) {
            (Status::NOENT, _) | (_, Status::OK | Status::NOENT) => Ok(()),
            (status, _) => Err(failed(&path, "REMOVE", status)),
        }
    }
}

fn mkdir_in(
    session: &mut Session,
    path: &str,
    parent: &Handle,
    name: &str,
) -> Result<Handle, RunError> {
    let where_ = DirOpArgs {
        dir: parent.borrow(),
        name: name.as_bytes(),
    };
    let args = mkdir::Args {
        where_,
        attributes: attributes(DIRECTORY_MODE),
    };
    let bytes = session.call(Procedure::Mkdir, path, &args)?;
    match mkdir::Reply::from_bytes(&bytes) {
        Ok(Ok(ok)) => match ok.obj.map(owned) {
            Some(handle) => Ok(handle),
            None => session.lookup(path, parent, name.as_bytes()),
        },
        // Nobody else gives such names.
        Ok(Err(fail)) if fail.status == Status::EXIST && session.was_resent() => {
            session.lookup(path, parent, name.as_bytes())
        }
        Ok(Err(fail)) => Err(failed(path, "MKDIR", fail.status)),
        Err(error) => Err(session.undecodable(Procedure::Mkdir, path, error)),
    }
}

fn rmdir_in(
    session: &mut Session,
    path: &str,
    parent: &Handle,
    name: &[u8],
) -> Result<Status, RunError> {
    let object = DirOpArgs {
        dir: parent.borrow(),
        name,
    };
    let bytes = session.call(Procedure::Rmdir, path, &rmdir::Args { object })?;
    match rmdir::Reply::from_bytes(&bytes) {
        Ok(Ok(_)) => Ok(Status::OK),
        Ok(Err(fail)) => Ok(fail.status),
        Err(error) => Err(session.undecodable(Procedure::Rmdir, path, error)),
    }
}
