//! Reads git's configuration format and says which settings of a repository run nothing.
//!
//! The reader follows git's own (`config.c`) and refuses what git refuses. It opens no file and follows no include:
//! its caller does.

/// One setting. Git's `section.subsection.key`, section and key in lower case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    pub name: String,
    /// `None`: the key stands alone, which git reads as true.
    pub value: Option<String>,
}

/// When a setting of a repository's own configuration can matter for what is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// Never: it is on the positive list.
    Inert,
    /// Only when git does more than look: commits, merges, talks to another repository.
    Writes,
    /// Always, or it is not known.
    Reads,
}

/// The settings of a configuration file, in order.
///
/// # Errors
/// Says on which line the text stops being a configuration that git reads. Bytes that are not UTF-8 are replaced; a NUL is an error.
pub fn parse(text: &[u8]) -> Result<Vec<Setting>, String> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let mut reader = Reader {
        text,
        at: 0,
        line: 1,
        ended: false,
    };
    reader
        .settings()
        .ok_or_else(|| format!("line {} is not understood", reader.line))
}

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
    line: usize,
    ended: bool,
}

impl Reader<'_> {
    /// The next byte; `\r\n` is one newline, and the end of the text reads as newlines. `None` is a NUL.
    fn next(&mut self) -> Option<u8> {
        let Some(&byte) = self.text.get(self.at) else {
            self.ended = true;
            return Some(b'\n');
        };
        self.at += 1;
        if byte == b'\r' && self.text.get(self.at) == Some(&b'\n') {
            self.at += 1;
            self.line += 1;
            return Some(b'\n');
        }
        self.line += usize::from(byte == b'\n');
        (byte != 0).then_some(byte)
    }

    fn settings(&mut self) -> Option<Vec<Setting>> {
        let mut settings = Vec::new();
        let mut section: Option<Vec<u8>> = None;
        let mut comment = false;
        loop {
            match self.next()? {
                b'\n' if self.ended => return Some(settings),
                b'\n' => comment = false,
                _ if comment => {}
                byte if is_space(byte) => {}
                b'#' | b';' => comment = true,
                b'[' => section = Some(self.section()?),
                byte if byte.is_ascii_alphabetic() => {
                    let setting = self.setting(section.as_deref()?, byte)?;
                    settings.push(setting);
                }
                _ => return None,
            }
        }
    }

    fn section(&mut self) -> Option<Vec<u8>> {
        let mut name = Vec::new();
        loop {
            let byte = self.next()?;
            match byte {
                _ if self.ended => return None,
                b']' => return Some(name),
                b if is_space(b) => return self.subsection(name, b),
                b if is_key(b) || b == b'.' => name.push(b.to_ascii_lowercase()),
                _ => return None,
            }
        }
    }

    fn subsection(&mut self, mut name: Vec<u8>, mut byte: u8) -> Option<Vec<u8>> {
        while is_space(byte) {
            if byte == b'\n' {
                return None;
            }
            byte = self.next()?;
        }
        if byte != b'"' {
            return None;
        }
        name.push(b'.');
        loop {
            match self.next()? {
                b'\n' => return None,
                b'"' => break,
                b'\\' => match self.next()? {
                    b'\n' => return None,
                    escaped => name.push(escaped),
                },
                plain => name.push(plain),
            }
        }
        (self.next()? == b']').then_some(name)
    }

    fn setting(&mut self, section: &[u8], first: u8) -> Option<Setting> {
        let mut name = section.to_vec();
        name.push(b'.');
        name.push(first.to_ascii_lowercase());
        let mut byte = self.next()?;
        while !self.ended && is_key(byte) {
            name.push(byte.to_ascii_lowercase());
            byte = self.next()?;
        }
        while byte == b' ' || byte == b'\t' {
            byte = self.next()?;
        }
        let value = match byte {
            b'\n' => None,
            b'=' => Some(self.value()?),
            _ => return None,
        };
        Some(Setting {
            name: String::from_utf8_lossy(&name).into_owned(),
            value: value.map(|v| String::from_utf8_lossy(&v).into_owned()),
        })
    }

    fn value(&mut self) -> Option<Vec<u8>> {
        let mut value = Vec::new();
        let (mut quoted, mut comment) = (false, false);
        // Where trailing blanks begin; they are kept only if something follows.
        let mut blanks: Option<usize> = None;
        loop {
            let byte = self.next()?;
            match byte {
                b'\n' if quoted => return None,
                b'\n' => {
                    value.truncate(blanks.unwrap_or(value.len()));
                    return Some(value);
                }
                _ if comment => {}
                b if is_space(b) && !quoted => {
                    if !value.is_empty() {
                        blanks.get_or_insert(value.len());
                        value.push(b);
                    }
                }
                b';' | b'#' if !quoted => comment = true,
                b'\\' => {
                    blanks = None;
                    match self.next()? {
                        b'\n' => {}
                        b't' => value.push(b'\t'),
                        b'b' => value.push(8),
                        b'n' => value.push(b'\n'),
                        b @ (b'\\' | b'"') => value.push(b),
                        _ => return None,
                    }
                }
                b'"' => {
                    blanks = None;
                    quoted = !quoted;
                }
                plain => {
                    blanks = None;
                    value.push(plain);
                }
            }
        }
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

fn is_key(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-'
}

impl Setting {
    /// `section`, `subsection`, `key`: the subsection is what stands between the first and the last full stop.
    fn parts(&self) -> (&str, Option<&str>, &str) {
        let (rest, key) = self.name.rsplit_once('.').unwrap_or(("", &self.name));
        match rest.split_once('.') {
            Some((section, subsection)) => (section, Some(subsection), key),
            None => (rest, None, key),
        }
    }

    /// A boolean as git writes it, where it is spelled in one of the plain ways.
    pub fn is_false(&self) -> bool {
        self.value
            .as_deref()
            .is_some_and(|v| v.is_empty() || v == "0" || v.eq_ignore_ascii_case("false"))
    }

    /// When this setting can run a program, if a repository's own configuration holds it.
    ///
    /// `core.hooksPath` and `core.worktree` name a place and are for the caller, who knows it; here they are not inert.
    pub fn weight(&self) -> Weight {
        let (section, subsection, key) = self.parts();
        let inert = match subsection {
            None => INERT
                .iter()
                .any(|(s, keys)| *s == section && (*keys == "*" || keys.split(' ').any(|k| k == key))),
            Some(_) => INERT_SUB
                .iter()
                .any(|(s, keys)| *s == section && (*keys == "*" || keys.split(' ').any(|k| k == key))),
        };
        if inert || self.inert_by_value(section, subsection, key) {
            return Weight::Inert;
        }
        let writes = WRITES
            .iter()
            .any(|(s, keys)| *s == section && (*keys == "*" || keys.split(' ').any(|k| k == key)));
        if writes { Weight::Writes } else { Weight::Reads }
    }

    fn inert_by_value(&self, section: &str, subsection: Option<&str>, key: &str) -> bool {
        let value = self.value.as_deref();
        match (section, subsection.is_some(), key) {
            ("core", false, "bare") | ("commit" | "tag", false, "gpgsign") | ("log", false, "showsignature") => {
                self.is_false()
            }
            // Older gits take any other word as a program's name, these two included: both do nothing.
            ("core", false, "fsmonitor") => matches!(value, Some("true" | "false" | "")),
            ("core", false, "pager") => matches!(value, Some("cat" | "")),
            ("remote", true, "url" | "pushurl")
            | ("submodule", true, "url")
            | ("branch", true, "remote" | "pushremote") => value.is_some_and(is_plain_url),
            ("submodule", true, "update") => matches!(value, Some("checkout" | "rebase" | "merge" | "none")),
            _ => false,
        }
    }
}

/// A URL or path that git reaches by itself or by ssh: no `helper::address`, nothing that may be an option.
fn is_plain_url(url: &str) -> bool {
    let known = ["https", "http", "ssh", "git", "file", "git+ssh", "ssh+git"];
    let scheme_is_known = url.split_once("://").is_none_or(|(scheme, _)| known.contains(&scheme));
    scheme_is_known && !url.contains("::") && !url.starts_with('-')
}

/// Keys of sections without a subsection that run nothing, open no other file and move no directory.
const INERT: &[(&str, &str)] = &[
    ("advice", "*"),
    ("apply", "whitespace ignorewhitespace"),
    (
        "blame",
        "showemail date coloring blankboundary showroot markunblamablelines markignoredlines",
    ),
    ("branch", "autosetupmerge autosetuprebase sort"),
    ("checkout", "defaultremote guess workers thresholdforparallelism"),
    ("color", "*"),
    ("column", "*"),
    ("commit", "status verbose cleanup"),
    (
        "core",
        "repositoryformatversion filemode logallrefupdates ignorecase precomposeunicode symlinks autocrlf eol safecrlf \
         quotepath abbrev compression loosecompression bigfilethreshold preloadindex untrackedcache sparsecheckout \
         sparsecheckoutcone commitgraph multipackindex protecthfs protectntfs longpaths checkstat trustctime \
         whitespace commentchar commentstring fscache hidedotfiles usereplacerefs sharedrepository fsync fsyncmethod \
         fsyncobjectfiles checkroundtripencoding deltabasecachelimit packedgitlimit packedgitwindowsize",
    ),
    (
        "diff",
        "noprefix mnemonicprefix srcprefix dstprefix renames renamelimit algorithm colormoved colormovedws context \
         interhunkcontext wserrorhighlight relative suppressblankempty indentheuristic statgraphwidth statnamewidth \
         autorefreshindex dirstat wordregex ignoresubmodules submodule trustexitcode",
    ),
    (
        "extensions",
        "worktreeconfig objectformat refstorage noop preciousobjects relativeworktrees",
    ),
    ("feature", "manyfiles experimental"),
    (
        "fetch",
        "prune prunetags recursesubmodules parallel writecommitgraph output all showforcedupdates \
         negotiationalgorithm unpacklimit fsckobjects",
    ),
    (
        "gc",
        "auto autopacklimit autodetach pruneexpire reflogexpire reflogexpireunreachable worktreepruneexpire packrefs \
         aggressivedepth aggressivewindow writecommitgraph logexpiry cruftpacks bigpackthreshold",
    ),
    ("grep", "linenumber column patterntype extendedregexp threads fullname"),
    ("gui", "*"),
    (
        "index",
        "version threads sparse skiphash recordendofindexentries recordoffsettable",
    ),
    ("init", "defaultbranch"),
    ("interactive", "singlekey"),
    ("lfs", "repositoryformatversion"),
    (
        "log",
        "date decorate follow abbrevcommit showroot diffmerges graphcolors mailmap initialdecorationset \
         excludedecoration",
    ),
    ("maintenance", "auto strategy autodetach"),
    (
        "merge",
        "conflictstyle ff renames renamelimit log stat autostash directoryrenames verbosity renormalize",
    ),
    (
        "pack",
        "window depth threads compression windowmemory indexversion packsizelimit usesparse",
    ),
    ("pull", "rebase ff"),
    (
        "push",
        "default followtags autosetupremote recursesubmodules useforceifincludes",
    ),
    (
        "rebase",
        "autosquash autostash updaterefs stat abbreviatecommands missingcommitscheck reschedulefailedexec",
    ),
    ("receive", "denycurrentbranch denynonfastforwards denydeletes"),
    ("rerere", "enabled autoupdate"),
    ("stash", "showpatch showstat showincludeuntracked"),
    (
        "status",
        "short branch showstash aheadbehind relativepaths renames renamelimit showuntrackedfiles \
         displaycommentprefix submodulesummary",
    ),
    (
        "submodule",
        "recurse active fetchjobs propagatebranches alternatelocation alternateerrorstrategy",
    ),
    ("tag", "sort"),
    ("transfer", "fsckobjects hiderefs unpacklimit"),
    ("user", "name email useconfigonly"),
    ("worktree", "guessremote userelativepaths"),
];

/// The same for keys below a subsection: `branch.NAME.merge`.
const INERT_SUB: &[(&str, &str)] = &[
    (
        "branch",
        "merge rebase description vscode-merge-base github-pr-owner-number github-pr-base-branch gh-merge-base gk-merge-base \
         gk-merge-target gk-last-accessed gk-last-modified",
    ),
    ("color", "*"),
    ("diff", "xfuncname funcname wordregex binary algorithm"),
    ("lfs", "access locksverify"),
    ("maintenance", "enabled schedule"),
    (
        "remote",
        "fetch push tagopt prune prunetags skipdefaultupdate skipfetchall mirror followremotehead gh-resolved",
    ),
    ("submodule", "active branch ignore fetchrecursesubmodules path"),
];

/// Settings that git obeys only when it commits, merges or talks to another repository. With or without a subsection.
const WRITES: &[(&str, &str)] = &[
    ("author", "*"),
    ("branch", "remote pushremote mergeoptions"),
    ("commit", "gpgsign template"),
    ("committer", "*"),
    ("core", "sshcommand askpass gitproxy editor"),
    ("credential", "*"),
    ("difftool", "*"),
    ("http", "*"),
    ("interactive", "difffilter"),
    ("merge", "tool guitool driver name recursive"),
    ("mergetool", "*"),
    ("protocol", "*"),
    ("pull", "octopus twohead"),
    ("push", "gpgsign pushoption"),
    (
        "remote",
        "url pushurl uploadpack receivepack vcs proxy proxyauthmethod serveroption pushdefault",
    ),
    ("sendemail", "*"),
    ("sequence", "editor"),
    ("submodule", "url update"),
    ("tag", "gpgsign forcesignannotated"),
    ("url", "*"),
    ("user", "signingkey"),
];
