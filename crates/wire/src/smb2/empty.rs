//! The body without fields, which several commands share.

layout! {
    /// Body of two bytes of StructureSize and two reserved ones.
    #[derive(Default)]
    pub struct Empty[4, reserved 2] {}
}
