//! `nfstime3` (RFC 1813, section 2.6).

message! {
    /// `nfstime3`: since the beginning of 1970, UTC.
    #[derive(Copy, Default, PartialOrd, Ord, Hash)]
    pub struct Nfstime3 {
        /// Whole seconds.
        pub seconds: u32,
        /// Nanoseconds, below 10⁹.
        pub nseconds: u32,
    }
}
