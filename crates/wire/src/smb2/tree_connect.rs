//! TREE_CONNECT: connects to a share (sections 2.2.9 and 2.2.10).

use super::codec::{Decode, DecodeError, Encode, Reader, Text, Writer, length16};
use super::{AccessMask, HEADER_LEN};

flags! {
    /// Flags of a request in dialect 3.1.1.
    pub struct ConnectFlags(u16) {
        /// SMB2_TREE_CONNECT_FLAG_CLUSTER_RECONNECT.
        CLUSTER_RECONNECT = 0x1;
        /// SMB2_TREE_CONNECT_FLAG_REDIRECT_TO_OWNER.
        REDIRECT_TO_OWNER = 0x2;
    }
}

/// SMB2 TREE_CONNECT Request, without the extension of section 2.2.9.1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request<'a> {
    /// Flags; reserved before 3.1.1.
    pub flags: ConnectFlags,
    /// Path: `\\server\share`.
    pub path: Text<'a>,
}

impl Request<'_> {
    const SIZE: u16 = 9;
    const PATH_AT: u16 = HEADER_LEN as u16 + 8;
}

impl Encode for Request<'_> {
    fn encode(&self, out: &mut Writer<'_>) {
        out.u16(Self::SIZE);
        self.flags.encode(out);
        out.u16(Self::PATH_AT);
        out.u16(length16(self.path.len()));
        self.path.encode(out);
    }
}

impl<'a> Decode<'a> for Request<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        reader.structure(Self::SIZE)?;
        let flags = ConnectFlags::decode(reader)?;
        let (offset, len) = (reader.u16()?, reader.u16()?);
        let path = reader.buffer("Path", offset.into(), len.into())?;
        Ok(Self {
            flags,
            path: Text::from_units(path, "Path")?,
        })
    }
}

values! {
    /// ShareType.
    pub struct ShareType(u8) {
        /// Files.
        DISK = 0x01, "SMB2_SHARE_TYPE_DISK";
        /// Named pipes.
        PIPE = 0x02, "SMB2_SHARE_TYPE_PIPE";
        /// A printer.
        PRINT = 0x03, "SMB2_SHARE_TYPE_PRINT";
    }
}

flags! {
    /// ShareFlags.
    pub struct ShareFlags(u32) {
        /// SMB2_SHAREFLAG_VDO_CACHING.
        VDO_CACHING = 0x20;
        /// SMB2_SHAREFLAG_NO_CACHING: both bits of the caching mode for files.
        NO_CACHING = 0x30;
        /// SMB2_SHAREFLAG_RESTRICT_EXCLUSIVE_OPENS.
        RESTRICT_EXCLUSIVE_OPENS = 0x100;
        /// SMB2_SHAREFLAG_FORCE_SHARED_DELETE.
        FORCE_SHARED_DELETE = 0x200;
        /// SMB2_SHAREFLAG_FORCE_LEVELII_OPLOCK.
        FORCE_LEVELII_OPLOCK = 0x1000;
        /// SMB2_SHAREFLAG_ENCRYPT_DATA: the server requires encrypted messages to this share.
        ENCRYPT_DATA = 0x8000;
    }
}

flags! {
    /// Capabilities of a share.
    pub struct ShareCapabilities(u32) {
        /// SMB2_SHARE_CAP_DFS.
        DFS = 0x08;
        /// SMB2_SHARE_CAP_CONTINUOUS_AVAILABILITY.
        CONTINUOUS_AVAILABILITY = 0x10;
        /// SMB2_SHARE_CAP_SCALEOUT.
        SCALEOUT = 0x20;
        /// SMB2_SHARE_CAP_CLUSTER.
        CLUSTER = 0x40;
        /// SMB2_SHARE_CAP_ASYMMETRIC.
        ASYMMETRIC = 0x80;
    }
}

layout! {
    /// SMB2 TREE_CONNECT Response. TreeId is in the header.
    pub struct Response[16] {
        /// ShareType.
        pub share_type: ShareType, reserved 1;
        /// ShareFlags.
        pub share_flags: ShareFlags;
        /// Capabilities.
        pub capabilities: ShareCapabilities;
        /// MaximalAccess.
        pub maximal_access: AccessMask;
    }
}
