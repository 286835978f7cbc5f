//! What a run shows while it lasts, to whoever looks from outside.

use clap::Args;
use filestone_workload::quantity;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// How a run can be watched.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Watch")]
pub struct LiveOptions {
    /// Show what happens while it happens as a page for browsers, whose link is printed at the start: at
    /// ADDR, which is PORT or ADDRESS:PORT [default: a free port of 127.0.0.1]
    ///
    /// With tui it is shown on this terminal instead.
    #[arg(hide_short_help = true, long, value_name = "ADDR|tui", num_args = 0..=1, require_equals = true, default_missing_value = "0", value_parser = view)]
    pub live: Option<LiveView>,
    /// Let Prometheus scrape counters and histograms of what is measured, at /metrics of ADDR, which is
    /// PORT or ADDRESS:PORT
    #[arg(hide_short_help = true, long, value_name = "ADDR", value_parser = address)]
    pub metrics: Option<SocketAddr>,
    /// At the end, wait for a scrape of the last values for so long at most [default: 15s if there
    /// were scrapes before, else not at all]
    #[arg(hide_short_help = true, long, value_name = "TIME", value_parser = quantity::duration, requires = "metrics")]
    pub metrics_linger: Option<u64>,
}

/// Where what happens is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LiveView {
    /// As a page, at this address.
    Page(SocketAddr),
    /// On this terminal.
    Terminal,
}

impl LiveOptions {
    /// The first of them that is given.
    pub fn first_given(&self) -> Option<&'static str> {
        let live = self.live.map(|_| "--live");
        live.or_else(|| self.metrics.map(|_| "--metrics"))
    }
}

/// Reads `tui`, or an address.
fn view(text: &str) -> Result<LiveView, String> {
    if text == "tui" {
        return Ok(LiveView::Terminal);
    }
    let page = address(text).map(LiveView::Page);
    page.map_err(|wanted| format!("{wanted}; or tui, to look at it on this terminal"))
}

/// Reads `PORT`, which is one of this host alone, or `ADDRESS:PORT`.
pub fn address(text: &str) -> Result<SocketAddr, String> {
    if let Ok(port) = text.parse() {
        return Ok(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port));
    }
    let wanted = "expected a port of this host, such as 8080, or an address of it with a port, such as \
                  10.0.0.5:8080 or [::]:8080";
    text.parse().map_err(|_| wanted.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_alone_is_of_this_host_alone() {
        for (text, wanted) in [
            ("0", "127.0.0.1:0"),
            ("8080", "127.0.0.1:8080"),
            ("0.0.0.0:80", "0.0.0.0:80"),
            ("[::1]:80", "[::1]:80"),
        ] {
            assert_eq!(
                address(text).map(|address| address.to_string()),
                Ok(wanted.into())
            );
        }
        for text in ["", "70000", "localhost:80", "10.0.0.5", ":80"] {
            assert!(address(text).is_err(), "{text}");
        }
    }
}
