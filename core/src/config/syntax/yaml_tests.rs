use alloc::format;

use super::*;

fn shape(node: &Node<'_>) -> String {
    match &node.value {
        Value::Map(members) => {
            let each = |m: &Member<'_>| format!("{}@{}={}", m.key, m.line, shape(&m.node));
            format!("{{{}}}", members.iter().map(each).collect::<Vec<_>>().join(" "))
        }
        Value::List(items) => {
            format!("[{}]", items.iter().map(shape).collect::<Vec<_>>().join(" "))
        }
        Value::Text(text) => format!("{text:?}"),
        Value::Number(text) => text.to_string(),
        Value::Bool(value) => value.to_string(),
        Value::Null => "null".into(),
    }
}

fn read(text: &str) -> String {
    parse(text).expect(text).map_or_else(String::new, |root| shape(&root))
}

fn words(text: &str) -> (u32, FaultKind) {
    let fault = parse(text).expect_err(text);
    (fault.line, fault.kind)
}

#[test]
fn a_block_and_a_flow_are_the_same_tree() {
    let text = "a:\n  - x\n  - {b: 1, 'c': \"d\\n\"}\nempty:\ne: |\n  one\n  two\n";
    assert_eq!(read(text), r#"{a@1=["x" {b@3=1 c@3="d\n"}] empty@4=null e@5="one\ntwo\n"}"#);
    for nothing in ["", "# x\n", "---\n", "~"] {
        assert_eq!(read(nothing), "", "{nothing:?}");
    }
}

#[test]
fn scalars_are_of_the_core_schema() {
    for (text, wanted) in [
        ("yes", "\"yes\""),
        ("on", "\"on\""),
        ("No", "\"No\""),
        ("True", "true"),
        ("'true'", "\"true\""),
        ("!!str 5", "\"5\""),
        ("007", "7"),
        ("+5", "5"),
        ("0x1F", "31"),
        ("0o17", "15"),
        ("1_000", "\"1_000\""),
        ("1.5e3", "1.5e3"),
        ("-.5", "-.5"),
        ("1e-99", "1e-99"),
        ("1.2.3", "\"1.2.3\""),
        ("e5", "\"e5\""),
        (".", "\".\""),
        ("-", "[null]"),
        ("12:30", "\"12:30\""),
        ("2020-01-01", "\"2020-01-01\""),
    ] {
        assert_eq!(read(&format!("{text}\n")), wanted, "{text}");
    }
}

#[test]
fn aliases_stand_where_they_are_written_and_merges_lose() {
    let text =
        "base: &b {x: 1, y: 2}\nuse:\n  y: 3\n  <<: *b\nother:\n  <<: [*b, {z: 4, x: 5}]\n  x: 6\n";
    let wanted = "{base@1={x@1=1 y@1=2} use@2={y@3=3 x@4=1} other@5={y@6=2 z@6=4 x@7=6}}";
    assert_eq!(read(text), wanted);
    assert!(matches!(words("a: &a\n  b: *a\n"), (2, FaultKind::Syntax(_))));
    assert!(matches!(words("<<: 5\n"), (1, FaultKind::Syntax(_))));
}

#[test]
fn what_has_more_than_one_meaning_is_refused() {
    for (text, line) in [
        ("a: 1\nb: 2\na: 3\n", 3),
        ("{a: 1, a: 2}", 1),
        ("a: 1\n---\nb: 2\n", 2),
        ("? [a]\n: b\n", 1),
        ("a: 'x\n", 1),
        ("a: *nobody\n", 1),
        ("a:\n\t- b\n", 2),
    ] {
        let (at, kind) = words(text);
        assert!(matches!(kind, FaultKind::Syntax(_)), "{text}: {kind:?}");
        assert_eq!(at, line, "{text}");
    }
}

#[test]
fn bombs_are_refused() {
    for (open, close) in [("[", "]"), ("{a: ", "}")] {
        let nested = |n| format!("{}1{}", open.repeat(n), close.repeat(n));
        assert!(parse(&nested(100)).is_ok());
        assert_eq!(words(&nested(10_000)).1, FaultKind::TooDeep);
    }
    let block: String = (0..10_000).map(|n| format!("{}a:\n", " ".repeat(n))).collect();
    assert_eq!(words(&block).1, FaultKind::TooDeep);
    let mut laughs = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for n in 1..30 {
        let one = format!("*a{}, ", n - 1);
        laughs.push_str(&format!("a{n}: &a{n} [{}]\n", one.repeat(10)));
    }
    assert_eq!(words(&laughs).1, FaultKind::TooLarge);
    let mut chain = String::from("a0: &a0 [x]\n");
    for n in 1..1_000 {
        chain.push_str(&format!("a{n}: &a{n} [*a{}]\n", n - 1));
    }
    assert_eq!(words(&chain).1, FaultKind::TooDeep);
}
