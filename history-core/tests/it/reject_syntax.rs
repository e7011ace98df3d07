//! Invalid EDN and JSON: the message of the error, and its position.

use crate::common::check_errors as check;

#[test]
fn edn_that_is_none() {
    check(&[
        ("[", 0, "line 1, column 2: the text ends before the history does; expected ] after the last op"),
        ("{", 0, "line 1, column 1: the text ends before this { is closed; expected the rest of it"),
        ("{:type :ok", 0, "line 1, column 1: the text ends before this { is closed; expected the rest of it"),
        (
            "{:type :ok, :value [1 2}",
            0,
            "line 1, column 24: found '}' while [ is open (opened at line 1, column 20); expected ]",
        ),
        (
            "{:type :ok, :value [1 2)]}",
            0,
            "line 1, column 24: found ')' while [ is open (opened at line 1, column 20); expected ]",
        ),
        (
            "{:type :ok, :value}",
            0,
            "line 1, column 19: the last key of this map has no value (opened at line 1, column 1); expected an even number of forms",
        ),
        (
            "{:type :ok, :value #{1 2]}",
            0,
            "line 1, column 25: found ']' while #{ is open (opened at line 1, column 20); expected }",
        ),
        ("{:type :ok}}", 1, "line 1, column 12: '}' without an opening bracket; expected an EDN value"),
        (
            "[{:type :ok}] {:type :ok}",
            1,
            "line 1, column 15: found text after the end of the history; expected nothing more",
        ),
        ("[{:type :ok}", 1, "line 1, column 13: the text ends before the history does; expected ] after the last op"),
        ("({:type :ok}]", 1, "line 1, column 13: ']' without an opening bracket; expected an EDN value"),
        (
            "[{:type :ok}\n {:type :ok}",
            2,
            "line 2, column 13: the text ends before the history does; expected ] after the last op",
        ),
        (
            r#"{:type :ok :value "abc}"#,
            0,
            "line 1, column 19: the text ends before this string is closed; expected a closing quote",
        ),
        (
            r#"{:type :ok :value "a\qc"}"#,
            0,
            r#"line 1, column 21: unknown escape: a backslash before 'q'; expected one of \n \t \r \b \f \" \\ \uXXXX"#,
        ),
        (
            r#"{:type :ok :value "\u12G4"}"#,
            0,
            r"line 1, column 20: \u needs four hexadecimal digits; expected an escape such as \u00e9",
        ),
        (
            r#"{:type :ok :value "\ud800"}"#,
            0,
            r"line 1, column 20: one half of a surrogate pair is not a character; expected both halves, such as \ud83d\ude00",
        ),
        (
            r#"{:type :ok :value "\ud800\u0041"}"#,
            0,
            r"line 1, column 20: one half of a surrogate pair is not a character; expected both halves, such as \ud83d\ude00",
        ),
        (
            r"{:type :ok :value \}",
            0,
            "line 1, column 1: the text ends before this { is closed; expected the rest of it",
        ),
        (
            r"{:type :ok :value \foo}",
            0,
            r"line 1, column 19: \foo is not a character; expected \a, \newline, \space, \tab or \u0041",
        ),
        (
            "{:type :ok :value 012}",
            0,
            "line 1, column 19: a number that begins with a zero; expected a number, such as 12, 0.5 or 12N",
        ),
        (
            "{:type :ok :value 1e999}",
            0,
            "line 1, column 19: this number is too large for a float; expected at most about 1.8e308",
        ),
        (
            "{:type :ok :value 12abc}",
            0,
            "line 1, column 19: 12abc is not a number; expected a number, such as 12, 0.5 or 12N",
        ),
        (
            "{:type :ok :value 0x}",
            0,
            "line 1, column 19: 0x is not a number; expected a number, such as 12, 0.5 or 12N",
        ),
        ("{:type :ok :value ##Foo}", 0, "line 1, column 19: this is not a number; expected ##NaN, ##Inf or ##-Inf"),
        (
            "{:type :ok :value #<Foo>}",
            0,
            "line 1, column 19: unknown # form: # before '<'; expected #{...}, #tag, #_ or ##NaN",
        ),
        (
            "{:type :ok :value #}",
            0,
            "line 1, column 19: unknown # form: # before '}'; expected #{...}, #tag, #_ or ##NaN",
        ),
        ("{:type :ok :value #_}", 0, "line 1, column 21: #_ without a value to discard; expected a value after #_"),
        ("{:type :ok :value #foo}", 0, "line 1, column 23: a tag without a value; expected a value after the tag"),
        (
            "{:type :ok :value : }",
            0,
            "line 1, column 19: unexpected end of input after this character; expected a name after the colon",
        ),
        ("{:type :ok :value ^x}", 0, "line 1, column 19: '^' is not EDN; expected an EDN value"),
        ("{:type :ok :value @x}", 0, "line 1, column 19: '@' is not EDN; expected an EDN value"),
        ("{:type :ok :value \0}", 0, r"line 1, column 19: found '\0'; expected an EDN value"),
        (
            "{:type :ok :value [1 2 3 #_ ]}",
            0,
            "line 1, column 29: #_ without a value to discard; expected a value after #_",
        ),
        (
            "{:type :ok, :value {:a 1 :b}}\n",
            0,
            "line 1, column 28: the last key of this map has no value (opened at line 1, column 20); expected an even number of forms",
        ),
    ]);
}

