//! Size of a message on the network: packets and headers.
//!
//! A message has the length that the client counts: payload, XDR and RPC, and the record mark over
//! TCP. Each packet adds
//!
//! | | over UDP | over TCP |
//! |---|---|---|
//! | transport | 8 bytes, in the first fragment only | 20, and 12 of time stamps |
//! | IP | 20 (IPv4) or 40 (IPv6), and 8 for a fragment of IPv6 | 20 or 40 |
//! | link | 14 of Ethernet; 0 on the loopback interface, as Linux counts | as over UDP |
//!
//! A datagram larger than a packet is fragmented; all fragments but the last have a multiple of 8
//! bytes (RFC 791, section 3.2; RFC 8200, section 4.5). TCP splits its data by the MSS. A pure
//! acknowledgement is a packet of headers only; the number of these depends on timing and not on
//! lengths, so they are counted and not modelled.
//!
//! The counters of an interface that segments packets itself (TSO, GSO) or merges them (GRO) show
//! fewer and larger packets than the network carries: model and counters then differ.

/// Sizes of an IPv4 and an IPv6 header, without options.
const IPV4_HEADER: u64 = 20;
const IPV6_HEADER: u64 = 40;
const IPV6_FRAGMENT_HEADER: u64 = 8;
const UDP_HEADER: u64 = 8;
/// Header without options, and padded time stamps (RFC 7323, appendix A).
const TCP_HEADER: u64 = 20;
const TCP_TIMESTAMPS: u64 = 12;
/// Ethernet header, as interfaces count it: without checksum.
pub const ETHERNET_HEADER: u64 = 14;
/// Smallest packet that IPv4 must forward without fragmentation; smaller MTUs are not modelled.
const MTU_MIN: u64 = 68;

/// Transport of messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// Datagrams.
    Udp,
    /// Parts of a stream.
    Tcp {
        /// Whether each segment has time stamps, as between Linux hosts.
        has_timestamps: bool,
    },
}

/// Overhead that a network path adds to messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PathOverhead {
    /// Transport.
    pub framing: Framing,
    /// Whether the path uses IPv6.
    pub is_ipv6: bool,
    /// Largest packet in bytes, including its IP header.
    pub mtu_bytes: u64,
    /// Bytes of link header that the interface counts per packet.
    pub link_header_bytes: u64,
}

/// Number of packets and their bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Packets {
    /// Number of packets.
    pub packets: u64,
    /// Bytes of the packets, headers included.
    pub bytes: u64,
}

impl PathOverhead {
    /// Returns the packets of a message of `len_bytes`, record mark included. At least one, since a
    /// datagram may be empty.
    pub fn message(&self, len_bytes: u64) -> Packets {
        let (payload, room) = match self.framing {
            Framing::Tcp { .. } => (len_bytes, self.segment_bytes()),
            Framing::Udp => self.datagram(len_bytes + UDP_HEADER),
        };
        let packets = payload.div_ceil(room).max(1);
        let fragment_header = match self.framing {
            Framing::Udp if self.is_ipv6 && packets > 1 => IPV6_FRAGMENT_HEADER,
            _ => 0,
        };
        Packets {
            packets,
            bytes: payload + packets * (self.headers_bytes() + fragment_header),
        }
    }

    /// Returns the payload of a datagram with its UDP header, and the part of it that fits in one
    /// packet.
    fn datagram(&self, len_bytes: u64) -> (u64, u64) {
        let room = self.mtu().saturating_sub(self.ip_header());
        if len_bytes <= room {
            return (len_bytes, room);
        }
        let own = if self.is_ipv6 {
            IPV6_FRAGMENT_HEADER
        } else {
            0
        };
        (len_bytes, ((room.saturating_sub(own)) / 8 * 8).max(8))
    }

    /// Returns whether received data are acknowledged with separate packets.
    pub const fn acknowledges(&self) -> bool {
        matches!(self.framing, Framing::Tcp { .. })
    }

