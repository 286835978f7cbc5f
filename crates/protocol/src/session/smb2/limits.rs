//! Limits on request sizes: from NEGOTIATE and from the granted credits. Code that builds requests
//! takes its sizes from here.

use super::chain::BYTES_OF_CREDIT;

/// Bytes of a directory page if the server accepts as many: the payload of one credit.
const PAGE_MAX: u32 = BYTES_OF_CREDIT;

/// Transfer size limits of a server, in bytes; 0 if unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SmbTransferLimits {
    /// MaxReadSize.
    pub read: u32,
    /// MaxWriteSize.
    pub write: u32,
    /// MaxTransactSize.
    pub transact: u32,
}

impl SmbTransferLimits {
    /// Returns the limits of a connection whose requests use more than one credit only if it is
    /// `large_mtu` (MS-SMB2, section 3.2.4.1.5).
    #[must_use]
    pub fn over(self, large_mtu: bool) -> Self {
        if large_mtu { self } else { self.within(1) }
    }

    /// Returns the limits of a client that is never granted more than `credits` credits.
    #[must_use]
    pub fn within(self, credits: u32) -> Self {
        let most = credits.max(1).saturating_mul(BYTES_OF_CREDIT);
        Self {
            read: self.read.min(most),
            write: self.write.min(most),
            transact: self.transact.min(most),
        }
    }

    /// Returns the credits of the largest of these transfers.
    pub fn credits(self) -> u32 {
        self.read.max(self.write).div_ceil(BYTES_OF_CREDIT).max(1)
    }

    /// Returns the bytes to request for a directory page, at most `wanted`.
    pub fn page(self, wanted: u32) -> u32 {
        match self.transact {
            0 => wanted.min(PAGE_MAX),
            most => wanted.min(most),
        }
    }

    /// Returns the page size for a listing that is read completely.
    pub fn largest_page(self) -> u32 {
        self.page(PAGE_MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AGREED: SmbTransferLimits = SmbTransferLimits {
        read: 8 << 20,
        write: 1 << 20,
        transact: 16 << 10,
    };

    #[test]
    fn a_credit_pays_for_64_kibibytes() {
        assert_eq!(AGREED.credits(), 128);
        assert_eq!(AGREED.over(true), AGREED);
        let small = AGREED.over(false);
        assert_eq!((small.read, small.write), (64 << 10, 64 << 10));
        let eight = AGREED.within(8);
        assert_eq!(
            (eight.read, eight.write, eight.transact),
            (512 << 10, 512 << 10, 16 << 10)
        );
        assert_eq!(AGREED.within(0), AGREED.within(1));
    }

    #[test]
    fn a_page_is_no_longer_than_the_server_takes() {
        assert_eq!(AGREED.largest_page(), 16 << 10);
        assert_eq!((AGREED.page(4096), AGREED.page(1 << 20)), (4096, 16 << 10));
        assert_eq!(SmbTransferLimits::default().largest_page(), 64 << 10);
        let large = SmbTransferLimits {
            transact: 1 << 20,
            ..AGREED
        };
        assert_eq!(large.largest_page(), 64 << 10);
    }
}
