//! `filestone compare`: real runs, and what is no run.

use crate::support::{Scratch, done, filestone, serve, text};
use serde_json::{Value, json};

/// A run on the built-in server that is long enough for intervals of its figures.
fn measure(address: &str, output: &str, more: &[&str]) {
    let target = format!("nfs://{address}/export");
    let mut arguments = vec![
        "probe",
        "getattr",
        &target,
        "--duration",
        "1200ms",
        "--report-interval",
        "100ms",
        "--no-calibrate",
        "--output",
        output,
    ];
    arguments.extend(more);
    done(&arguments);
}

#[test]
fn two_runs_and_one_against_several_are_compared() {
    let (_server, address, _out) = serve(&[]);
    let scratch = Scratch::new();
    let [one, two, three] = ["1", "side/2", "side/3"].map(|name| scratch.name(name));
    for output in [&one, &two, &three] {
        measure(&address, output, &[]);
    }
    let output = filestone(&["compare", &one, &two, "--format", "json"]);
    let code = output.status.code();
    assert!(
        [Some(0), Some(1), Some(125)].contains(&code),
        "{code:?}: {}",
        text(&output.stderr)
    );
    let found: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let verdict = found["verdict"].as_str().expect("a verdict");
    let expected = match code {
        Some(0) => ["better", "not-worse"].as_slice(),
        Some(1) => &["worse"],
        _ => &["cannot-tell"],
    };
    assert!(expected.contains(&verdict), "{code:?}: {verdict}");
    assert_eq!(found["figures"][0]["name"], "achieved", "{found:#}");

    let several = filestone(&["compare", &one, "--", &two, &three]);
    // Where lines end depends on the figures.
    let shown = text(&several.stdout).replace('\n', " ");
    assert!(shown.contains("single run is taken"), "{shown}");
    let side = scratch.name("side");
    let below = filestone(&["compare", &side, &one]);
    assert!(
        text(&below.stdout).contains("2 runs"),
        "a directory of repeats"
    );
    // A copy is no second run, whatever it is called.
    let copy = scratch.name("copy.json");
    std::fs::copy(format!("{one}/run.json"), &copy).expect("a record");
    for twice in [
        vec!["compare", &one, &copy],
        vec!["compare", &one, &copy, "--", &two],
        vec!["compare", &side, &two],
    ] {
        let refused = filestone(&twice);
        assert_eq!(refused.status.code(), Some(2), "{}", text(&refused.stdout));
        let said = text(&refused.stderr);
        assert!(
            said.contains("this is one run, which would count twice"),
            "{said}"
        );
    }

    // Ten times as slow is worse, whatever the host does meanwhile.
    let (_slow, address, _out) = serve(&["--fault", "delay=5ms"]);
    let slow = scratch.name("slow");
    measure(&address, &slow, &[]);
    let output = filestone(&["compare", &one, &slow]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stdout));
    // The other way all that is judged must be known, which a single run of a second on a host that
    // stalls is not: its operations of some intervals are all slower than those of the others.
    let slower = scratch.name("slower");
    measure(&address, &slower, &[]);
    let of_p50 = ["compare", "--decide-by", "response_time.p50"];
    let sides = [&slow, &slower, "--", &one, &two, &three];
    let other_way = filestone(&[of_p50.as_slice(), &sides].concat());
    let said = text(&other_way.stdout);
    assert_eq!(other_way.status.code(), Some(0), "{said}");
    let svg = filestone(&["compare", &one, &slow, "--format", "svg"]);
    assert!(text(&svg.stdout).starts_with("<?xml") || text(&svg.stdout).starts_with("<svg"));
    let page = filestone(&["compare", &one, &slow, "--format", "html"]);
    assert!(text(&page.stdout).starts_with("<!DOCTYPE html>"));

    // Another plan is refused unless that is allowed.
    let unlike = scratch.name("unlike");
    measure(&address, &unlike, &["-j", "2"]);
    let refused = filestone(&["compare", &slow, &unlike]);
    assert_eq!(refused.status.code(), Some(2));
    let said = text(&refused.stderr);
    assert!(
        said.contains("plan: ") && said.contains("--ignore plan"),
        "{said}"
    );
    let allowed = filestone(&["compare", &slow, &unlike, "--ignore", "plan"]);
    assert_ne!(allowed.status.code(), Some(2), "{}", text(&allowed.stderr));
}

