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
            "\nimport json\nwith open('a.json', encoding='utf-8') as f:\n    d = json.load(f)\nprint(len(d))\n",
            "with open('a') as f, open('b', 'rb') as g: print(f.read(), g.read())",
            "import json\nd = json.load(open('a'))\nfor k, v in d.items(): print(f'{k:<10} {v!r} {d[\"x\"][1:2]} {{}}')",
            "for i, (k, v) in enumerate({'a': 1}.items()):\n  if i > 0 and k != 'x':\n    n = v\n    print(n)\n  else: pass",
            "n = 0\nd = {}\nfor x in [1, 2]:\n\tn += x\n\n\t# so far\n\td['n'] = n\nprint(n, d)",
            "a, b = c = 1, 2; print(a, b, c)",
            "print(2**32, -2 ** 8, hex(255), ord('a'), chr(97), type(1), type('').__name__)",
            "print({k: v for k, v in [(1, 2)] if v}, [x for xs in [[1]] for x in xs], sum(x for x in [1]))",
            "print(sorted([[1]], key=lambda x: x[0], reverse=True), max(['a'], key=len, default=None))",
            "import json; print(json.dumps({}, default=str, separators=(',', ':')))",
            "import sys\nfor line in sys.stdin:\n    print(line.strip() if line else 'none', 'a' f'{line}', file=sys.stderr)",
        ],
    );
}

#[test]
fn a_name_of_python_that_the_text_does_not_surely_bind_is_not_data() {
    refused(
        python,
        &[
            "import json\nfor eval in []: 1\nprint(json.dumps(b'1', default=eval))",
            "import json; print([1 for exec in []], json.dumps(b'1', default=exec))",
            "if 0: eval = 1\nprint(sorted([1], key=eval))",
            "import json; print(json.dumps(b'1', default=exit))",
            "for x in []: 1\nprint(x)",
            "for x in []: y = 1\nprint(y)",
            "if 0: x = 1\nprint(x)",
            "if 0:\n  x = 1\nelse:\n  print(x)",
            "if 0:\n  x = 1\nprint(x)",
            "print([x for x in [1]], x)",
            "print([1 for y in [x] for x in y])",
            "print([x for y in x for x in [y]])",
            "print(sorted([1], key=lambda x: x), x)",
            "print(x)\nx = 1",
            "x = x",
            "if 0:\n  with open('a') as f: x = 1\nprint(x)",
            "print(f'{x}')\nx = 1",
            "x: int\nprint(x)",
            "quit = 1",
            "__builtins__ = 1",
            "KeyError = 1",
            "for open in ['a']: open('a', 'w')",
            "print([open for open in []])",
            "lambda eval: eval",
            "with open('a') as exec: 1",
            "import sys as x, json",
        ],
    );
}

#[test]
fn a_value_of_python_that_is_called_is_written_out_or_listed() {
    refused(
        python,
        &[
            "x = 1\nprint(sorted([1], key=x))",
            "x = [1]\nprint(sorted([1], key=x[0]))",
            "print(sorted([1], key=type(1)))",
            "print(sorted([1], key='a'.join))",
            "print(sorted(['a'], key=str.lower))",
            "print(sorted([1], key=open))",
            "print(sorted([1], key=type))",
            "print(sorted([1], key=(print)))",
            "print(sorted([1], key=print if 1 else len))",
            "print(sorted([1], key=lambda x=eval: x))",
            "print(sorted([1], key=lambda *x: x))",
            "import json; json.loads('1', object_hook=print)",
            "import json; json.loads('1', cls=print)",
            "import json; json.dumps(1, cls=type(1))",
            "x = print",
            "x = lambda: 1",
            "[print][0]('a')",
            "type(1)(2)",
            "type('X', (), {})",
            "type(1).mro()",
            "type(1).__subclasses__()",
            "type(1).__name__.__class__",
        ],
    );
}

