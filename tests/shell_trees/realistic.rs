//! Lines as a coding agent writes them, of every kind that it writes often. At least 92 in 100 must be accepted.

use countersign::shell::parse;

const LINES: &[&str] = &[
    "git status --short --branch",
    "git add -p src/parser && git commit -m 'Read numbers'",
    "git commit -m \"$(cat <<'MESSAGE'\nRead numbers\n\n- `parse` keeps \"quotes\" and $dollars\nMESSAGE\n)\"",
    "git log --since='3 days ago' --format='%h %s' -- src | head -n 20",
    "git diff main...HEAD --stat | tail -1",
    "cd crates/core && cargo test --quiet 2>&1 | tail -n 30",
    "cd web && npm run lint -- --fix; cd ..",
    "npm ci && npm test -- --watch=false",
    "pnpm --filter app build 2>&1 | grep -iE 'error|warn' || true",
    "pytest -x -k 'parse and not slow' tests/unit",
    "python -m venv .venv && . .venv/bin/activate && pip install -e '.[dev]'",
    "go test ./... -run '^TestParse$' -count=1 -v",
    "make -j4 all >build.log 2>&1; tail -n 5 build.log",
    "RUST_LOG=debug cargo run --example demo -- --port 8080 &",
    "FOO=1 BAR=\"two words\" ./scripts/run.sh \"$@\"",
    "for f in src/*.c; do gcc -fsyntax-only \"$f\" || echo \"bad: $f\"; done",
    "for n in 1 2 3; do sleep 1; curl -fsS http://127.0.0.1:8080/ready && break; done",
    "for i in {1..5}; do echo \"run $i\"; done",
    "while IFS= read -r line; do printf '%s\\n' \"$line\"; done < names.txt",
    "until pg_isready -q; do sleep 0.5; done",
    "if [ -d build ]; then rm -r build; else mkdir build; fi",
    "if ! grep -q '^version' Cargo.toml; then echo missing >&2; exit 1; fi",
    "[ -f .env ] || cp .env.example .env",
    "[[ -n $CI ]] && echo 'in CI'",
    "[[ $name == *.rs && -f $name ]] && wc -l \"$name\"",
    "case $1 in build) make ;; test|check) make check ;; *) echo usage; exit 2 ;; esac",
    "find . -name '*.orig' -not -path './.git/*' -print0 | xargs -0 ls -l",
    "find src -name '*.py' -exec grep -l 'TODO' {} +",
    "find . \\( -name node_modules -o -name .git \\) -prune -o -type f -print | head",
    "grep -rnE 'fn (parse|read)_' --include='*.rs' src | sort -t: -k1,1 -k2n",
    "rg -n --hidden -g '!target' 'unsafe' | cut -d: -f1 | sort | uniq -c | sort -rn",
    "sed -n '/^## Usage/,/^## /p' README.md",
    "sed -i 's#http://#https://#g; /^$/d' docs/*.md",
    "awk 'NR > 1 { total += $3 } END { printf \"%.2f\\n\", total / (NR - 1) }' data.tsv",
    "jq -r '.items[] | select(.state == \"open\") | \"\\(.id)\\t\\(.title)\"' issues.json",
    "cat package.json | jq '.scripts | keys'",
    "diff <(git show HEAD:a.txt) a.txt",
    "comm -13 <(sort old.txt) <(sort new.txt)",
    "tee -a notes.md <<'NOTE'\n- one\n- two\nNOTE",
    "cat > config.yml <<YAML\nname: ${NAME:-demo}\nhome: $HOME\nYAML",
    "python3 - <<'PY'\nimport sys\nprint(sys.version)\nPY",
    "node -e 'console.log(require(\"./package.json\").version)'",
    "python3 -c \"import json; print(json.load(open('a.json'))['b'])\"",
    "docker compose logs --tail=50 web 2>&1 | grep -v healthcheck",
    "docker run --rm -v \"$PWD\":/src -w /src rust:1 cargo build",
    "kubectl -n prod get pods -o jsonpath='{.items[*].metadata.name}'",
    "ssh build.example 'cd /srv/app && git pull && systemctl restart app'",
    "tar -czf out.tar.gz --exclude='*.log' -C dist .",
    "ps aux | grep '[n]ode server' | awk '{print $2}'",
    "lsof -ti :3000 | xargs -r kill",
    "kill -TERM \"$(cat server.pid)\" && rm server.pid",
    "(cd frontend && npm install) && (cd backend && cargo build)",
    "{ date; uname -a; } >> report.txt",
    "set -euo pipefail; ls -la",
    "start=$(date +%s); cargo build; echo \"$(( $(date +%s) - start )) s\"",
    "version=$(git describe --tags --always) && echo \"${version#v}\"",
    "echo \"${file%.*}.bak\" \"${#items}\" \"${text//a/b}\" \"${path##*/}\"",
    "files=(a.rs b.rs); wc -l \"${files[@]}\"",
    "mv src/{parser,reader}.rs && touch tests/{a,b}.rs",
    "cp config.toml{,.orig}",
    "echo $'tab\\there' && echo 'it'\\''s'",
    "nohup ./server --port 9000 > server.log 2>&1 &",
    "timeout 30s cargo bench 2>/dev/null | tee bench.txt | tail -n 3",
    "time cargo build --release",
    "trap 'rm -f \"$tmp\"' EXIT; tmp=$(mktemp)",
    "command -v rg >/dev/null 2>&1 || sudo apt-get install -y ripgrep",
    "export PATH=\"$HOME/.cargo/bin:$PATH\" && cargo --version",
    "greet() { echo \"hello $1\"; }; greet world",
    "git log \\\n  --oneline \\\n  --max-count 5",
    "# where are we?\npwd; ls # and what is here",
    "! git diff --quiet && echo changed",
    "curl -sS -X POST -H 'Content-Type: application/json' -d '{\"a\": [1, 2]}' http://localhost:3000/api",
    "gh pr create --title 'Read numbers' --body \"$(cat <<'BODY'\n## Why\n- it's `needed`\nBODY\n)\"",
    "wait $!; echo \"status: $?\"",
    "grep -c . <<< \"$output\"",
];

#[test]
fn at_least_92_of_100_lines_as_agents_write_them_are_accepted() {
    let refused: Vec<String> = LINES
        .iter()
        .filter_map(|line| parse(line).err().map(|refusal| format!("{}: {line}", refusal.what)))
        .collect();
    let accepted = LINES.len() - refused.len();
    assert!(
        accepted * 100 >= LINES.len() * 92,
        "{accepted} of {}:\n{}",
        LINES.len(),
        refused.join("\n")
    );
    println!("{accepted} of {} accepted", LINES.len());
}
