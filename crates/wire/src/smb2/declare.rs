//! Macros that declare the fields and structures of MS-SMB2 and MS-FSCC.
//!
//! `layout!` is a structure whose fields have the same length in every message, in their order on
//! the wire; a number in brackets is its StructureSize. `values!` is an enumeration that keeps
//! unknown numbers, because a nonstandard value of a peer is a result for filestone. `flags!` is a
//! set of bits.

/// A structure of fixed fields. `reserved N` are bytes after a field that are written as zeros and
/// ignored on reading.
macro_rules! layout {
    (
        $(#[$meta:meta])*
        pub struct $name:ident $([$size:literal $(, reserved $front:literal)?])? {
            $($(#[$field_meta:meta])* pub $field:ident: $type:ty $(, reserved $gap:literal)?;)*
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct $name {
            $($(#[$field_meta])* pub $field: $type,)*
        }

        impl $crate::smb2::codec::Encode for $name {
            #[inline]
            fn encode(&self, out: &mut $crate::smb2::codec::Writer<'_>) {
                $(out.u16($size); $(out.zeros($front);)?)?
                $(
                    $crate::smb2::codec::Encode::encode(&self.$field, out);
                    $(out.zeros($gap);)?
                )*
            }
        }

        impl<'input> $crate::smb2::codec::Decode<'input> for $name {
            #[inline]
            fn decode(
                reader: &mut $crate::smb2::codec::Reader<'input>,
            ) -> Result<Self, $crate::smb2::codec::DecodeError> {
                $(reader.structure($size)?; $(reader.skip($front)?;)?)?
                $(
                    let $field = $crate::smb2::codec::Decode::decode(reader)?;
                    $(reader.skip($gap)?;)?
                )*
                Ok(Self { $($field),* })
            }
        }

        impl $crate::smb2::codec::Fixed for $name {
            const LEN: usize = 0
                $(+ { let _: u16 = $size; 2 } $(+ $front)?)?
                $(+ <$type as $crate::smb2::codec::Fixed>::LEN $(+ $gap)?)*;
        }
    };
}

/// A newtype of an integer as a field: the common part of `values!` and `flags!`.
macro_rules! field_of {
    ($name:ident, $repr:ident) => {
        impl $crate::smb2::codec::Encode for $name {
            #[inline]
            fn encode(&self, out: &mut $crate::smb2::codec::Writer<'_>) {
                out.$repr(self.0);
            }
        }

        impl<'input> $crate::smb2::codec::Decode<'input> for $name {
            #[inline]
            fn decode(
                reader: &mut $crate::smb2::codec::Reader<'input>,
            ) -> Result<Self, $crate::smb2::codec::DecodeError> {
                Ok(Self(reader.$repr()?))
            }
        }

        impl $crate::smb2::codec::Fixed for $name {
            const LEN: usize = <$repr as $crate::smb2::codec::Fixed>::LEN;
        }
    };
}

/// An enumeration with the standard's names, unknown numbers kept.
macro_rules! values {
    (
        $(#[$meta:meta])*
        pub struct $name:ident($repr:ident) {
            $($(#[$const_meta:meta])* $const:ident = $value:literal, $text:literal;)+
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub $repr);

        named! { $name { $($(#[$const_meta])* $const = $value, $text;)+ } }

        impl core::fmt::Display for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                let width = 2 + 2 * <Self as $crate::smb2::codec::Fixed>::LEN;
                match self.name() {
                    Some(name) => write!(f, "{name} ({:#0width$x})", self.0),
                    None => write!(f, "{} {:#0width$x}", stringify!($name), self.0),
                }
            }
        }

        field_of!($name, $repr);
    };
}

/// A set of bits with the standard's names, unknown bits kept.
macro_rules! flags {
    (
        $(#[$meta:meta])*
        pub struct $name:ident($repr:ident) {
            $($(#[$const_meta:meta])* $const:ident = $value:literal;)+
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
        pub struct $name(pub $repr);

        impl $name {
            /// The empty set.
            pub const NONE: Self = Self(0);
            $($(#[$const_meta])* pub const $const: Self = Self($value);)+

            /// Returns whether all bits of `other` are set.
            #[inline]
            pub const fn contains(self, other: Self) -> bool {
                self.0 & other.0 == other.0
            }

            /// Returns the union with `other`.
            #[inline]
            pub const fn with(self, other: Self) -> Self {
                Self(self.0 | other.0)
            }

            /// Returns the difference from `other`.
            #[inline]
            pub const fn without(self, other: Self) -> Self {
                Self(self.0 & !other.0)
            }
        }

        field_of!($name, $repr);
    };
}
