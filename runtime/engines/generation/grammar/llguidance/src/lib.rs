//! llguidance behind numbers and bytes: one tokenizer for each instance, grammars by handle.
//! A function that can fail answers 0 and leaves its reason at `message_at` and `message_length`.
//! Handles are the caller's to release; nothing here is shared between threads.
use llguidance::api::TopLevelGrammar;
use llguidance::{Matcher, ParserFactory};
use serde_json::{json, Value};
use std::cell::RefCell;
use std::sync::Arc;
use toktrie::{ApproximateTokEnv, SimpleVob, TokRxInfo, TokTrie};

#[derive(Default)]
struct State {
    factory: Option<ParserFactory>,
    matchers: Vec<Option<Matcher>>,
    mask: Option<SimpleVob>,
    message: String,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
}

type Outcome<T> = Result<T, String>;

fn attempt(work: impl FnOnce(&mut State) -> Outcome<u32>) -> u32 {
    STATE.with_borrow_mut(|state| {
        state.message.clear();
        work(state).unwrap_or_else(|reason| {
            state.message = reason;
            0
        })
    })
}

impl State {
    fn matcher(&mut self, handle: u32) -> Outcome<&mut Matcher> {
        let place = (handle as usize).wrapping_sub(1);
        self.matchers.get_mut(place).and_then(Option::as_mut).ok_or_else(|| "no such handle".into())
    }

    fn keep(&mut self, matcher: Matcher) -> u32 {
        let free = self.matchers.iter().position(Option::is_none);
        let place = free.unwrap_or(self.matchers.len());
        if free.is_none() {
            self.matchers.push(None);
        }
        self.matchers[place] = Some(matcher);
        place as u32 + 1
    }
}

/// Bytes for the caller to fill; the function that is given them takes them over.
#[no_mangle]
pub extern "C" fn take(length: usize) -> *mut u8 {
    Box::into_raw(vec![0u8; length].into_boxed_slice()) as *mut u8
}

fn given(at: *mut u8, length: usize) -> Box<[u8]> {
    // SAFETY: `at` and `length` are those of one call of `take`, used once.
    unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(at, length)) }
}

/// Tokens as a u32 of little endian for the length and then the bytes of each; special ones begin with 0xFF.
/// `ends` holds the ids that end a text, as u32 each, the first one first.
#[no_mangle]
pub extern "C" fn set_tokens(at: *mut u8, length: usize, ends: *mut u8, ends_length: usize) -> u32 {
    let (bytes, ends) = (given(at, length), given(ends, ends_length));
    attempt(|state| {
        let words = words_of(&bytes)?;
        let ends: Vec<u32> =
            ends.chunks_exact(4).map(|id| u32::from_le_bytes(id.try_into().unwrap())).collect();
        let first = *ends.first().ok_or("no token ends a text")?;
        if ends.iter().any(|id| *id as usize >= words.len()) {
            return Err("a token that ends a text is not in the vocabulary".into());
        }
        let trie = TokTrie::from(&TokRxInfo::new(words.len() as u32, first), &words).with_eos_tokens(&ends);
        let mut factory =
            ParserFactory::new_simple(&(Arc::new(ApproximateTokEnv::new(trie)) as _)).map_err(|e| e.to_string())?;
        factory.quiet();
        state.matchers.clear();
        state.factory = Some(factory);
        Ok(1)
    })
}

fn words_of(mut bytes: &[u8]) -> Outcome<Vec<Vec<u8>>> {
    let mut words = Vec::new();
    while let Some((length, rest)) = bytes.split_first_chunk::<4>() {
        let length = u32::from_le_bytes(*length) as usize;
        let (word, rest) = rest.split_at_checked(length).ok_or("a token is cut off")?;
        words.push(word.to_vec());
        bytes = rest;
    }
    Ok(words)
}

