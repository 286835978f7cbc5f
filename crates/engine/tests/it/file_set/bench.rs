//! A server, file sets on it, and calls that look at them and damage them.

use filestone_host::control::{NoObserver, Observer};
use filestone_host::error::{ErrorCategory, RunError};
use filestone_plan::file_set::Layout;
use filestone_plan::plan::{FileSetPlan, Identities, LeftoverPolicy, NfsTarget, Popularity};
use filestone_server::Running;
use filestone_setup::nfs3::calls::NfsConnection;
use filestone_setup::nfs3::mount;
use filestone_setup::nfs3::prepare::file_set::{NfsFileSet, NfsFileSetRequest, prepare};
use filestone_wire::nfs3::create::CreateHow;
use filestone_wire::nfs3::write::StableHow;
use filestone_wire::nfs3::{
    DirOpArgs, Handle, Procedure, Sattr3, create, mkdir, read, remove, setattr, write,
};
use filestone_wire::xdr::{Decode, Encode};
use filestone_workload::operation::OpKind;
use std::sync::atomic::AtomicBool;

pub const ALL: &[OpKind] = OpKind::STATELESS;

/// A server's directory `/export`, mounted.
pub struct Bench {
    pub session: NfsConnection,
    pub root: Handle,
    /// What becomes of a set that is there.
    pub left_over: LeftoverPolicy,
}

pub fn plan(files: u32, sizes: &str) -> FileSetPlan {
    FileSetPlan {
        name: "set".into(),
        files_per_client: files,
        sizes: sizes.parse().expect("file sizes"),
        symbolic_links_per_client: 3,
        spare_names_per_client: 5,
        working_set_bytes: None,
        popularity: Popularity::Uniform,
    }
}

impl Bench {
    pub fn new(server: &Running) -> Self {
        Self::within(server, 20)
    }

    pub fn within(server: &Running, seconds: u64) -> Self {
        Self::through(server.port(), seconds)
    }

    pub fn through(port: u16, seconds: u64) -> Self {
        let target = NfsTarget {
            host: Some("127.0.0.1".into()),
            port: Some(port),
            ..NfsTarget::built_in("/export")
        };
        let caller = mount::MountCaller {
            target: &target,
            timeout_ns: seconds * 1_000_000_000,
            seed: 1,
            wants_link: false,
            source: None,
            identities: Identities::default(),
        };
        let (session, mounted) = mount::mount(&caller, None).expect("it can be mounted");
        Self {
            session,
            root: mounted.handle,
            left_over: LeftoverPolicy::Refuse,
        }
    }

    pub fn prepare(&self, plan: &FileSetPlan, clients: u32) -> Result<NfsFileSet, RunError> {
        self.prepare_for(plan, clients, ALL)
    }

    pub fn prepare_for(
        &self,
        plan: &FileSetPlan,
        clients: u32,
        kinds: &[OpKind],
    ) -> Result<NfsFileSet, RunError> {
        let roots = [("/export".to_string(), self.root)];
        let go_on = AtomicBool::new(false);
        self.prepare_in(&roots, plan, (clients, kinds), (&go_on, &mut NoObserver))
    }

    pub fn prepare_in(
        &self,
        roots: &[(String, Handle)],
        plan: &FileSetPlan,
        (clients, kinds): (u32, &[OpKind]),
        (stop, observer): (&AtomicBool, &mut dyn Observer),
    ) -> Result<NfsFileSet, RunError> {
        let layout = Layout::of(plan, clients).expect("a layout");
        let order = NfsFileSetRequest {
            roots,
            layout: &layout,
            plan,
            kinds,
            write_max_bytes: 1 << 20,
            left_over: self.left_over,
        };
        prepare(&self.session, &order, stop, observer)
    }

    fn call(&mut self, procedure: Procedure, arguments: &impl Encode) -> Vec<u8> {
        let bytes = arguments.to_bytes();
        let reply = self.session.results(procedure, &Raw(bytes));
        reply.expect("the server is there")
    }

    /// The object at a path below `/export`.
    pub fn find(&mut self, path: &str) -> Option<Handle> {
        let mut handle = self.root;
        for name in path.split('/') {
            handle = self.session.lookup(path, &handle, name.as_bytes()).ok()?;
        }
        Some(handle)
    }

