//! The program from outside: one binary, because each costs a link of everything.

mod ab;
mod command_line;
mod compare;
mod doctor;
mod documents;
mod explain;
mod fleet;
mod gates;
mod help;
mod history;
mod ladder;
mod limits;
mod live;
mod loopback;
mod metrics;
mod mix;
mod old_records;
mod outcomes;
mod repeat;
mod replay;
mod rules;
mod serve;
mod steered;
mod support;
mod sweep;
mod terminal;