#[test]
fn python_that_turns_data_into_more_is_refused() {
    refused(
        python,
        &[
            "'{0.__class__}'.format(1)",
            "x = 1; print(f'{x.__class__}')",
            "x = 1; print(f'{x:{eval(1)}}')",
            "print(f'{open(1)}')",
            "print(f'{print.__self__}')",
            "print(f'{1#}')",
            "print(f'{1!r:{x}}')",
            "print(f'\\x7b{1}')",
            "print(f'{eval(\"1\")}')",
            "print(rf'{eval(1)}')",
            "print(t'{1}')",
            "print(f'{1}'(2))",
            "print(f'{')",
            "print(f'}')",
            "print(f'{1}}')",
            "print(f'{(1}')",
            "print(f'''{\neval(1)}''')",
            // A codec is a module, and may load others that lie in the directory.
            "str(b'x', 'bz2')",
            "str(*[b'x', 'bz2'])",
            "open('a', encoding='bz2')",
            "open('a', errors='x')",
            "with open('a', 'w') as f: 1",
            "with open('a', mode='w') as f: 1",
            "open('a', 'r+')",
            "open('a', opener=print)",
            "open(f'{1}')",
            "open('a' 'b')",
            "with print(1) as f: 1",
            "with open('a') as f.x: 1",
            "print(1, file=open('a', 'w'))",
            "print(1).x",
            "import sys; [sys.platform] = [1]",
            "import sys; sys.argv, x[0] = 1",
            "import sys; sys.platform += 'x'",
            "import sys; for sys.stdout in [1]: 1",
            "import sys; sys.argv[0]()",
            "import sys; print(sys)",
            "print(2 ** 99999)",
            "print(2 ** 9 ** 9)",
            "x = 9; print(x ** 9)",
            "print((9 ** 9) ** 9)",
            "print(9999999999 ** 9)",
            "print(1 << 9)",
            "print(**{})",
            "while 1: pass",
            "try:\n  1\nexcept: 1",
            "def f(): 1",
            "del x",
            "if 1:\n \tx = 1",
            "if 1:\n    x = 1\n  y = 2",
            "import json; global eval",
            "0x10",
        ],
    );
    refused(
        python,
        &[&"(".repeat(40_000), &format!("{}1{}", "(".repeat(64), ")".repeat(64))],
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
    let read = python("with open('a', 'rb') as f:\n  print(f'{open(\"b\").read()}')").map(|harmless| harmless.reads);
    assert_eq!(read, Some(vec!["a".to_owned(), "b".to_owned()]));
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
            "const fs = require('fs'); console.log(fs.readFileSync('a', 'utf8').length, fs.existsSync('b'))",
            "const fs = require('node:fs'), p = JSON.parse(fs.readFileSync('a'))\nconst {name, files} = p\nconsole.log(name)",
            "const p = require('./package.json'); for (const k in p.scripts) console.log(k, p.scripts[k])",
            "const p = {a: 1}; for (const k of Object.keys(p)) { const v = p[k]; if (v) console.log(v); else console.log(k) }",
            "for (const [k, v] of Object.entries({'a': [1]})) console.log(k + '=' + v[0])",
            "for (const x of [1]) console.log(x)",
            "[[1, 2]].map(([a, b]) => { const c = a - b; return c }).sort((a, b) => a - b).map(Number)",
            "[1].reduce((a, b) => ({sum: a + b, a, 1: b}), 0)",
            "JSON.stringify(JSON.parse('[1]', (k, v) => v), ['a'], 2)",
            "Array.from([1], (_, i) => i ? i : !i && typeof i === 'number')",
            "new Date().toISOString() + new Date(0).toISOString() + Date.now()",
        ],
    );
}

#[test]
fn a_name_of_javascript_that_the_text_does_not_surely_bind_is_not_data() {
    refused(
        javascript,
        &[
            "var eval; ['1'].map(eval)",
            "[].map(eval => 1); ['1'].map(eval)",
            "[].map(child_process => 1); [{}].reduce(child_process.execSync, 'id')",
            "[].map(fs => 1); [{}].reduce(fs.rmSync, 'src')",
            "[].map(fetch => 1); [{}].reduce(fetch, 'http://x')",
            "[].map(global => 1); JSON.stringify(global.process.env)",
            "var Function; ['1'].map(Function)",
            "var module; module.children",
            "var vm = 1; vm",
            "const worker_threads = [1]",
            "const Worker = 1",
            "const {exec} = child_process",
            "const fs = require('child_process')",
            "const x = require('fs'); x.rmSync('a')",
            "const fs = require('fs').promises",
            "const fs = require('fs')\n['rmSync']('a')",
            "const fs = require('fs'); console.log(fs)",
            "const fs = require('fs'); fs.rmSync('a')",
            "const fs = require('fs'); fs['rmSync']('a')",
            "var x; x",
            "x; const x = 1",
            "if (0) var x = 1; x",
            "if (0) { var x = 1 } x",
            "if (0) {} else var x = 1; x",
            "for (const x of []) 1; x",
            "for (var x of []) 1; x",
            "[1].map(x => 1, x)",
            "[1].map(x => 1); x",
            "[1].map(x => x).map(y => x)",
            "[1].map((x) => { const y = x; return y }); y",
            "const [x = eval] = [1]",
            "const {x = eval} = {}",
            "const {constructor} = ''",
            "const {x: y} = {}; y",
            "[1].map(({constructor}) => 1)",
            "[1].map((x = eval) => x)",
            "[1].map((...x) => x)",
            "x: 1",
            "with (global) process",
            "try { 1 } catch (e) { e }",
            "function f() {}",
            "async x => 1",
            "let = 1",
        ],
    );
}

