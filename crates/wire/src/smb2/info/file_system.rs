//! Information about a file system (MS-FSCC, section 2.5).

layout! {
    /// FileFsSizeInformation, section 2.5.8.
    pub struct FileFsSizeInformation {
        /// TotalAllocationUnits.
        pub total_allocation_units: u64;
        /// AvailableAllocationUnits.
        pub available_allocation_units: u64;
        /// SectorsPerAllocationUnit.
        pub sectors_per_allocation_unit: u32;
        /// BytesPerSector.
        pub bytes_per_sector: u32;
    }
}

layout! {
    /// FileFsFullSizeInformation, section 2.5.4.
    pub struct FileFsFullSizeInformation {
        /// TotalAllocationUnits.
        pub total_allocation_units: u64;
        /// CallerAvailableAllocationUnits: those that the user may use.
        pub caller_available_allocation_units: u64;
        /// ActualAvailableAllocationUnits.
        pub actual_available_allocation_units: u64;
        /// SectorsPerAllocationUnit.
        pub sectors_per_allocation_unit: u32;
        /// BytesPerSector.
        pub bytes_per_sector: u32;
    }
}
