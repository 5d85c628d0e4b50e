//! The grammar: words, parentheses and operators.

use super::terms::parse_term;
use super::{FilterError, Node};
use crate::proposals::Registry;

/// Splits a filter into words and parentheses; quoted text is one word.
fn tokenize(text: &str) -> Result<Vec<String>, FilterError> {
    let mut tokens = Vec::new();
    let mut word = String::new();
    let mut quoted = false;
    let mut held = false;
    for found in text.chars() {
        match found {
            '"' => {
                quoted = !quoted;
                held = true;
            }
            _ if quoted => word.push(found),
            '(' | ')' => {
                flush(&mut word, &mut held, &mut tokens);
                tokens.push(found.to_string());
            }
            _ if found.is_whitespace() => flush(&mut word, &mut held, &mut tokens),
            _ => word.push(found),
        }
    }
    if quoted {
        return Err(FilterError { reason: "missing closing quote".into(), at: word });
    }
    flush(&mut word, &mut held, &mut tokens);
    Ok(tokens)
}

fn flush(word: &mut String, held: &mut bool, tokens: &mut Vec<String>) {
    if !word.is_empty() || *held {
        tokens.push(std::mem::take(word));
    }
    *held = false;
}

/// The maximum nesting depth of parentheses and `not`, since each level takes space on the stack.
pub(super) const MAX_DEPTH: usize = 100;

pub(super) struct Parser<'a> {
    tokens: &'a [String],
    at: usize,
    /// The current nesting depth of parentheses and `not`.
    depth: usize,
    registry: &'a Registry,
}

impl<'a> Parser<'a> {
    /// Parses a whole filter.
    ///
    /// # Errors
    ///
    /// If the filter is not valid.
    pub(super) fn parse(text: &str, registry: &'a Registry) -> Result<Node, FilterError> {
        let tokens = tokenize(text)?;
        if tokens.is_empty() {
            return Ok(Node::All(Vec::new()));
        }
        let mut parser = Parser { tokens: &tokens, at: 0, depth: 0, registry };
        let node = parser.any()?;
        match parser.tokens.get(parser.at) {
            None => Ok(node),
            Some(extra) => Err(FilterError { reason: "unexpected term".into(), at: extra.clone() }),
        }
    }

    fn peek(&self) -> Option<&str> {
        self.tokens.get(self.at).map(String::as_str)
    }

    fn any(&mut self) -> Result<Node, FilterError> {
        let mut nodes = vec![self.all()?];
        while self.peek() == Some("or") {
            self.at += 1;
            nodes.push(self.all()?);
        }
        Ok(if nodes.len() == 1 { nodes.remove(0) } else { Node::Any(nodes) })
    }

    fn all(&mut self) -> Result<Node, FilterError> {
        let mut nodes = vec![self.one()?];
        loop {
            match self.peek() {
                Some("and") => {
                    self.at += 1;
                    nodes.push(self.one()?);
                }
                None | Some("or" | ")") => break,
                Some(_) => nodes.push(self.one()?),
            }
        }
        Ok(if nodes.len() == 1 { nodes.remove(0) } else { Node::All(nodes) })
    }

    fn one(&mut self) -> Result<Node, FilterError> {
        let Some(token) = self.tokens.get(self.at) else {
            return Err(FilterError { reason: "missing term at the end".into(), at: String::new() });
        };
        self.at += 1;
        match token.as_str() {
            "not" | "(" if self.depth == MAX_DEPTH => Err(FilterError {
                reason: format!("the filter is nested more than {MAX_DEPTH} levels deep"),
                at: token.clone(),
            }),
            "not" => {
                self.depth += 1;
                let node = self.one()?;
                self.depth -= 1;
                Ok(Node::Not(Box::new(node)))
            }
            "(" => {
                self.depth += 1;
                let node = self.any()?;
                self.depth -= 1;
                if self.peek() != Some(")") {
                    return Err(FilterError { reason: "missing closing parenthesis".into(), at: token.clone() });
                }
                self.at += 1;
                Ok(node)
            }
            ")" | "and" | "or" => Err(FilterError { reason: "missing term".into(), at: token.clone() }),
            term => parse_term(term, self.registry).map(Node::Term),
        }
    }
}
