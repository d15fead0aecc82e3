//! What is gathered about one step before it is rated.

use std::collections::HashSet;

use crate::assess::input::Input;
use crate::effect::{Action, Around, Doubt, Effect, EffectSpec, Gap, Place, Undo};
use crate::shell::Span;

/// So many effects are looked through one after another.
const FEW: usize = 8;

/// What is gathered about one step before it is rated.
#[derive(Default)]
pub struct Gathered {
    pub effects: Vec<Effect>,
    pub doubts: Vec<Doubt>,
    /// Every effect that was gathered, to find it again among many.
    known: HashSet<Effect>,
    pub(super) around: Around,
    /// What the command reads from its standard input.
    pub(super) input: Input,
}

impl Gathered {
    /// Of a command that reads this.
    pub(super) fn with_input(input: Input) -> Self {
        Gathered {
            input,
            ..Gathered::default()
        }
    }

    /// Something that was not understood.
    pub fn doubt(&mut self, why: impl Into<String>, span: Span) {
        self.doubts.push(Doubt {
            why: why.into(),
            span,
            gap: None,
        });
    }

    /// Something that the catalog does not list.
    pub fn unlisted(&mut self, gap: Gap, why: impl Into<String>, span: Span) {
        self.doubts.push(Doubt {
            why: why.into(),
            span,
            gap: Some(gap),
        });
    }

    /// Something that the step does to what is neither one path nor one host.
    pub fn effect(&mut self, spec: EffectSpec, target: impl Into<String>) {
        self.add(Effect::new(spec, target));
    }

    /// Something that the step does; the same twice is once.
    pub fn add(&mut self, effect: Effect) {
        let is_new = if self.effects.len() < FEW {
            !self.effects.contains(&effect)
        } else {
            if self.known.is_empty() {
                self.known.extend(self.effects.iter().cloned());
            }
            self.known.insert(effect.clone())
        };
        if is_new {
            self.effects.push(effect);
        }
    }

    /// What the command itself does, without its redirections and what else stands around it.
    pub fn own_effects(&self) -> &[Effect] {
        &self.effects[self.around.effects..]
    }

    /// Runs code that nobody vouches for.
    pub fn unvouched(&mut self, target: impl Into<String>) {
        let spec = EffectSpec {
            undo: Undo::Lost,
            place: Place::Other,
            ..EffectSpec::of(Action::Execute)
        };
        self.effect(spec, target);
    }
}
