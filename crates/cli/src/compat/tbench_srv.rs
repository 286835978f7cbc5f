//! `filestone compat tbench_srv`: command line and output of tbench_srv.

use crate::compat::getopt::{self, OptionOrder};
use crate::error::Error;
use crate::execution::interruption;
use crate::{ExitStatus, built_in, console};
use filestone_engine::protocols::tbench::replay::SocketOptionList;
use filestone_host::error::ErrorCategory;
use filestone_server::tbench::{self, TbenchServer};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// tbench_srv's exit code for a wrong command line or a port in use.
const EXIT_FAILURE: u8 = 1;

/// Interval of polling for new connections, which are printed.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// tbench_srv, with its help.
pub const PROGRAM: getopt::ProgramSyntax = getopt::ProgramSyntax {
    name: "tbench_srv",
    usage: &["tbench_srv [options]"],
    arguments: &[],
    notes: "",
    options: "
-t LIST     socket options such as \"TCP_NODELAY SO_RCVBUF=65536\" (default: TCP_NODELAY \
    SO_REUSEADDR)
-h, --help  print this help
",
    order: OptionOrder::Anywhere,
};

/// Action that the command line requests.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Request {
    Help,
    Serve {
        options: SocketOptionList,
        /// Notes on ignored parts of the command line, one line each; the original ignores them
        /// too.
        passed_over: Vec<String>,
    },
}

/// Executes the request of a tbench_srv command line.
pub fn run(arguments: &[String]) -> Result<ExitStatus, Error> {
    let served =
        match parse(arguments) {
            Ok(Request::Help) => console::result(&PROGRAM.help()).map(|_| ExitStatus::Done),
            Ok(Request::Serve {
                options,
                passed_over,
            }) => {
                passed_over.iter().for_each(|what| console::note(what));
                serve(&options)
            }
            Err(what) => Err(Error::usage(what)
                .with_help("filestone compat tbench_srv -h shows its command line")),
        };
    match served {
        Err(error)
            if matches!(
                error.category,
                ErrorCategory::Usage | ErrorCategory::Environment
            ) =>
        {
            console::error(&error);
            Ok(ExitStatus::Code(EXIT_FAILURE))
        }
        served => served,
    }
}

/// Parses its command line like getopt.
fn parse(arguments: &[String]) -> Result<Request, String> {
    let words = PROGRAM.read(arguments)?;
    let mut options = SocketOptionList::default();
    let mut passed_over = Vec::new();
    for given in &words.given {
        match given.option.short {
            Some('t') => (options, passed_over) = SocketOptionList::leniently(given.value),
            _ => return Ok(Request::Help),
        }
    }
    if !words.arguments.is_empty() {
        let further = words.arguments.join(" ");
        passed_over.push(format!("further arguments are passed over: {further}"));
    }
    Ok(Request::Serve {
        options,
        passed_over,
    })
}

fn serve(socket_options: &SocketOptionList) -> Result<ExitStatus, Error> {
    let stop = interruption::stop_flag()?;
    let running = start(socket_options)?;
    console::result("waiting for connections\n")?;
    let mut shown = 0;
    while !stop.load(Ordering::Relaxed) {
        std::thread::sleep(LOOK_EVERY);
        let connections = running.counters().connections;
        let new = usize::try_from(connections - shown).unwrap_or_default();
        shown = connections;
        if new > 0 {
            console::result(&"^".repeat(new))?;
        }
    }
    running.stop();
    console::result("\n")?;
    Ok(ExitStatus::Done)
}

/// Starts the server at every address of this host, like tbench_srv; with IPv6 if available.
fn start(socket_options: &SocketOptionList) -> Result<TbenchServer, Error> {
    let all: [IpAddr; 2] = [Ipv4Addr::UNSPECIFIED.into(), Ipv6Addr::UNSPECIFIED.into()];
    let start = |addresses| {
        built_in::start_tbench(addresses, tbench::PORT, socket_options.clone()).map_err(|error| {
            // Its port is fixed, so it has no port option.
            error.with_help("filestone serve --tbench takes another port with --port")
        })
    };
    start(&all[..]).or_else(|_| start(&all[..1]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(words: &[&str]) -> Result<Request, String> {
        let words: Vec<String> = words.iter().map(ToString::to_string).collect();
        parse(&words)
    }

    fn serve(list: &str) -> Result<Request, String> {
        Ok(Request::Serve {
            options: list.parse().unwrap(),
            passed_over: vec![],
        })
    }

    #[test]
    fn its_one_option_is_read_as_getopt_does() {
        assert_eq!(parsed(&[]), serve("TCP_NODELAY SO_REUSEADDR"));
        assert_eq!(parsed(&["-t", "SO_KEEPALIVE"]), serve("SO_KEEPALIVE"));
        assert_eq!(
            parsed(&["-tSO_SNDBUF=9000,TCP_NODELAY"]),
            serve("SO_SNDBUF=9000 TCP_NODELAY")
        );
        assert_eq!(parsed(&["-h"]), Ok(Request::Help));
    }

    #[test]
    fn what_it_does_not_have_is_refused() {
        assert_eq!(
            parsed(&["-x"]),
            Err("-x: tbench_srv has no such option".into())
        );
        assert_eq!(parsed(&["-t"]), Err("-t: a value is missing".into()));
    }

    #[test]
    fn what_the_original_passes_over_is_passed_over_and_said() {
        let words = ["further", "-t", "SO_WARP TCP_NODELAY", "words"];
        let Ok(Request::Serve {
            options,
            passed_over,
        }) = parsed(&words)
        else {
            panic!("it serves");
        };
        assert_eq!(options, "TCP_NODELAY".parse().unwrap());
        assert!(passed_over[0].ends_with(": SO_WARP is passed over"));
        assert_eq!(
            passed_over[1],
            "further arguments are passed over: further words"
        );
    }
}
