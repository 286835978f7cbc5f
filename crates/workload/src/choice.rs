//! Enumerations whose values have a name in plans, records and options.

/// A value of an enumeration for the command line.
#[derive(Debug)]
pub struct ChoiceValue<T: 'static> {
    /// The value.
    pub value: T,
    /// Name in plans, records and options.
    pub name: &'static str,
    /// Accepted names of older versions.
    pub former_names: &'static [&'static str],
    /// Description, in one or more lines.
    pub about: &'static str,
}

/// An enumeration declared with [`choices!`](crate::choices).
pub trait Choice: Copy + Send + Sync + 'static {
    /// All values, in the order of their declaration.
    const VALUES: &'static [ChoiceValue<Self>];

    /// Returns the value with this name or former name.
    fn from_name(name: &str) -> Option<Self> {
        let mut values = Self::VALUES.iter();
        let is_named =
            |value: &&ChoiceValue<Self>| value.name == name || value.former_names.contains(&name);
        values.find(is_named).map(|value| value.value)
    }
}

/// Declares enumerations with names: `Name = "name" | "former name", default;`, each value with a
/// description for help texts.
#[macro_export]
macro_rules! choices {
    ($(
        $(#[$meta:meta])*
        pub enum $choice:ident {
            $(
                $(#[doc = $about:literal])+
                $name:ident = $word:literal $(| $former:literal)* $(, $default:ident)?;
            )+
        }
    )+) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        #[derive(serde::Serialize, serde::Deserialize, JsonSchema)]
        pub enum $choice {
            $(
                $(#[doc = $about])+
                #[serde(rename = $word $(, alias = $former)*)]
                $(#[$default])?
                $name,
            )+
        }

        impl $choice {
            /// All values, in the order of their declaration.
            pub const ALL: &'static [Self] = &[$(Self::$name),+];

            /// Returns the name in plans, records and options.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => $word,)+ }
            }
        }

        impl $crate::choice::Choice for $choice {
            const VALUES: &'static [$crate::choice::ChoiceValue<Self>] = &[$(
                $crate::choice::ChoiceValue {
                    value: Self::$name,
                    name: $word,
                    former_names: &[$($former),*],
                    about: concat!($($about),+),
                },
            )+];
        }
    )+};
}
