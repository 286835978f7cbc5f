//! CtlCode (section 2.2.31; MS-FSCC, section 2.3).

values! {
    /// CtlCode.
    pub struct ControlCode(u32) {
        /// Resolves a DFS path.
        DFS_GET_REFERRALS = 0x0006_0194, "FSCTL_DFS_GET_REFERRALS";
        /// Returns the object ID of the file, and creates it if necessary.
        CREATE_OR_GET_OBJECT_ID = 0x0009_00c0, "FSCTL_CREATE_OR_GET_OBJECT_ID";
        /// Makes the file sparse.
        SET_SPARSE = 0x0009_00c4, "FSCTL_SET_SPARSE";
        /// Returns the ranges of the file that contain data.
        QUERY_ALLOCATED_RANGES = 0x0009_40cf, "FSCTL_QUERY_ALLOCATED_RANGES";
        /// Replaces data with zeros.
        SET_ZERO_DATA = 0x0009_80c8, "FSCTL_SET_ZERO_DATA";
        /// Waits for a pipe.
        PIPE_WAIT = 0x0011_0018, "FSCTL_PIPE_WAIT";
        /// Peeks into a pipe.
        PIPE_PEEK = 0x0011_400c, "FSCTL_PIPE_PEEK";
        /// Writes to a pipe and reads from it.
        PIPE_TRANSCEIVE = 0x0011_c017, "FSCTL_PIPE_TRANSCEIVE";
        /// Returns a key that identifies an open as the source of a copy.
        SRV_REQUEST_RESUME_KEY = 0x0014_0078, "FSCTL_SRV_REQUEST_RESUME_KEY";
        /// Makes an open survive the loss of the connection.
        LMR_REQUEST_RESILIENCY = 0x0014_01d4, "FSCTL_LMR_REQUEST_RESILIENCY";
        /// Returns the server's addresses.
        QUERY_NETWORK_INTERFACE_INFO = 0x0014_01fc, "FSCTL_QUERY_NETWORK_INTERFACE_INFO";
        /// Validates that NEGOTIATE was not tampered with, before 3.1.1.
        VALIDATE_NEGOTIATE_INFO = 0x0014_0204, "FSCTL_VALIDATE_NEGOTIATE_INFO";
        /// Lists the snapshots of the file system.
        SRV_ENUMERATE_SNAPSHOTS = 0x0014_4064, "FSCTL_SRV_ENUMERATE_SNAPSHOTS";
        /// Copies from one open to another that also has read access.
        SRV_COPYCHUNK = 0x0014_40f2, "FSCTL_SRV_COPYCHUNK";
        /// Copies from one open to another.
        SRV_COPYCHUNK_WRITE = 0x0014_80f2, "FSCTL_SRV_COPYCHUNK_WRITE";
    }
}
