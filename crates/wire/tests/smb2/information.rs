//! Structures that a real server put into buffers: every one of them decodes, and encodes to the
//! same bytes.

use crate::again::{self, INFORMATION};
use crate::real_peers::frames;
use filestone_wire::smb2::codec::{Decode, Text};
use filestone_wire::smb2::info::{
    DirectoryClass, Entries, FileFsSizeInformation, FileRenameInformation,
};
use filestone_wire::smb2::ioctl::{
    Chunk, CopychunkCopy, InterfaceAddress, ValidateNegotiateRequest, interfaces,
};
use filestone_wire::smb2::{Dialect, FileAttributes};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

fn buffer(wanted: &str) -> Vec<u8> {
    let mut all = frames("samba-fscc.hex").into_iter();
    all.find(|(name, _)| name == wanted).unwrap().1
}

#[test]
fn every_structure_is_understood_to_the_byte() {
    for name in INFORMATION {
        let bytes = buffer(name);
        let again = again::information(name, &bytes).unwrap();
        // Samba pads names, and sends a BOOLEAN as four bytes; a resume key has a context that
        // says nothing.
        let len = match name {
            "Change" => 318,
            "FileDispositionInformation" => 1,
            "FileRenameInformation" => 86,
            "ResumeKeyResponse" => 28,
            _ => bytes.len(),
        };
        assert_eq!(again, bytes[..len], "{name}");
    }
}

/// What tshark and Samba's tools say of the same bytes.
#[test]
fn fields_say_what_the_server_meant() {
    let interfaces: Vec<_> = interfaces(&buffer("NetworkInterface"))
        .map(Result::unwrap)
        .collect();
    let addresses = [
        IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(Ipv6Addr::LOCALHOST),
    ];
    assert!(
        interfaces
            .iter()
            .map(|interface| interface.address)
            .eq(addresses.map(InterfaceAddress::Ip))
    );
    assert!(
        interfaces
            .iter()
            .all(|interface| interface.link_speed == 1_000_000_000)
    );

    let bytes = buffer("ValidateNegotiateRequest");
    let offered = ValidateNegotiateRequest::from_bytes(&bytes).unwrap();
    let dialects = [
        Dialect::SMB_2_0_2,
        Dialect::SMB_2_1,
        Dialect::SMB_3_0,
        Dialect::SMB_3_0_2,
    ];
    assert!(offered.dialects.iter().eq(dialects));

    let bytes = buffer("FileRenameInformation");
    let rename = FileRenameInformation::from_bytes(&bytes).unwrap();
    let name = Text::from("oplock_test\\test_exclusive6_2.dat");
    assert_eq!((rename.replace_if_exists, rename.name), (true, name));

    let bytes = buffer("CopychunkCopy");
    let chunks = CopychunkCopy::from_bytes(&bytes).unwrap().chunks;
    let chunk = |offset| Chunk {
        source_offset: offset,
        target_offset: offset,
        length: 4096,
    };
    assert!(chunks.iter().eq([chunk(0), chunk(4096)]));
}

/// `smbclient -c ls` said of the same directory: 264212084 blocks of size 1024.
#[test]
fn sizes_of_a_file_system_are_those_that_smbclient_shows() {
    let size = FileFsSizeInformation::from_bytes(&buffer("FileFsSizeInformation")).unwrap();
    let unit = size.sectors_per_allocation_unit * size.bytes_per_sector;
    assert_eq!((size.total_allocation_units, unit), (264_212_084, 1024));
}

/// Two files that `ls` had just listed: 904 bytes each.
#[test]
fn entries_of_a_directory_are_those_that_smbclient_shows() {
    let buffer = buffer("FileIdBothDirectoryInformation");
    let entries = Entries::of(DirectoryClass::IdBothDirectory, &buffer).map(Result::unwrap);
    let shown = entries.map(|entry| {
        let is_directory = entry.file_attributes.contains(FileAttributes::DIRECTORY);
        (entry.name.to_string(), is_directory, entry.end_of_file)
    });
    let expected = [
        (".", true, 0),
        ("..", true, 0),
        ("i", false, 904),
        ("j", false, 904),
    ];
    assert!(shown.eq(expected.map(|(name, is_directory, len)| (
        name.to_owned(),
        is_directory,
        len
    ))));
}
