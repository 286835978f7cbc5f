//! Macros that declare most messages, and the procedures of a program.
//!
//! `message!` is an XDR `struct`: its fields on the wire in the order they are written. `numbered!`
//! is an XDR `enum` that keeps unknown numbers, because a nonstandard status of a peer is a result
//! for filestone. `procedures!` contains the procedures of a program, by number and name, and
//! refuses unknown numbers. Types with alternatives (a `union`) are written by hand where they
//! belong.

/// An XDR `struct` (RFC 4506, section 4.14): fields in wire order.
macro_rules! message {
    (
        $(#[$meta:meta])*
        pub struct $name:ident<$life:lifetime> {
            $($(#[$field_meta:meta])* pub $field:ident: $type:ty,)+
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct $name<$life> {
            $($(#[$field_meta])* pub $field: $type,)+
        }

        impl $crate::xdr::Encode for $name<'_> {
            #[inline]
            fn encode(&self, out: &mut $crate::xdr::Writer<'_>) {
                $($crate::xdr::Encode::encode(&self.$field, out);)+
            }
        }

        impl<$life> $crate::xdr::Decode<$life> for $name<$life> {
            #[inline]
            fn decode(
                reader: &mut $crate::xdr::Reader<$life>,
            ) -> Result<Self, $crate::xdr::DecodeError> {
                Ok(Self { $($field: $crate::xdr::Decode::decode(reader)?,)+ })
            }
        }
    };
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $($(#[$field_meta:meta])* pub $field:ident: $type:ty,)+
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct $name {
            $($(#[$field_meta])* pub $field: $type,)+
        }

        impl $crate::xdr::Encode for $name {
            #[inline]
            fn encode(&self, out: &mut $crate::xdr::Writer<'_>) {
                $($crate::xdr::Encode::encode(&self.$field, out);)+
            }
        }

        impl<'input> $crate::xdr::Decode<'input> for $name {
            #[inline]
            fn decode(
                reader: &mut $crate::xdr::Reader<'input>,
            ) -> Result<Self, $crate::xdr::DecodeError> {
                Ok(Self { $($field: $crate::xdr::Decode::decode(reader)?,)+ })
            }
        }
    };
}

/// The values of a number that have names in the standard.
macro_rules! named {
    ($name:ident {
        $($(#[$const_meta:meta])* $const:ident = $value:literal, $text:literal;)+
    }) => {
        impl $name {
            $($(#[$const_meta])* pub const $const: Self = Self($value);)+

            /// Every value that has a name, in the standard's order.
            pub const NAMED: &'static [Self] = &[$(Self::$const),+];

            /// The standard's name, unless the number has none.
            pub const fn name(self) -> Option<&'static str> {
                match self.0 {
                    $($value => Some($text),)+
                    _ => None,
                }
            }

            /// The value with this name in the standard.
            pub fn from_name(name: &str) -> Option<Self> {
                match name {
                    $($text => Some(Self::$const),)+
                    _ => None,
                }
            }
        }
    };
}

/// An XDR `enum` with the standard's names, unknown numbers kept.
macro_rules! numbered {
    (
        $(#[$meta:meta])*
        pub struct $name:ident($unknown:literal) {
            $($(#[$const_meta:meta])* $const:ident = $value:literal, $text:literal;)+
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        named! { $name { $($(#[$const_meta])* $const = $value, $text;)+ } }

        impl core::fmt::Display for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                match self.name() {
                    Some(name) => write!(f, "{name} ({})", self.0),
                    None => write!(f, "{} {}", $unknown, self.0),
                }
            }
        }

        impl $crate::xdr::Encode for $name {
            #[inline]
            fn encode(&self, out: &mut $crate::xdr::Writer<'_>) {
                out.u32(self.0);
            }
        }

        impl<'input> $crate::xdr::Decode<'input> for $name {
            #[inline]
            fn decode(
                reader: &mut $crate::xdr::Reader<'input>,
            ) -> Result<Self, $crate::xdr::DecodeError> {
                Ok(Self(reader.u32()?))
            }
        }
    };
}

/// The procedures of a program, or the commands of a protocol: their numbers, and the standard's names
/// without their prefix, in lower case where users write them.
macro_rules! procedures {
    (
        $(#[$meta:meta])*
        pub enum $name:ident: $repr:ident {
            $($(#[$variant_meta:meta])* $variant:ident = $number:literal, $text:literal;)+
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr($repr)]
        pub enum $name {
            $($(#[$variant_meta])* $variant = $number,)+
        }

        impl $name {
            /// The members, by number.
            pub const ALL: [Self; [$($text),+].len()] = [$(Self::$variant),+];

            /// Returns the procedure with this number.
            #[inline]
            pub const fn from_number(number: $repr) -> Option<Self> {
                match number {
                    $($number => Some(Self::$variant),)+
                    _ => None,
                }
            }

            /// Returns the procedure with this name.
            pub fn from_name(name: &str) -> Option<Self> {
                match name {
                    $($text => Some(Self::$variant),)+
                    _ => None,
                }
            }

            /// The number on the wire.
            #[inline]
            pub const fn number(self) -> $repr {
                self as $repr
            }

            /// The standard's name without its prefix.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)+
                }
            }
        }
    };
}