#[test]
fn json_that_is_none() {
    check(&[
        (r#"{"type":"ok""#, 0, "line 1, column 1: the text ends before this { is closed; expected the rest of it"),
        (
            r#"{"type":"ok",}"#,
            0,
            "line 1, column 14: found '}' in the place of a key; expected a string in double quotes",
        ),
        (
            r#"{"type":"ok" "f":"x"}"#,
            0,
            r#"line 1, column 14: found '"' after a value while { is open (opened at line 1, column 1); expected a comma or }"#,
        ),
        (r#"{"type" "ok"}"#, 0, r#"line 1, column 9: found '"' after a key; expected a colon"#),
        (
            r#"{"type":"ok","value":[1,]}"#,
            0,
            "line 1, column 25: found ']' in the place of a value; expected a JSON value",
        ),
        (
            r#"{"type":"ok","value":[1 2]}"#,
            0,
            "line 1, column 25: found '2' after a value while [ is open (opened at line 1, column 22); expected a comma or ]",
        ),
        (
            r#"{"type":"ok","value":[1,2}"#,
            0,
            "line 1, column 26: found '}' after a value while [ is open (opened at line 1, column 22); expected a comma or ]",
        ),
        (
            r#"{"type":"ok","value":[,1]}"#,
            0,
            "line 1, column 23: found ',' in the place of a value; expected a JSON value",
        ),
        (
            r#"{"type":"ok","value":01}"#,
            0,
            "line 1, column 22: a number that begins with a zero; expected a number, such as 12, -3 or 0.5",
        ),
        (
            r#"{"type":"ok","value":-}"#,
            0,
            "line 1, column 22: a minus sign without digits; expected a number, such as 12, -3 or 0.5",
        ),
        (
            r#"{"type":"ok","value":1.}"#,
            0,
            "line 1, column 22: a number that ends in a point; expected a number, such as 12, -3 or 0.5",
        ),
        (
            r#"{"type":"ok","value":1e}"#,
            0,
            "line 1, column 22: a number whose exponent has no digits; expected a number, such as 12, -3 or 0.5",
        ),
        (
            r#"{"type":"ok","value":+1}"#,
            0,
            "line 1, column 22: found '+' in the place of a value; expected a JSON value",
        ),
        (
            r#"{"type":"ok","value":nul}"#,
            0,
            "line 1, column 22: this word is not JSON; expected null, true, false, a number, a string, [ or {",
        ),
        (
            r#"{"type":"ok","value":nulls}"#,
            0,
            "line 1, column 22: this word is not JSON; expected null, true, false, a number, a string, [ or {",
        ),
        (
            r#"{"type":"ok","value":-Inf}"#,
            0,
            "line 1, column 23: this word is not JSON; expected null, true, false, a number, a string, [ or {",
        ),
        (
            r#"{"type":"ok","value":1e999}"#,
            0,
            "line 1, column 22: this number is too large for a float; expected at most about 1.8e308",
        ),
        (
            r#"{"type":"ok","value":'a'}"#,
            0,
            r"line 1, column 22: found '\'' in the place of a value; expected a JSON value",
        ),
        (
            "{\"type\":\"ok\",\"value\":\"a\nb\"}",
            0,
            r"line 1, column 22: the line ends before this string is closed; expected a closing quote; write \n for a line break in a string",
        ),
        (
            r#"{"type":"ok","value":"\'"}"#,
            0,
            r#"line 1, column 23: unknown escape: a backslash before '\''; expected one of \n \t \r \b \f \" \\ \uXXXX"#,
        ),
        (
            r#"{"type":"ok","value":"\udc00"}"#,
            0,
            r"line 1, column 23: one half of a surrogate pair is not a character; expected both halves, such as \ud83d\ude00",
        ),
        (
            r#"{"type":"ok",3:4}"#,
            0,
            "line 1, column 14: found '3' in the place of a key; expected a string in double quotes",
        ),
        (r#"[{"type":"ok"},]"#, 1, "line 1, column 16: found ] after a comma; expected an op"),
        (
            r#"[{"type":"ok"} {"type":"ok"}]"#,
            1,
            "line 1, column 16: missing comma between two ops of an array; expected a comma or ]",
        ),
        (
            r#"[{"type":"ok"},{"type":"ok"}"#,
            2,
            "line 1, column 29: the text ends before the history does; expected ] after the last op",
        ),
        (r#"[,{"type":"ok"}]"#, 0, "line 1, column 2: found ',' in the place of a value; expected a JSON value"),
        (
            r#"{"type":"ok"},{"type":"ok"}"#,
            1,
            "line 1, column 14: found ',' in the place of a value; expected a JSON value",
        ),
        (r#"[{"type":"ok"}]]"#, 1, "line 1, column 16: found text after the end of the history; expected nothing more"),
        (
            r#"{"type":"ok"} // comment"#,
            1,
            "line 1, column 15: found '/' in the place of a value; expected a JSON value",
        ),
    ]);
}
