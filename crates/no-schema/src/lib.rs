//! A derive of `JsonSchema` that generates nothing. Builds without the feature `schema` use it in
//! place of that of schemars, so that types need no condition.

#![forbid(unsafe_code)]

use proc_macro::TokenStream;

/// Accepts the attributes of `schemars::JsonSchema`, and generates nothing.
#[proc_macro_derive(JsonSchema, attributes(schemars))]
pub fn json_schema(_item: TokenStream) -> TokenStream {
    TokenStream::new()
}