    pub fn at(&mut self, path: &str) -> Handle {
        self.find(path).expect(path)
    }

    pub fn len(&mut self, path: &str) -> u64 {
        let handle = self.at(path);
        let attributes = self.session.attributes(path, &handle);
        attributes.expect("it is there").size
    }

    /// The names in a directory, sorted; of the one under test without a path.
    pub fn names(&mut self, path: &str) -> Vec<String> {
        let directory = match path {
            "" => self.root,
            path => self.at(path),
        };
        let mut names = Vec::new();
        let listed = self.session.call(|link| {
            let names = &mut names;
            link.find_name(&directory, 32 << 10, move |name| {
                if !matches!(name, b"." | b"..") {
                    names.push(String::from_utf8_lossy(name).into_owned());
                }
                false
            })
        });
        listed.expect("it can be listed");
        names.sort();
        names
    }

    pub fn text(&mut self, path: &str) -> Vec<u8> {
        let file = self.at(path);
        let arguments = read::Args {
            file: file.borrow(),
            offset: 0,
            count: 1 << 20,
        };
        let bytes = self.call(Procedure::Read, &arguments);
        let reply = read::Reply::from_bytes(&bytes).expect("a reply");
        reply.expect("a file").data.to_vec()
    }

    pub fn remove(&mut self, directory: &str, name: &str) {
        let directory = self.at(directory);
        let object = named(&directory, name);
        let bytes = self.call(Procedure::Remove, &object);
        let reply = remove::Reply::from_bytes(&bytes).expect("a reply");
        reply.expect("it was there");
    }

    pub fn make_directory(&mut self, directory: &str, name: &str) {
        assert!(self.try_make_directory(directory, name), "it was not there");
    }

    pub fn try_make_directory(&mut self, directory: &str, name: &str) -> bool {
        let directory = match directory {
            "" => self.root,
            path => self.at(path),
        };
        let arguments = mkdir::Args {
            where_: named(&directory, name),
            attributes: Sattr3::default(),
        };
        let bytes = self.call(Procedure::Mkdir, &arguments);
        mkdir::Reply::from_bytes(&bytes).expect("a reply").is_ok()
    }

    /// Makes a file of this text, or writes it over the one that is there.
    pub fn write(&mut self, directory: &str, name: &str, text: &[u8]) {
        let directory = self.at(directory);
        let arguments = create::Args {
            where_: named(&directory, name),
            how: CreateHow::Unchecked(Sattr3 {
                mode: Some(0o644),
                size: Some(0),
                ..Sattr3::default()
            }),
        };
        let bytes = self.call(Procedure::Create, &arguments);
        let reply = create::Reply::from_bytes(&bytes).expect("a reply");
        let file = reply.expect("it can be made").obj.expect("a handle");
        let arguments = write::Args {
            file,
            offset: 0,
            count: text.len() as u32,
            stable: StableHow::FileSync,
            data: text,
        };
        let bytes = arguments.to_bytes();
        let reply = self.session.results(Procedure::Write, &Raw(bytes));
        let reply = reply.expect("the server is there");
        let reply = write::Reply::from_bytes(&reply).expect("a reply");
        reply.expect("it can be written");
    }

    pub fn cut(&mut self, path: &str, size: u64) {
        let object = self.at(path);
        let arguments = setattr::Args {
            object: object.borrow(),
            new_attributes: Sattr3 {
                size: Some(size),
                ..Sattr3::default()
            },
            guard: None,
        };
        let bytes = self.call(Procedure::Setattr, &arguments);
        let reply = setattr::Reply::from_bytes(&bytes).expect("a reply");
        reply.expect("it can be cut");
    }
}

/// Arguments that have been encoded.
struct Raw(Vec<u8>);

impl filestone_wire::xdr::Encode for Raw {
    fn encode(&self, out: &mut filestone_wire::xdr::Writer<'_>) {
        out.fixed(&self.0);
    }
}

fn named<'a>(directory: &'a Handle, name: &'a str) -> DirOpArgs<'a> {
    DirOpArgs {
        dir: directory.borrow(),
        name: name.as_bytes(),
    }
}

/// What a refusal says, and its help.
pub fn refusal(error: &RunError) -> (String, String) {
    assert_eq!(error.category(), ErrorCategory::Usage, "{error:?}");
    (error.to_string(), error.help().unwrap_or_default())
}
