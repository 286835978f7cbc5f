use super::*;
use filestone_workload::figure::{Quantity, RunFigure, Statistic, TimeKind};
use filestone_workload::kind::OpKind;

fn gate(text: &str) -> Gate {
    let read = text.parse();
    read.unwrap_or_else(|error: GateError| panic!("{text}: {error}"))
}

fn error(text: &str) -> GateError {
    text.parse::<Gate>().expect_err(text)
}

#[test]
fn a_comparison_is_a_figure_a_sign_and_a_number_with_its_unit() {
    let read = gate(" read.response_time.p99 > 2ms ");
    assert_eq!(read.to_string(), "read.response_time.p99 > 2ms");
    let figure = RunFigure {
        operation: Some(OpKind::Read),
        quantity: Quantity::Time(TimeKind::Response, Statistic::P99),
    };
    let place = TextSpan { start: 0, end: 22 };
    let condition = Condition {
        value: Expression::Figure(GateFigure::OfOperations(figure), place),
        relation: Relation::Above,
        limit: Expression::Literal(2e6),
        dimension: Dimension::of(figure.quantity.unit()),
    };
    assert_eq!(read.condition(), &condition);
    assert_eq!(condition.dimension.unit().as_deref(), Some("ns"));
}

#[test]
fn numbers_have_the_units_of_the_command_line() {
    for (limit, number) in [
        ("response_time.p50 > 500us", 500e3),
        ("response_time.p50 > 1.5 ms", 1.5e6),
        ("response_time.p50 > 7µs", 7000.0),
        ("achieved < 20000/s", 20_000.0),
        ("achieved < 20k/s", 20_000.0),
        ("achieved < 24900 operations/s", 24_900.0),
        ("goodput < 100MiB/s", 104_857_600.0),
        ("goodput < 100 MB/s", 100e6),
        ("generator_busy >= 80%", 0.8),
        ("errors != 3", 3.0),
    ] {
        assert_eq!(
            gate(limit).condition().limit,
            Expression::Literal(number),
            "{limit}"
        );
    }
}

#[test]
fn every_figure_has_its_name() {
    for total in RunTotal::ALL {
        assert_eq!(total.name().parse(), Ok(GateFigure::OfRun(*total)));
        assert_eq!(GateFigure::OfRun(*total).to_string(), total.name());
    }
    for quantity in Quantity::all() {
        let name = quantity.to_string();
        let figure = GateFigure::OfOperations(RunFigure::of_all(quantity));
        assert_eq!(name.parse(), Ok(figure), "{name}");
    }
}

#[test]
fn a_count_alone_must_be_none() {
    for name in ["caveats", "errors", "read.errors", "mismatches"] {
        let alone = gate(name);
        let written = gate(&format!("{name} > 0"));
        assert_eq!(alone.condition(), written.condition());
    }
}

/// Returns the expression with parentheses that show the precedence: products before sums,
/// left-associative.
fn in_order(expression: &Expression) -> String {
    match expression {
        Expression::Literal(number) => number.to_string(),
        Expression::Figure(figure, _) => figure.to_string(),
        Expression::Calculated {
            how, left, right, ..
        } => {
            let sign = match how {
                Arithmetic::Add => '+',
                Arithmetic::Subtract => '-',
                Arithmetic::Multiply => '*',
                Arithmetic::Divide => '/',
            };
            format!("({}{sign}{})", in_order(left), in_order(right))
        }
    }
}

#[test]
fn products_come_before_sums_and_both_from_the_left() {
    for (text, order) in [
        ("errors > 1 + 2 * 3 - 4", "((1+(2*3))-4)"),
        ("errors > 8 / 2 / 2", "((8/2)/2)"),
        ("errors > (1 + 2) * 3", "((1+2)*3)"),
        ("errors > 0.1% * scheduled", "(0.001*scheduled)"),
        ("errors > 1000/scheduled", "(1000/scheduled)"),
    ] {
        assert_eq!(in_order(&gate(text).condition().limit), order, "{text}");
    }
}

#[test]
fn units_are_calculated_with() {
    for text in [
        "achieved < 0.98 * offered",
        "achieved / offered < 98%",
        "goodput / achieved < 4KiB",
        "scheduled / achieved > 2s",
        "achieved * response_time.mean > 16",
        "response_time.p99 > 3 * response_time.p50 + 1ms",
        "1 / response_time.mean < 1000/s",
    ] {
        gate(text);
    }
    assert_eq!(gate("errors > 1").condition().dimension.unit(), None);
    assert_eq!(
        gate("generator_busy > 90%").condition().dimension.unit(),
        None
    );
    assert!("errors > 5%".parse::<Gate>().is_err());
    assert!("errors / scheduled > 5%".parse::<Gate>().is_ok());
    let odd = gate("goodput * goodput > goodput * goodput");
    let unit = odd.condition().dimension.unit();
    assert_eq!(unit.as_deref(), Some("bytes^2 s^-2"));
}

