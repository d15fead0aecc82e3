//! A variable of the environment and the option that says the same have one verdict.

use crate::{Machine, verdict};

const TWINS: &[(&str, &str)] = &[
    ("GIT_DIR=x git status", "git --git-dir=x status"),
    ("GIT_WORK_TREE=x git status", "git --work-tree=x status"),
    ("GIT_NAMESPACE=x git log", "git --namespace=x log"),
    ("GIT_EXEC_PATH=. git status", "git --exec-path=. status"),
    ("GIT_PAGER=cat git log", "git --no-pager log"),
    ("GIT_PAGER=./x git log", "git -c core.pager=./x log"),
    ("PAGER=./x git log", "git -c core.pager=./x log"),
    ("GIT_EXTERNAL_DIFF=./x git diff", "git -c diff.external=./x diff"),
    ("GIT_SSH_COMMAND=./x git fetch", "git -c core.sshCommand=./x fetch"),
    (
        "GIT_EDITOR=true git commit --amend",
        "git -c core.editor=true commit --amend",
    ),
    (
        "GIT_EDITOR=./x git commit --amend",
        "git -c core.editor=./x commit --amend",
    ),
    ("GIT_OPTIONAL_LOCKS=0 git status", "git --no-optional-locks status"),
    ("GIT_LITERAL_PATHSPECS=1 git status", "git --literal-pathspecs status"),
    ("GIT_CONFIG_GLOBAL=x git status", "git --config-env=core.pager=x status"),
    ("GIT_ASKPASS=./x git fetch", "git -c core.askPass=./x fetch"),
    ("GIT_AUTHOR_NAME=x git commit -m y", "git -c user.name=x commit -m y"),
    ("GIT_TRACE=1 git status", "git -c trace2.normalTarget=1 status"),
    ("KUBECONFIG=x kubectl get pods", "kubectl --kubeconfig x get pods"),
    ("DOCKER_HOST=tcp://x docker ps", "docker -H tcp://x ps"),
    ("DOCKER_CONTEXT=x docker ps", "docker --context x ps"),
    ("DOCKER_CONFIG=x docker ps", "docker --config x ps"),
    ("AWS_PROFILE=x aws s3 ls", "aws --profile x s3 ls"),
    ("AWS_REGION=eu-west-1 aws s3 ls", "aws --region eu-west-1 s3 ls"),
    (
        "AWS_ENDPOINT_URL=http://x aws s3 ls",
        "aws --endpoint-url http://x s3 ls",
    ),
    ("AWS_PAGER= aws s3 ls", "aws --no-cli-pager s3 ls"),
    ("GH_HOST=x gh pr list", "gh pr list -R x/a/b"),
    (
        "RUSTC_WRAPPER=./x cargo check",
        "cargo --config build.rustc-wrapper=./x check",
    ),
    (
        "RUSTFLAGS=-Clinker=./x cargo check",
        "cargo --config build.rustflags=-Clinker=./x check",
    ),
    ("CARGO_TERM_COLOR=never cargo check", "cargo check --color never"),
    ("CARGO_NET_OFFLINE=true cargo check", "cargo check --offline"),
    ("RUSTUP_TOOLCHAIN=x cargo check", "cargo +x check"),
    ("npm_config_registry=http://x npm ci", "npm ci --registry http://x"),
    ("npm_config_ignore_scripts=true npm ci", "npm ci --ignore-scripts"),
    ("PIP_INDEX_URL=http://x pip install y", "pip install -i http://x y"),
    ("PYTHONUNBUFFERED=1 python3 -c 'print(1)'", "python3 -u -c 'print(1)'"),
    (
        "PYTHONDONTWRITEBYTECODE=1 python3 -c 'print(1)'",
        "python3 -B -c 'print(1)'",
    ),
    ("PYTHONUTF8=1 python3 -c 'print(1)'", "python3 -X utf8 -c 'print(1)'"),
    ("NODE_OPTIONS='--require ./x' node -p 1", "node --require ./x -p 1"),
    ("RIPGREP_CONFIG_PATH=x rg y src", "rg --pre ./x y src"),
    ("LESS=-ox less README.md", "less -ox README.md"),
    ("LESSOPEN='|./x %s' less README.md", "less -k x README.md"),
    ("MANPAGER=./x man ls", "man -P ./x ls"),
    ("PAGER=./x man ls", "man -P ./x ls"),
    (
        "http_proxy=http://x curl https://docs.rs",
        "curl -x http://x https://docs.rs",
    ),
    (
        "SSL_CERT_FILE=x curl https://docs.rs",
        "curl --cacert x https://docs.rs",
    ),
    (
        "SSLKEYLOGFILE=x curl https://docs.rs",
        "curl --libcurl x https://docs.rs",
    ),
    ("MAKEFLAGS=--eval=x make", "make --eval=x"),
    ("GOFLAGS=-toolexec=./x go build ./...", "go build -toolexec=./x ./..."),
    (
        "TAR_OPTIONS=--to-command=./x tar tf x.tar",
        "tar --to-command=./x -tf x.tar",
    ),
    ("BAT_PAGER=./x bat README.md", "bat --pager ./x README.md"),
    ("BAT_PAGER= bat README.md", "bat --paging=never README.md"),
    (
        "JAVA_TOOL_OPTIONS=-javaagent:x java -version",
        "java -javaagent:x -version",
    ),
    ("LC_ALL=C sort list.txt", "sort list.txt"),
    ("TZ=UTC date", "date -u"),
    ("NO_COLOR=1 ls src", "ls --color=never src"),
    ("NO_COLOR=1 rg fn src", "rg --color=never fn src"),
    (
        "PYTHONWARNINGS=ignore python3 -c 'print(1)'",
        "python3 -W ignore -c 'print(1)'",
    ),
    ("PGPASSWORD=x psql -c 'select 1'", "psql 'password=x' -c 'select 1'"),
    ("PERL5OPT=-Mx perl -e 1", "perl -Mx -e 1"),
    ("RUBYOPT=-rx ruby -e 1", "ruby -rx -e 1"),
    ("PERL5LIB=x perl -e 1", "perl -Ix -e 1"),
    ("XDG_CONFIG_HOME=x git status", "git -c include.path=x status"),
    ("HELM_KUBECONTEXT=x helm list", "helm --kube-context x list"),
    ("BUNDLE_GEMFILE=x bundle install", "bundle install --gemfile x"),
    ("UV_INDEX_URL=http://x uv sync", "uv sync --index-url http://x"),
];

