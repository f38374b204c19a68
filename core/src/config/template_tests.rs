use alloc::vec;

use super::*;
use crate::config::environment::Setting;

fn value(name: &str) -> Option<String> {
    match name {
        "FOO" => Some("foo".into()),
        "EMPTY" => Some(String::new()),
        "A B" => Some("spaced".into()),
        "LOOP" => Some("${FOO}$FOO!x{env:FOO}".into()),
        _ => None,
    }
}

fn constants() -> BTreeMap<String, String> {
    [("workspaceFolder", "/w"), ("/", "/"), ("ROOT", "/p/${FOO}")]
        .map(|(name, text)| (name.to_string(), text.to_string()))
        .into()
}

fn filled(text: &str, role: Role, variables: Variables) -> String {
    Template::of(text, role, variables, &constants()).filled(value)
}

fn every(variables: Variables, cases: &[(&str, &str)]) {
    for (text, wanted) in cases {
        assert_eq!(filled(text, Role::Word, variables), *wanted, "{text} {variables:?}");
    }
}

/// The vectors of the documented runtime, G61.
#[test]
fn braces_are_expanded_as_documented() {
    let vectors = [
        ("${FOO}", "foo"),
        ("${NOPE}", "${NOPE}"),
        ("${NOPE:-def}", "def"),
        ("${NOPE:-}", ""),
        ("${EMPTY:-def}", ""),
        ("${FOO:-x}y${FOO}", "fooyfoo"),
        ("$FOO", "$FOO"),
        ("${NOPE:-a:b-c}", "a:b-c"),
        ("${FOO:-a}b}", "foob}"),
        ("${FOO:bar}", "${FOO:bar}"),
        ("${}", "${}"),
        ("${A B}", "spaced"),
        ("$${FOO}", "$foo"),
        ("${FOO", "${FOO"),
        ("${NOPE:-${FOO}}", "${FOO}"),
        ("\\${FOO}", "\\foo"),
    ];
    for variables in
        [Variables::Braces, Variables::Documented, Variables::BracesOrWhole, Variables::Native]
    {
        every(variables, &vectors);
    }
    for variables in [Variables::Braces, Variables::Documented, Variables::BracesOrWhole] {
        let kept = [("${env:FOO}", "${env:FOO}"), ("${input:tok}", "${input:tok}")];
        every(variables, &kept);
        let template = Template::of("${env:FOO}", Role::Word, variables, &BTreeMap::new());
        assert_eq!(template.plain(), Some("${env:FOO}"));
    }
}

#[test]
fn every_tool_has_its_own_placeholders() {
    every(Variables::None, &[("${FOO}$FOO{env:FOO}", "${FOO}$FOO{env:FOO}")]);
    every(
        Variables::BracesEnv,
        &[
            ("${env:FOO}/${workspaceFolder}${/}", "foo//w/"),
            ("${FOO}$FOO", "${FOO}$FOO"),
            ("${env:NOPE}", "${env:NOPE}"),
            ("${env:NOPE:-x}", "x"),
            ("${env:}", "${env:}"),
        ],
    );
    every(
        Variables::Dollar,
        &[
            ("$FOO.${FOO}.${NOPE:-d}", "foo.foo.d"),
            ("$FOOL $ $5 $$FOO", "$FOOL $ $5 $foo"),
            ("é$FOOé", "éfooé"),
        ],
    );
    every(Variables::DollarOrShell, &[("$FOO", "foo"), ("$FOO $(cat $FOO)", "$FOO $(cat $FOO)")]);
    every(
        Variables::Curly,
        &[("{env:FOO}{env:NOPE}!{env:}", "foo!{env:}"), ("{file:~/x}", "{file:~/x}")],
    );
    every(
        Variables::Mustache,
        &[("Bearer ${{ secrets.FOO }}${{inputs.FOO}}", "Bearer foofoo"), ("${{ x }}", "${{ x }}")],
    );
    every(Variables::BracesOrWhole, &[("$env:FOO", "foo"), ("x$env:FOO", "x$env:FOO")]);
    every(Variables::Native, &[("${env:FOO}${workspaceFolder}", "foo/w"), ("FOO", "FOO")]);
}

#[test]
fn some_tools_expand_headers_only() {
    let goose = |role| filled("$FOO ${FOO}", role, Variables::DollarInHeaders);
    assert_eq!(goose(Role::Header), "foo foo");
    assert_eq!(goose(Role::Env), "$FOO ${FOO}");
    assert_eq!(goose(Role::Word), "$FOO ${FOO}");
}

/// Seed runtime 3.2.
#[test]
fn a_whole_value_may_be_a_command_or_the_name_of_a_variable() {
    for variables in [Variables::Documented, Variables::Native] {
        for role in [Role::Env, Role::Header] {
            let parts = |text| Template::of(text, role, variables, &BTreeMap::new()).parts;
            assert_eq!(filled("FOO", role, variables), "foo");
            assert_eq!(filled("EMPTY", role, variables), "EMPTY");
            assert_eq!(filled("toString", role, variables), "toString");
            assert_eq!(filled("${FOO}", role, variables), "foo");
            let command =
                Part::Command { line: "pass ${FOO}".into(), written: "!pass ${FOO}".into() };
            assert_eq!(parts("!pass ${FOO}"), [command]);
            assert_eq!(parts(" !x"), [Part::Named(" !x".into())]);
        }
        assert_eq!(filled("!FOO", Role::Word, variables), "!FOO");
    }
}

/// G61.
#[test]
fn what_is_put_for_a_part_is_never_looked_at_again() {
    for variables in [Variables::Native, Variables::Dollar] {
        assert_eq!(filled("${LOOP}", Role::Env, variables), "${FOO}$FOO!x{env:FOO}");
        assert_eq!(filled("${ROOT}", Role::Env, variables), "/p/${FOO}");
    }
}

#[test]
fn what_cannot_be_put_is_known_from_the_names_alone() {
    let environment = Environment::from_iter([
        ("FOO".to_string(), Setting::Filled),
        ("EMPTY".to_string(), Setting::Empty),
    ]);
    let missing = |text: &str, variables| {
        let template = Template::of(text, Role::Env, variables, &BTreeMap::new());
        let parts: Vec<String> =
            template.unresolved(&environment).map(|part| part.written().into()).collect();
        parts
    };
    let none: Vec<String> = vec![];
    assert_eq!(missing("a${FOO}${EMPTY}${NOPE:-}", Variables::Native), none);
    assert_eq!(missing("a${NOPE}b", Variables::Native), ["${NOPE}"]);
    assert_eq!(missing("!x", Variables::Native), none);
    assert_eq!(missing("${input:x}", Variables::Native), none);
    assert_eq!(missing("${file:/x}", Variables::BracesEnvOrFile), ["${file:/x}"]);
    assert_eq!(missing("a $(b)", Variables::DollarOrShell), ["a $(b)"]);
    assert!(environment.is_filled("FOO") && !environment.is_filled("EMPTY"));
}

#[test]
fn a_long_text_without_an_end_takes_linear_time() {
    for unit in ["${", "$", "{env:", "${{ secrets."] {
        for variables in
            [Variables::Native, Variables::Dollar, Variables::Curly, Variables::Mustache]
        {
            for end in ["", "}", "}}"] {
                let text = unit.repeat(100_000) + end;
                let template = Template::of(&text, Role::Word, variables, &BTreeMap::new());
                let written: String = template.parts.iter().map(Part::written).collect();
                assert_eq!(written, text);
            }
        }
    }
}
