#![no_main]

//! Whatever is in a load file, compiling it does not panic, and what compiles
//! can be walked through, a bounded time per step, naming nothing unsafe.

use filestone_workload::load::{Compiler, LoadAction, Script, ScriptAction};
use libfuzzer_sys::fuzz_target;
use std::sync::Arc;

const STEPS: usize = 10_000;

fuzz_target!(|input: &[u8]| {
    let mut compiler = Compiler::new("fuzz");
    for line in input.split(|byte| *byte == b'\n') {
        compiler.line(line);
    }
    let load = match compiler.finish() {
        Ok(load) => Arc::new(load),
        Err(errors) => {
            assert!(!errors.errors.is_empty() && !errors.to_string().is_empty());
            return;
        }
    };
    assert!(load.steps().count() as u64 >= load.operations());
    let mut script = Script::new(load, 3, 5, 1);
    for _ in 0..STEPS {
        if let Ok(ScriptAction::Operation(line)) = script.next() {
            assert!(!line.data.bytes.is_empty());
            check(&line.action);
        }
    }
});

/// Nothing outside `clients/` is taken away, and no name leads upwards.
fn check(action: &LoadAction<'_>) {
    match action {
        LoadAction::Unlink { path }
        | LoadAction::Remove { path }
        | LoadAction::Rmdir { path }
        | LoadAction::Deltree { path }
        | LoadAction::Write { path, .. }
        | LoadAction::Create { path }
        | LoadAction::Rename { from: path, .. } => {
            assert!(path.starts_with(b"clients"), "{action:?}");
            let mut components = path.split(|byte| *byte == b'/');
            assert!(components.all(|name| !name.is_empty() && name != b".." && name != b"."));
        }
        _ => {}
    }
}