#[test]
fn an_option_and_its_variable_have_the_same_verdict() {
    let machine = Machine::new();
    let mut wrong = Vec::new();
    for (variable, option) in TWINS {
        let (of_variable, of_option) = (verdict(&machine, variable), verdict(&machine, option));
        if of_variable != of_option {
            wrong.push(format!("{variable:?} is {of_variable}, {option:?} is {of_option}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(TWINS.len() >= 40, "only {} pairs", TWINS.len());
}

/// Where a variable cannot be judged by its value, it is never milder than the option.
#[test]
fn a_variable_is_never_milder_than_its_option() {
    let machine = Machine::new();
    for (variable, option) in [
        (
            "PGHOST=evil.example psql -c 'select 1'",
            "psql -h evil.example -c 'select 1'",
        ),
        ("CARGO_TARGET_DIR=/tmp/x cargo check", "cargo check --target-dir /tmp/x"),
        ("GREP_OPTIONS=-f.env grep y src/main.rs", "grep -f.env y src/main.rs"),
        ("MAKEFLAGS=-j4 make", "make -j4"),
        ("CLASSPATH=x java Main", "java -cp x Main"),
        ("TF_CLI_ARGS=-destroy terraform plan", "terraform plan -destroy"),
        (
            "NODE_OPTIONS=--max-old-space-size=4096 node -p 1",
            "node --max-old-space-size=4096 -p 1",
        ),
        ("GH_REPO=a/b gh pr list", "gh pr list -R a/b"),
    ] {
        let (of_variable, of_option) = (crate::judged(&machine, variable), crate::judged(&machine, option));
        assert!(of_variable.tier >= of_option.tier, "{variable}");
        assert!(of_option.proven() || !of_variable.proven(), "{variable}");
    }
}
