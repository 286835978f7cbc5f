//! Information classes: InfoType and FileInfoClass (MS-SMB2, section 2.2.37).

use crate::smb2::codec::{Decode, DecodeError, Encode, Reader, Writer};

values! {
    /// FileInformationClass (MS-FSCC, section 2.4).
    pub struct FileInfoClass(u8) {
        /// Section 2.4.10.
        DIRECTORY = 1, "FileDirectoryInformation";
        /// Section 2.4.17.
        FULL_DIRECTORY = 2, "FileFullDirectoryInformation";
        /// Section 2.4.8.
        BOTH_DIRECTORY = 3, "FileBothDirectoryInformation";
        /// Section 2.4.7.
        BASIC = 4, "FileBasicInformation";
        /// Section 2.4.47.
        STANDARD = 5, "FileStandardInformation";
        /// Section 2.4.26.
        INTERNAL = 6, "FileInternalInformation";
        /// Section 2.4.13.
        EA = 7, "FileEaInformation";
        /// Section 2.4.42.
        RENAME = 10, "FileRenameInformation";
        /// Section 2.4.27.
        LINK = 11, "FileLinkInformation";
        /// Section 2.4.33.
        NAMES = 12, "FileNamesInformation";
        /// Section 2.4.11.
        DISPOSITION = 13, "FileDispositionInformation";
        /// Section 2.4.2.
        ALL = 18, "FileAllInformation";
        /// Section 2.4.4.
        ALLOCATION = 19, "FileAllocationInformation";
        /// Section 2.4.14.
        END_OF_FILE = 20, "FileEndOfFileInformation";
        /// Section 2.4.49.
        STREAM = 22, "FileStreamInformation";
        /// Section 2.4.34.
        NETWORK_OPEN = 34, "FileNetworkOpenInformation";
        /// Section 2.4.22.
        ID_BOTH_DIRECTORY = 37, "FileIdBothDirectoryInformation";
        /// Section 2.4.23.
        ID_FULL_DIRECTORY = 38, "FileIdFullDirectoryInformation";
    }
}

values! {
    /// FsInformationClass (MS-FSCC, section 2.5).
    pub struct FsInfoClass(u8) {
        /// Section 2.5.9.
        VOLUME = 1, "FileFsVolumeInformation";
        /// Section 2.5.8.
        SIZE = 3, "FileFsSizeInformation";
        /// Section 2.5.10.
        DEVICE = 4, "FileFsDeviceInformation";
        /// Section 2.5.1.
        ATTRIBUTE = 5, "FileFsAttributeInformation";
        /// Section 2.5.4.
        FULL_SIZE = 7, "FileFsFullSizeInformation";
        /// Section 2.5.7.
        SECTOR_SIZE = 11, "FileFsSectorSizeInformation";
    }
}

/// InfoType, and the class if the type has classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum InfoClass {
    /// SMB2_0_INFO_FILE.
    File(FileInfoClass),
    /// SMB2_0_INFO_FILESYSTEM.
    FileSystem(FsInfoClass),
    /// SMB2_0_INFO_SECURITY.
    Security(u8),
    /// SMB2_0_INFO_QUOTA.
    Quota(u8),
}

impl Encode for InfoClass {
    fn encode(&self, out: &mut Writer<'_>) {
        let (info_type, class) = match self {
            Self::File(class) => (1, class.0),
            Self::FileSystem(class) => (2, class.0),
            Self::Security(class) => (3, *class),
            Self::Quota(class) => (4, *class),
        };
        out.u8(info_type);
        out.u8(class);
    }
}

impl<'a> Decode<'a> for InfoClass {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let (info_type, class) = (reader.u8()?, reader.u8()?);
        match info_type {
            1 => Ok(Self::File(FileInfoClass(class))),
            2 => Ok(Self::FileSystem(FsInfoClass(class))),
            3 => Ok(Self::Security(class)),
            4 => Ok(Self::Quota(class)),
            _ => Err(DecodeError::Undefined {
                field: "InfoType",
                value: info_type.into(),
            }),
        }
    }
}
