//! What redirections read and write.

use super::{Gathered, Work};
use crate::assess::{numbers, paths, roles};
use crate::effect::{Action, EffectSpec, Place, Reach, Undo};
use crate::shell::Value;
use crate::shell::ast::{Redirect, RedirectKind};
use crate::shell::expansion::expand;
use crate::shell::state::State;

impl Work<'_> {
    pub(super) fn redirect(&mut self, redirect: &Redirect, state: &mut State, depth: usize, gathered: &mut Gathered) {
        let actions: &[Action] = match &redirect.kind {
            RedirectKind::Read(_) => &[Action::Read],
            RedirectKind::Write(_)
            | RedirectKind::WriteBoth(_)
            | RedirectKind::Append(_)
            | RedirectKind::AppendBoth(_) => &[Action::Write],
            RedirectKind::ReadWrite(_) => &[Action::Read, Action::Write],
            RedirectKind::Duplicate(_) | RedirectKind::Close => return,
            RedirectKind::HereDoc(word) | RedirectKind::HereString(word) => {
                self.substitutions(word, state, depth, gathered);
                return;
            }
        };
        let appends = matches!(redirect.kind, RedirectKind::Append(_) | RedirectKind::AppendBoth(_));
        let (RedirectKind::Read(word)
        | RedirectKind::Write(word)
        | RedirectKind::WriteBoth(word)
        | RedirectKind::Append(word)
        | RedirectKind::AppendBoth(word)
        | RedirectKind::ReadWrite(word)) = &redirect.kind
        else {
            return;
        };
        self.substitutions(word, state, depth, gathered);
        // zsh does not expand as bash does here, so only one plain word counts.
        let targets = match expand(word, state, self).as_slice() {
            [one] if matches!(one.value, Value::Numbered { .. }) => numbers::files(&one.value, state, self),
            [one] => one.value.clone(),
            _ => Value::UNKNOWN,
        };
        let targets = targets.alternatives().map(<[String]>::to_vec);
        let Some(targets) = targets else {
            gathered.doubt("the file that is redirected is not known", redirect.span);
            return;
        };
        let twice = matches!(redirect.kind, RedirectKind::WriteBoth(_) | RedirectKind::AppendBoth(_));
        for target in targets {
            if twice && target.contains(['$', '`']) {
                gathered.doubt("bash expands the word after `>&` again", redirect.span);
            }
            if let Some(host) = target
                .strip_prefix("/dev/tcp/")
                .or_else(|| target.strip_prefix("/dev/udp/"))
            {
                let host = host.split('/').next().unwrap_or_default();
                gathered.effect(
                    EffectSpec {
                        reach: Reach::New,
                        ..EffectSpec::of(Action::Connect)
                    },
                    host,
                );
                continue;
            }
            let Some(path) = paths::absolute(&target, state.cwd.as_deref()) else {
                gathered.doubt("the directory it runs in is not known", redirect.span);
                continue;
            };
            let is_relinked = |action: &Action| roles::may_be_relinked(&path, *action, self);
            if state.relinked && actions.iter().any(is_relinked) {
                gathered.doubt("an earlier command may have made this path", redirect.span);
            }
            for &action in actions {
                for mut effect in paths::effects(action, &path, self).iter().cloned() {
                    if appends {
                        effect.spec.undo = Undo::Nothing;
                    }
                    let writes = action == Action::Write && effect.spec.place != Place::Nowhere;
                    state.wrote |= writes;
                    state.planted |= writes && !self.is_apart(&effect);
                    gathered.add(effect);
                }
            }
        }
    }
}
