//! Channel: transport of the data of READ and WRITE, such as RDMA (sections 2.2.19 and 2.2.21).

values! {
    /// Channel.
    #[derive(Default)]
    pub struct Channel(u32) {
        /// In the message.
        NONE = 0x0, "SMB2_CHANNEL_NONE";
        /// RDMA, with buffer descriptors.
        RDMA_V1 = 0x1, "SMB2_CHANNEL_RDMA_V1";
        /// RDMA, and the server invalidates the memory registration.
        RDMA_V1_INVALIDATE = 0x2, "SMB2_CHANNEL_RDMA_V1_INVALIDATE";
        /// RDMA with transformed data.
        RDMA_TRANSFORM = 0x3, "SMB2_CHANNEL_RDMA_TRANSFORM";
    }
}