#[test]
fn what_is_wrong_is_shown_where_it_is_wrong() {
    let mut text = String::new();
    let long = format!("errors > {}", "1+".repeat(200));
    let deep = format!("errors > {}1", "(".repeat(17));
    for wrong in [
        "",
        "read.respnse_time.p99 > 2ms",
        "read.p99 > 2ms",
        "reed.response_time.p99 > 2ms",
        "response_time.p99.9 > 2ms",
        "caveat",
        "banana > 1",
        "read.cpu_per_operation > 1us",
        "read.response_time.p99 > 2 msec",
        "read.response_time.p99 > 1.2.3ms",
        "read.response_time.p99 > 2",
        "read.response_time.p99 > 2000/s",
        "achieved < 20000",
        "achieved < 10k",
        "achieved + response_time.mean > 1/s",
        "achieved",
        "2 > ",
        "2",
        "errors > 24,900",
        "errors = 0",
        "errors > 0 && caveats",
        "errors > 0 or caveats",
        "1ms < response_time.p99 < 2ms",
        "errors > (1 + 2",
        "errors > 1)",
        "errors > * 2",
        "errors caveats",
        "errors > 1 2",
        "errors > 0 \u{1b}[31m",
        &deep,
        &long,
    ] {
        let error = error(wrong);
        let help = error.help.as_deref().unwrap_or("-");
        text.push_str(&format!("{error}\n{}\nhelp: {help}\n\n", error.picture()));
    }
    insta::assert_snapshot!(text);
}

#[test]
fn a_stored_gate_is_its_text() {
    let plan = GatesPlan {
        fail_if: vec![gate("errors > 0")],
        strict: true,
    };
    let json = serde_json::to_string(&plan).expect("a text");
    assert_eq!(json, r#"{"fail_if":["errors > 0"],"strict":true}"#);
    let read: GatesPlan = serde_json::from_str(&json).expect("a gate");
    assert_eq!(read, plan);
    let wrong = serde_json::from_str::<GatesPlan>(r#"{"fail_if":["errs > 0"]}"#);
    let said = wrong.expect_err("no figure").to_string();
    assert!(
        said.starts_with("gate \"errs > 0\": column 1: there is no figure \"errs\""),
        "{said}"
    );
}

mod whatever_is_read {
    use super::*;
    use proptest::prelude::*;

    /// Parts of gates in random order; many results are almost gates.
    fn parts() -> impl Strategy<Value = String> {
        let part = prop::sample::select(vec![
            "errors",
            "read.achieved",
            "offered",
            "caveats",
            "2ms",
            "0.98",
            "1e",
            "/s",
            "k/s",
            "%",
            "MiB",
            "<",
            "<=",
            ">",
            "==",
            "!",
            "=",
            "+",
            "-",
            "*",
            "/",
            "(",
            ")",
            " ",
            ".",
            "µ",
            "\u{1b}",
            "∞",
            "999999999999999999999999",
        ]);
        prop::collection::vec(part, 0..40).prop_map(|parts| parts.concat())
    }

    /// Letters, digits and operators in random order, with some multi-byte and zero-width
    /// characters.
    fn letters() -> impl Strategy<Value = String> {
        let signs = "µ%/ .<>=!+-*()&|,_\t\u{a0}é∞日😀\u{301}\u{200b}";
        let letters = "aehikmoprstuKMGB0123456789".chars().chain(signs.chars());
        let letter = prop::sample::select(letters.collect::<Vec<_>>());
        prop::collection::vec(letter, 0..80).prop_map(|letters| letters.into_iter().collect())
    }

    /// A gate with a few characters replaced.
    fn nearly() -> impl Strategy<Value = String> {
        let gate = prop::sample::select(vec![
            "read.response_time.p99 > 2ms",
            "achieved < 0.98 * offered",
            "(goodput + 1 MiB/s) / achieved >= 4KiB",
            "generator_busy >= 80 %",
            "response_time.p50 > 7µs",
        ]);
        (gate, letters(), any::<prop::sample::Index>()).prop_map(|(gate, letters, at)| {
            let mut gate: Vec<char> = gate.chars().collect();
            let at = at.index(gate.len());
            let few = letters.chars().take(3).collect::<Vec<_>>();
            let end = (at + few.len()).min(gate.len());
            gate.splice(at..end, few);
            gate.into_iter().collect()
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]
        #[test]
        fn reading_does_not_panic(text in prop_oneof![parts(), letters(), nearly(), any::<String>()]) {
            match text.parse::<Gate>() {
                Ok(gate) => {
                    prop_assert_eq!(gate.to_string().parse(), Ok(gate));
                }
                Err(error) => {
                    prop_assert!(!error.message.is_empty());
                    prop_assert_eq!(error.picture().lines().count(), 2);
                    // A missing part has its position after the last character.
                    let TextSpan { start, end } = error.place;
                    prop_assert!(start <= end && error.text.get(start..end).is_some());
                    let letters = error.text.chars().count();
                    prop_assert!((1..=letters + 1).contains(&error.column()));
                    let part = error.text.get(start..end).unwrap_or_default();
                    prop_assert_eq!(part.is_empty(), start == error.text.len());
                    prop_assert_eq!(error.text.as_str(), text.trim());
                }
            }
        }
    }
}