/// A handle of a grammar at its start. Kinds: 0 a JSON schema, 1 a regular expression, 2 Lark.
#[no_mangle]
pub extern "C" fn compile(kind: u32, at: *mut u8, length: usize) -> u32 {
    let bytes = given(at, length);
    attempt(|state| {
        let text = std::str::from_utf8(&bytes).map_err(|e| e.to_string())?;
        let grammar = match kind {
            0 => TopLevelGrammar::from_json_schema(compact(text)?),
            1 => TopLevelGrammar::from_regex(text),
            2 => TopLevelGrammar::from_lark(text.into()),
            _ => return Err("no such kind of grammar".into()),
        };
        let factory = state.factory.as_ref().ok_or("no tokens are set")?;
        let parser = factory.create_parser(grammar).map_err(|e| e.to_string())?;
        let mut matcher = Matcher::new(Ok(parser));
        matcher.get_error().map_or(Ok(()), Err)?;
        matcher.is_accepting().map_err(|e| e.to_string())?;
        Ok(state.keep(matcher))
    })
}

/// The schema with our options in place of any that the caller wrote: no blanks between the parts of a value.
fn compact(text: &str) -> Outcome<Value> {
    let options = json!({ "whitespace_flexible": false });
    match serde_json::from_str(text).map_err(|e| e.to_string())? {
        Value::Object(mut schema) => {
            schema.insert("x-guidance".into(), options);
            Ok(Value::Object(schema))
        }
        Value::Bool(true) => Ok(json!({ "x-guidance": options })),
        _ => Err("no value fits this schema".into()),
    }
}

/// A handle of its own at the same place of the grammar.
#[no_mangle]
pub extern "C" fn fork(handle: u32) -> u32 {
    attempt(|state| {
        let copy = state.matcher(handle)?.deep_clone();
        Ok(state.keep(copy))
    })
}

/// Where the mask of the next token lies: a bit for each token, u32 by u32, the lowest bit first; until the next call.
#[no_mangle]
pub extern "C" fn mask(handle: u32) -> u32 {
    attempt(|state| {
        let mask = state.matcher(handle)?.compute_mask_or_eos().map_err(|e| e.to_string())?;
        Ok(state.mask.insert(mask).as_slice().as_ptr() as usize as u32)
    })
}

/// 2 if the token may come next, 1 if not.
#[no_mangle]
pub extern "C" fn check(handle: u32, token: u32) -> u32 {
    attempt(|state| {
        let matcher = state.matcher(handle)?;
        matcher.get_error().map_or(Ok(()), Err)?;
        // Where nothing but an end may follow, the matcher has stopped and would refuse that end, too.
        if matcher.is_stopped() {
            let env = matcher.tok_env().map_err(|e| e.to_string())?;
            return Ok(env.tok_trie().eos_tokens().contains(&token) as u32 + 1);
        }
        let valid = matcher.validate_tokens(&[token]).map_err(|e| e.to_string())?;
        Ok(valid as u32 + 1)
    })
}

#[no_mangle]
pub extern "C" fn consume(handle: u32, token: u32) -> u32 {
    attempt(|state| state.matcher(handle)?.consume_token(token).map(|()| 1).map_err(|e| e.to_string()))
}

/// 2 if the text may end here, 1 if not.
#[no_mangle]
pub extern "C" fn accepting(handle: u32) -> u32 {
    attempt(|state| state.matcher(handle)?.is_accepting().map(|yes| yes as u32 + 1).map_err(|e| e.to_string()))
}

#[no_mangle]
pub extern "C" fn release(handle: u32) {
    STATE.with_borrow_mut(|state| {
        if let Some(place) = state.matchers.get_mut((handle as usize).wrapping_sub(1)) {
            *place = None;
        }
    });
}

#[no_mangle]
pub extern "C" fn message_at() -> *const u8 {
    STATE.with_borrow(|state| state.message.as_ptr())
}

#[no_mangle]
pub extern "C" fn message_length() -> usize {
    STATE.with_borrow(|state| state.message.len())
}