#[test]
fn a_run_that_is_invalid_is_compared_only_if_that_is_asked_for() {
    let (_server, address, _out) = serve(&[]);
    let scratch = Scratch::new();
    let [one, lost] = ["1", "lost"].map(|name| scratch.name(name));
    for output in [&one, &lost] {
        measure(&address, output, &[]);
    }
    // As a run is recorded whose server went away before its end.
    let path = format!("{lost}/run.json");
    let record = std::fs::read_to_string(&path).expect("a record");
    let mut record: Value = serde_json::from_str(&record).expect("JSON");
    record["validity"] = json!("invalid");
    let caveats = record["caveats"].as_array_mut().expect("a list");
    caveats.push(json!({"caveat": "target-lost", "message": "gone"}));
    std::fs::write(&path, record.to_string()).expect("a file");

    for sides in [[&one, &lost], [&lost, &one]] {
        let refused = filestone(&["compare", sides[0], sides[1]]);
        assert_eq!(refused.status.code(), Some(2), "{}", text(&refused.stdout));
        let said = text(&refused.stderr);
        assert!(
            said.contains("lost/run.json does not count (the target was lost)")
                && said.contains("--ignore validity"),
            "{said}"
        );
        let allowed = ["compare", sides[0], sides[1], "--ignore", "validity"];
        let allowed = filestone(&allowed);
        assert_ne!(allowed.status.code(), Some(2), "{}", text(&allowed.stderr));
        let shown = text(&allowed.stdout).replace('\n', " ");
        assert!(shown.contains("although        validity: "), "{shown}");
    }
}

#[test]
fn what_is_no_run_is_refused() {
    let scratch = Scratch::new();
    let empty = scratch.name("");
    let other = scratch.name("none.json");
    for (arguments, said) in [
        (
            vec!["compare", &empty, &empty],
            "there is no run record in it",
        ),
        (vec!["compare", &other, &other], "no such file or directory"),
        (vec!["compare", &empty], "expected two, not 1"),
        (
            vec!["compare", &empty, &empty, "--decide-by", "achived"],
            "did you mean achieved?",
        ),
    ] {
        let output = filestone(&arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let shown = text(&output.stderr);
        assert!(shown.contains(said), "{arguments:?}: {shown}");
    }
    for (name, content, said) in [
        ("text.json", "hello", "this is not JSON"),
        ("list.json", "[]", "this list is empty"),
        ("other.json", "{}", "not a run record"),
        ("newer.json", "{\"format\": 99}", "format 99"),
        ("cut.json", "{\"format\": 1, \"method\": 2}", "damaged"),
    ] {
        let file = scratch.file(name, content);
        let output = filestone(&["compare", &file, &file]);
        assert_eq!(output.status.code(), Some(2), "{name}");
        let shown = text(&output.stderr);
        assert!(shown.contains(said), "{name}: {shown}");
    }
}

#[test]
fn beside_runs_may_stand_other_documents_but_no_run_that_cannot_be_read() {
    let scratch = Scratch::new();
    let runs = scratch.name("runs");
    let one = format!("{runs}/1");
    let measured = ["probe", "null", "-d", "100ms", "--no-calibrate", "-o", &one];
    done(&measured);
    for (name, other) in [
        ("ab.json", "{\"format\": 1, \"end\": \"all\"}"),
        ("a.json", "[]"),
        ("b.json", "[1, 2]"),
    ] {
        std::fs::write(format!("{runs}/{name}"), other).expect("a file");
    }
    let explained = || filestone(&["explain", &runs]);
    assert_eq!(
        explained().status.code(),
        Some(0),
        "{}",
        text(&explained().stderr)
    );
    let cut = format!("{runs}/cut.json");
    std::fs::write(&cut, "{\"format\": 1, \"method\"").expect("a file");
    let said = explained();
    assert_eq!(said.status.code(), Some(2));
    assert!(
        text(&said.stderr).contains("cut.json: this is not JSON"),
        "{}",
        text(&said.stderr)
    );
    std::fs::remove_file(cut).expect("it was there");
    // It is there, and nobody can read it.
    std::fs::create_dir(format!("{runs}/2")).expect("a directory");
    std::os::unix::fs::symlink("run.json", format!("{runs}/2/run.json")).expect("a link");
    let said = explained();
    assert_eq!(said.status.code(), Some(2));
    assert!(
        text(&said.stderr).contains("2/run.json: "),
        "{}",
        text(&said.stderr)
    );
}

#[test]
fn what_never_ends_is_not_read_and_what_is_long_is_not_echoed() {
    let scratch = Scratch::new();
    let refused = filestone(&["compare", "/dev/zero", "/dev/zero"]);
    assert_eq!(refused.status.code(), Some(2));
    let said = text(&refused.stderr);
    assert!(said.contains("neither a file nor a pipe"), "{said}");
    let ones = vec!["1"; 100_000].join(",");
    for long in [
        format!("{{\"format\": [{ones}]}}"),
        format!("{{\"format\": 1, \"method\": \"{ones}\"}}"),
    ] {
        let long = scratch.file("long.json", &long);
        let refused = filestone(&["compare", &long, &long]);
        assert_eq!(refused.status.code(), Some(2));
        assert!(
            refused.stderr.len() < 1000,
            "{} bytes",
            refused.stderr.len()
        );
    }
}