#[test]
fn a_value_of_javascript_that_is_called_is_written_out_or_listed() {
    refused(
        javascript,
        &[
            "const xs = [{}, 1]; for (const k in xs.reverse()[0]) console.log(xs.reverse()[0][k])",
            "const xs = [JSON.parse('{}'), {}]; for (const k in xs[0]) { xs.reverse(); console.log(xs[0][k]) }",
            "const xs = [{}]; for (const k of Object.keys(xs[0])) { xs.reverse(); console.log(xs[0][k]) }",
            "const f = [1]; ({at: f}).at('x')",
            "console.log({map: 1})",
            "const {map} = []; map",
            "const {toJSON} = new Date(); console.log(JSON.stringify({toJSON}))",
            "const f = [].map; console.log(f)",
            "const d = {}; console.log(d['filter'])",
            "const x = 1; [1].map(x)",
            "const x = {}; [1].map(x.y)",
            "[1].map(''.trim)",
            "[1].map([].concat)",
            "[1].map(console.log)",
            "[1].map((Number))",
            "[1].map(Number.constructor)",
            "[1].map(1 ? Number : String)",
            "[1].map(eval)",
            "[1].sort(eval)",
            "[1].reduce(eval, 1)",
            "JSON.parse('1', eval)",
            "JSON.stringify(1, eval)",
            "Array.from([1], eval)",
            "''.replace('', eval)",
            "'a'.split(x => 1)",
            "console.log(x => 1)",
            "const f = x => 1",
            "[x => 1][0](1)",
            "({toString: x => 1})",
            "({toJSON: 1})",
            "({valueOf: 1})",
            "({'toString': 1})",
            "({__proto__: 1})",
            "({'\\x5f_proto__': 1})",
            "({get x() { return 1 }})",
            "({x() { return 1 }})",
            "({[Symbol.iterator]: 1})",
            "Symbol('x')",
            "new Function('1')",
            "new Date",
            "new Date()()",
            "new process.x()",
            "Date('x')",
            "console.log('a')\n(1)",
            "(1)\n(2)",
            "console.log?.(1)",
        ],
    );
}

#[test]
fn javascript_that_turns_data_into_more_is_refused() {
    refused(
        javascript,
        &[
            "for (const k in {constructor: 1}) ''[k]",
            "const d = {}; for (const k in {constructor: 1}) d[k]",
            "const d = {a: {}}; for (const k in d.a) d[k]",
            "const d = {}; for (const [k] in d) d[k]",
            "const d = {}; for (const k in d) [1].map(k => d[k])",
            "const d = {}; for (const k in d) 1; [1].map(k => d[k])",
            "const d = {}; for (const k of Object.keys({constructor: 1})) d[k]",
            "const d = {}; for (const k of d) d[k]",
            "const d = {}; for (const k in d) d[k]()",
            "const d = {}; for (const k in d) d[k] = 1",
            "const d = {}; for (const k in d) d[k + '']",
            "for (k in {}) 1",
            "for (let i = 0; i < 2; i++) 1",
            "for await (const x of [1]) 1",
            "while (1) 1",
            "let x = 1; ++x",
            "let x = 1; x += 1",
            "let x = 1; x ||= 1",
            "let x = 1; x = 1",
            "let x = 1; x++",
            "delete process.env",
            "fs.readFileSync('a', {flag: 'w'})",
            "fs.readFileSync('a' + 'b')",
            "fs.existsSync(0)",
            "fs.writeFileSync('a', 'b')",
            "fs.constructor",
            "fs",
            "require.cache",
            "require('./a.json', 1)",
            "1 .constructor",
            "[]['constructor']",
            "[].at.constructor",
            "Object.keys.constructor",
            "Object.assign({}, {})",
            "Object.getOwnPropertyNames({})",
            "new Date().constructor",
            "''?.constructor",
            "''?.['constructor']",
            "process.argv.__proto__",
            "import fs from 'fs'",
            "console.log(...[1])",
        ],
    );
    refused(
        javascript,
        &[&"[".repeat(40_000), &"if (1) ".repeat(9_000), &"{".repeat(60_000)],
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
            "let x = 1; for ({'constructor': x} of ['']) 1",
            "let x = 1; x >>= 2",
            "true['constr' + 'uctor']",
            "let(1)",
        ],
    );
}

#[test]
fn javascript_names_the_files_it_reads_and_loads() {
    let read = javascript("require('./a.json').x + require('fs').readFileSync('b', 'utf8') + fs.existsSync('.env')");
    let expected = Harmless {
        reads: vec!["b".to_owned(), ".env".to_owned()],
        requires: vec!["./a.json".to_owned()],
    };
    assert_eq!(read, Some(expected));
}
