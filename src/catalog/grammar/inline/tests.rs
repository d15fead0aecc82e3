use super::*;

#[track_caller]
fn harmless(read: fn(&str) -> Option<Harmless>, texts: &[&str]) {
    for text in texts {
        assert!(read(text).is_some(), "{text} is refused");
    }
}

#[track_caller]
fn refused(read: fn(&str) -> Option<Harmless>, texts: &[&str]) {
    for text in texts {
        assert_eq!(read(text), None, "{text}");
    }
}

#[test]
fn python_that_only_prints_data_is_harmless() {
    harmless(
        python,
        &[
            "",
            "print(1)",
            "print('a', \"b\", 1.5, -2 // 3)",
            "import sys; print(sys.version)",
            "import json, sys\nd = json.load(sys.stdin)\nprint(d['a'][0].get('b'))",
            "import json,sys\nfor k, v in json.load(sys.stdin).items():\n    print(k, len(v), sep='\\t')",
            "import json,sys; print(json.dumps([x['name'] for x in json.load(sys.stdin)], indent=2))",
            "import sys; print(sys.stdin.read().upper())",
            "print('''a\nb''')  # done",
        ],
    );
}

#[test]
fn python_that_reaches_more_than_data_is_refused() {
    refused(
        python,
        &[
            "import os",
            "import json as sys",
            "from sys import path",
            "import sys; sys.path[0] = '/tmp'",
            "import sys; sys.path.append('/tmp')",
            "import sys; sys.modules['os'].system('id')",
            "import sys; sys.stdout = 1",
            "print(json)",
            "__import__('os')",
            "eval('1')",
            "exec ('1')",
            "print\n(1)('x')",
            "print(1)(2)",
            "''.__class__",
            "''.format(1)",
            "f'{eval(1)}'",
            "open('x', 'w')",
            "open(x)",
            "x = open; x('y')",
            "print = eval; print('1')",
            "(lambda: 1)()",
            "sorted([1], key=eval)",
            "1or eval('1')",
            "# coding: utf-7\nprint(1)",
            "'\\N{DASH}'",
            "print(2 ** 9 ** 9)",
            "print(x := 1)",
            "class A: pass",
            "@print\ndef f(): 1",
            "print(`1`)",
            "ｅval('1')",
            "'a\nb'",
            "'a",
        ],
    );
}

#[test]
fn python_names_the_files_it_reads() {
    let read = python("print(open('.env').read())").map(|harmless| harmless.reads);
    assert_eq!(read, Some(vec![".env".to_owned()]));
}

#[test]
fn javascript_that_only_prints_data_is_harmless() {
    harmless(
        javascript,
        &[
            "1 + 1",
            "process.version",
            "process.versions.v8",
            "console.log(process.version)",
            "console.log(JSON.stringify({a: 1, 'b': [2]}, null, 2))",
            "require('./package.json').version",
            "Object.keys(require('./package.json').scripts).join(', ')",
            "const p = require('./package.json'); console.log(p.name, p['version'])",
            "JSON.parse(require('fs').readFileSync('package.json', 'utf8')).version",
            "JSON.parse(require('fs').readFileSync(0)).map(x => x.id).filter((a) => a >= 2).join(',')",
        ],
    );
}

#[test]
fn javascript_that_reaches_more_than_data_is_refused() {
    refused(
        javascript,
        &[
            "require('child_process')",
            "require('./x')",
            "require('./x.js')",
            "require('left-pad')",
            "require('x.json')",
            "require('fs').rmSync('x')",
            "require('fs').readFileSync(x)",
            "require",
            "process.env",
            "[...process.env]",
            "process.binding('fs')",
            "process.mainModule.require('fs')",
            "process['env']",
            "eval('1')",
            "Function('1')()",
            "''.constructor.constructor('1')()",
            "''['constructor']",
            "''['constr' + 'uctor']",
            "const k = 'x'; const d = {}; d[k]",
            "const d = {}; d.of['constr' + 'uctor']",
            "const f = x => x; f(1)",
            "(x => x)(1)",
            "`${1}`",
            "console.log`1`",
            "import('fs')",
            "new Date",
            "globalThis",
            "this",
            "x = 1",
            "console.log = 1",
            "process.exitCode = 1",
            "const d = {}; d.a = 1",
            "({constructor: f}) => f",
            "1 <!-- x",
            "1 /x/ 2",
            "\\u0065val(1)",
            "const process = 1",
            "for (of of [1]) of(1)",
            "for (const x of [1]) console.log(x)",
            "let x = 1; for ({'constructor': x} of ['']) 1",
            "let x = 1; x >>= 2",
            "true['constr' + 'uctor']",
            "let(1)",
        ],
    );
}

#[test]
fn javascript_names_the_files_it_reads_and_loads() {
    let read = javascript("require('./a.json').x + require('fs').readFileSync('b', 'utf8')");
    let expected = Harmless {
        reads: vec!["b".to_owned()],
        requires: vec!["./a.json".to_owned()],
    };
    assert_eq!(read, Some(expected));
}
