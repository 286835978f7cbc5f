//! What this tool can do on this host.
