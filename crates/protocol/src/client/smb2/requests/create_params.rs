//! Parameters and result of CREATE (MS-SMB2 2.2.13, 2.2.14).

use crate::client::smb2::link::CompoundBuilder;
use crate::client::smb2::open_contexts::OpenContexts;
use filestone_wire::smb2::codec::Text;
use filestone_wire::smb2::create::{
    self, CreateAction, CreateDisposition, CreateOptions, ImpersonationLevel, RequestContext,
    ResponseContext, ShareAccess,
};
use filestone_wire::smb2::{AccessMask, Command, FileAttributes, FileId};

/// Parameters of a CREATE.
#[derive(Debug, Clone, Copy)]
pub struct CreateParams<'p> {
    /// Path from the share's root, with `\` between names, and without a leading one.
    pub path: &'p str,
    /// Requested access.
    pub access: AccessMask,
    /// Action for existing and missing files.
    pub disposition: CreateDisposition,
    /// Required type, and other create options.
    pub options: CreateOptions,
    /// Create contexts.
    pub asking: OpenContexts,
    /// Permitted access of others while it is open.
    pub sharing: ShareAccess,
}

/// Access to read and write data and attributes, and to delete.
pub const ALL_OF_FILE: AccessMask = AccessMask(
    AccessMask::READ_DATA.0
        | AccessMask::WRITE_DATA.0
        | AccessMask::APPEND_DATA.0
        | AccessMask::READ_ATTRIBUTES.0
        | AccessMask::WRITE_ATTRIBUTES.0
        | AccessMask::READ_EA.0
        | AccessMask::WRITE_EA.0
        | AccessMask::READ_CONTROL.0
        | AccessMask::SYNCHRONIZE.0,
);

/// Access to read attributes.
pub const ATTRIBUTES: AccessMask =
    AccessMask(AccessMask::READ_ATTRIBUTES.0 | AccessMask::SYNCHRONIZE.0);

/// Access to list a directory.
pub const LISTING: AccessMask = AccessMask(ATTRIBUTES.0 | AccessMask::READ_DATA.0);

/// Access to remove or rename.
pub const DELETING: AccessMask = AccessMask(ATTRIBUTES.0 | AccessMask::DELETE.0);

/// Access to read data and attributes.
pub const READING: AccessMask =
    AccessMask(LISTING.0 | AccessMask::READ_EA.0 | AccessMask::READ_CONTROL.0);

/// Access to write data and attributes.
pub const WRITING: AccessMask = AccessMask(
    ATTRIBUTES.0
        | AccessMask::WRITE_DATA.0
        | AccessMask::APPEND_DATA.0
        | AccessMask::WRITE_ATTRIBUTES.0
        | AccessMask::WRITE_EA.0
        | AccessMask::READ_CONTROL.0,
);

/// Share access without restrictions.
pub const SHARE_ALL: ShareAccess =
    ShareAccess(ShareAccess::READ.0 | ShareAccess::WRITE.0 | ShareAccess::DELETE.0);

impl<'p> CreateParams<'p> {
    /// Creates the parameters to open an existing object of any type.
    pub const fn existing(path: &'p str, access: AccessMask) -> Self {
        Self {
            path,
            access,
            disposition: CreateDisposition::OPEN,
            options: CreateOptions::NONE,
            asking: OpenContexts::NOTHING,
            sharing: SHARE_ALL,
        }
    }

    /// Sets the create options.
    #[must_use]
    pub const fn with(mut self, options: CreateOptions) -> Self {
        self.options = options;
        self
    }

    /// Sets the disposition.
    #[must_use]
    pub const fn by(mut self, disposition: CreateDisposition) -> Self {
        self.disposition = disposition;
        self
    }

    /// Sets the create contexts: an oplock or lease, and a durable handle.
    #[must_use]
    pub const fn asking(mut self, asking: OpenContexts) -> Self {
        self.asking = asking;
        self
    }

    /// Restricts the share access.
    #[must_use]
    pub const fn sharing(mut self, sharing: ShareAccess) -> Self {
        self.sharing = sharing;
        self
    }

    pub(super) fn add(self, chaining: CompoundBuilder<'_>) -> CompoundBuilder<'_> {
        // Unused entries have an arbitrary value.
        let mut contexts = [RequestContext::QueryOnDiskId; 2];
        let asked = self.asking.contexts().into_iter().flatten();
        let places = contexts.iter_mut();
        let count = asked.zip(places).map(|(one, place)| *place = one).count();
        let request = create::Request {
            oplock_level: self.asking.level(),
            impersonation_level: ImpersonationLevel::IMPERSONATION,
            desired_access: self.access,
            file_attributes: if self.options.contains(CreateOptions::DIRECTORY_FILE) {
                FileAttributes::DIRECTORY
            } else {
                FileAttributes::NORMAL
            },
            share_access: self.sharing,
            disposition: self.disposition,
            options: self.options,
            name: Text::from(self.path),
            contexts: create::Contexts::from(contexts.get(..count).unwrap_or_default()),
        };
        chaining.request(Command::Create, 0, &request)
    }
}

/// Result of CREATE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CreateResult {
    /// FileId of the server.
    pub file_id: FileId,
    /// Length of the file in bytes.
    pub len: u64,
    /// Attributes of the file.
    pub attributes: FileAttributes,
    /// Create action: whether the file existed before.
    pub action: CreateAction,
    /// Whether the handle is durable.
    pub is_durable: bool,
}

impl CreateResult {
    pub(super) fn of(response: &create::Response<'_>) -> Self {
        Self {
            file_id: response.file_id,
            len: response.end_of_file,
            attributes: response.file_attributes,
            action: response.action,
            is_durable: response.contexts.iter().any(|context| {
                matches!(
                    context,
                    ResponseContext::Durable | ResponseContext::DurableV2(_)
                )
            }),
        }
    }

    /// Returns whether it is a directory.
    pub fn is_directory(&self) -> bool {
        self.attributes.contains(FileAttributes::DIRECTORY)
    }
}
