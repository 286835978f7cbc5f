//! Channel: whether the data of READ and WRITE go by RDMA (sections 2.2.19 and 2.2.21).

values! {
    /// Channel.
    #[derive(Default)]
    pub struct Channel(u32) {
        /// In the message.
        NONE = 0x0, "SMB2_CHANNEL_NONE";
        /// By RDMA; descriptors say where.
        RDMA_V1 = 0x1, "SMB2_CHANNEL_RDMA_V1";
        /// By RDMA, and the server gives up the memory's registration.
        RDMA_V1_INVALIDATE = 0x2, "SMB2_CHANNEL_RDMA_V1_INVALIDATE";
        /// By RDMA, transformed.
        RDMA_TRANSFORM = 0x3, "SMB2_CHANNEL_RDMA_TRANSFORM";
    }
}
