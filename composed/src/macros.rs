//! Macros: a list of expressions is walked through; others that name a collection are reported.

use proc_macro2::Span;
use syn::punctuated::Punctuated;
use syn::{Expr, Macro, Token};

use crate::body::Body;
use crate::files;
use crate::index::{Index, names_collection};
use crate::operation::Unread;
use crate::values::Val;

impl Body<'_, '_> {
    /// The invocation of a macro in a function.
    pub(crate) fn macro_call(&mut self, one: &Macro, at: Span) -> Val {
        let name = one.path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default();
        self.index.names_hidden(&name, one, &self.file, at);
        if name == "include" {
            self.index.not_included(one, &self.file, at);
        }
        if matches!(name.as_str(), "select" | "select_biased" | "join" | "try_join") {
            self.refuse(format!("it waits: `{name}!`"));
        }
        let parsed = one.parse_body_with(Punctuated::<Expr, Token![,]>::parse_terminated);
        let Ok(arguments) = parsed else { return Val::nothing() };
        arguments.iter().for_each(|argument| drop(self.argument(argument)));
        if matches!(name.as_str(), "panic" | "unreachable" | "todo" | "unimplemented" | "bail") {
            self.emit(crate::flow::Flow::Return);
        }
        Val::nothing()
    }
}

impl Index<'_> {
    /// Lists a macro that names a collection, or whose text does, unless it is a list of expressions.
    pub(crate) fn names_hidden(&self, name: &str, one: &Macro, file: &str, at: Span) {
        let expressions = one.parse_body_with(Punctuated::<Expr, Token![,]>::parse_terminated).is_ok();
        let named = match self.macros.get(name) {
            Some(collection) => Some(collection.clone()),
            None if !expressions => names_collection(&one.tokens),
            None => None,
        };
        let Some(collection) = named else { return };
        let start = at.start();
        let place = files::place(file, start.line, start.column + 1);
        let reason = format!("the macro {name}! names {collection}: its calls are not seen");
        let mut unread = self.unread.borrow_mut();
        if !unread.iter().any(|known| known.place == place) {
            unread.push(Unread { place, reason });
        }
    }

    /// Lists a file that is included: `include!(concat!(env!("OUT_DIR"), "/made.rs"))`.
    pub(crate) fn not_included(&self, one: &Macro, file: &str, at: Span) {
        let start = at.start();
        let place = files::place(file, start.line, start.column + 1);
        let text = one.tokens.to_string();
        let made = if text.contains("OUT_DIR") { ", which a build script makes" } else { "" };
        self.unread.borrow_mut().push(Unread { place, reason: format!("include!({text}){made}, is not read") });
    }
}