    /// Returns the bytes of a pure acknowledgement.
    pub fn acknowledgement_bytes(&self) -> u64 {
        self.headers_bytes()
    }

    /// Returns the maximum data of a segment (MSS without the room for options).
    pub fn segment_bytes(&self) -> u64 {
        let headers = self.ip_header() + self.transport_header();
        self.mtu().saturating_sub(headers).max(1)
    }

    fn mtu(&self) -> u64 {
        self.mtu_bytes.max(MTU_MIN)
    }

    /// Returns the headers of each packet. A UDP header counts as payload.
    fn headers_bytes(&self) -> u64 {
        self.link_header_bytes + self.ip_header() + self.transport_header()
    }

    const fn ip_header(&self) -> u64 {
        if self.is_ipv6 {
            IPV6_HEADER
        } else {
            IPV4_HEADER
        }
    }

    fn transport_header(&self) -> u64 {
        match self.framing {
            Framing::Udp => 0,
            Framing::Tcp { has_timestamps } => {
                TCP_HEADER + if has_timestamps { TCP_TIMESTAMPS } else { 0 }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use filestone_wire::nfs3::{Fattr3, FileHandle, FileType, Nfstime3, Specdata3, read};
    use filestone_wire::rpc::{CallHeader, Credential, OpaqueAuth, ReplyHeader};
    use filestone_wire::xdr::Encode;

    const UDP: PathOverhead = PathOverhead {
        framing: Framing::Udp,
        is_ipv6: false,
        mtu_bytes: 1500,
        link_header_bytes: ETHERNET_HEADER,
    };
    const TCP: PathOverhead = PathOverhead {
        framing: Framing::Tcp {
            has_timestamps: true,
        },
        ..UDP
    };

    fn packets(packets: u64, bytes: u64) -> Packets {
        Packets { packets, bytes }
    }

    /// The read study (linas.org) fitted "size + 106 + 36 x packets" to replies of READ, version 2,
    /// over UDP. Such a reply has 24 bytes of RPC, 4 of status, 68 of attributes and 4 of length
    /// before its data. With one packet the formula is exact; each further fragment has 20 bytes of
    /// IP and 14 of Ethernet, which is 34 and not 36.
    #[test]
    fn the_read_study_is_right_for_one_packet_and_two_bytes_off_for_each_further_one() {
        const BEFORE_DATA: u64 = 24 + 4 + 68 + 4;
        for (size, expected) in [
            (4, packets(1, 146)),
            (1024, packets(1, 1166)),
            (1372, packets(1, 1514)),
            (1376, packets(2, 1376 + 108 + 2 * 34)),
            (2852, packets(2, 2852 + 108 + 2 * 34)),
            (2856, packets(3, 2856 + 108 + 3 * 34)),
            (8192, packets(6, 8192 + 108 + 6 * 34)),
        ] {
            let found = UDP.message(BEFORE_DATA + size);
            assert_eq!(found, expected, "{size}");
            assert_eq!(found.packets, (size + 108).div_ceil(1480), "{size}");
            let study = size + 106 + 36 * found.packets;
            assert_eq!(study - found.bytes, 2 * (found.packets - 1), "{size}");
        }
    }

    fn attributes() -> Fattr3 {
        let time = Nfstime3 {
            seconds: 1,
            nseconds: 2,
        };
        Fattr3 {
            file_type: FileType::Regular,
            mode: 0o644,
            nlink: 1,
            uid: 0,
            gid: 0,
            size: 1 << 20,
            used: 1 << 20,
            rdev: Specdata3 { major: 0, minor: 0 },
            fsid: 1,
            fileid: 2,
            atime: time,
            mtime: time,
            ctime: time,
        }
    }

    fn call_len(procedure: u32, arguments: usize) -> u64 {
        let header = CallHeader {
            xid: 1,
            program: 100_003,
            version: 3,
            procedure,
            credential: Credential::None,
            verifier: OpaqueAuth::NONE,
        };
        (header.to_bytes().len() + arguments) as u64
    }

    fn reply_len(results: usize) -> u64 {
        (ReplyHeader::success(1).to_bytes().len() + results) as u64
    }

    /// Lengths are from the encoders; the rest is added by hand: a NULL call is 40 bytes and its
    /// reply 24, and UDP, IP and Ethernet add 42; over TCP a record mark of 4 and 66 of headers.
    #[test]
    fn calls_and_replies_come_to_what_their_encoders_give() {
        let (null_call, null_reply) = (call_len(0, 0), reply_len(0));
        assert_eq!(UDP.message(null_call), packets(1, 82));
        assert_eq!(UDP.message(null_reply), packets(1, 66));
        assert_eq!(TCP.message(4 + null_call), packets(1, 110));
        assert_eq!(TCP.message(4 + null_reply), packets(1, 94));
        let handle = [7; 32];
        let object = FileHandle::new(&handle).unwrap();
        let arguments = object.to_bytes().len();
        assert_eq!(UDP.message(call_len(1, arguments)), packets(1, 82 + 36));
        let attributes = attributes().to_bytes().len();
        // Status and attributes.
        assert_eq!(UDP.message(reply_len(4 + attributes)), packets(1, 154));
    }

    /// A READ reply of version 3 has 128 bytes before its data: 24 of RPC, 4 of status, 88 of
    /// attributes, and count, eof and length.
    #[test]
    fn reads_of_version_3_come_to_what_their_encoders_give() {
        for (size, over_udp, over_tcp) in [
            (1, packets(1, 174), packets(1, 202)),
            (1344, packets(1, 1514), packets(2, 1344 + 132 + 2 * 66)),
            (
                1345,
                packets(2, 1348 + 136 + 2 * 34),
                packets(2, 1348 + 132 + 2 * 66),
            ),
            (
                131_072,
                packets(89, 131_072 + 136 + 89 * 34),
                packets(91, 131_072 + 132 + 91 * 66),
            ),
        ] {
            let data = vec![0; size];
            let ok = read::ReplyOk {
                file_attributes: Some(attributes()),
                count: size as u32,
                eof: false,
                data: &data,
            };
            let len = reply_len(4 + ok.to_bytes().len());
            assert_eq!(UDP.message(len), over_udp, "{size}");
            assert_eq!(TCP.message(4 + len), over_tcp, "{size}");
        }
    }

    /// IPv6 has a header of 40 bytes instead of 20, and 8 for each fragment. All fragments but the
    /// last carry a multiple of 8: 1500 - 40 - 8 = 1452 bytes hold 1448.
    #[test]
    fn over_ipv6_a_fragment_has_a_header_of_its_own() {
        let udp = PathOverhead {
            is_ipv6: true,
            ..UDP
        };
        assert_eq!(udp.message(1452), packets(1, 1452 + 8 + 54));
        assert_eq!(udp.message(1453), packets(2, 1453 + 8 + 2 * 62));
        assert_eq!(udp.message(2 * 1448 - 8), packets(2, 2896 + 2 * 62));
        assert_eq!(udp.message(2 * 1448 - 7), packets(3, 2897 + 3 * 62));
        let tcp = PathOverhead {
            is_ipv6: true,
            ..TCP
        };
        assert_eq!(tcp.segment_bytes(), 1428);
        assert_eq!(tcp.acknowledgement_bytes(), 86);
    }

    /// Invalid values from a host's files must not cause a division by zero.
    #[test]
    fn an_impossible_mtu_is_a_small_one() {
        for mtu_bytes in [0, 1, 27, 68] {
            for framing in [Framing::Udp, TCP.framing] {
                let path = PathOverhead {
                    framing,
                    is_ipv6: true,
                    mtu_bytes,
                    ..UDP
                };
                assert!(path.message(100).packets > 1, "{path:?}");
            }
        }
    }
}
