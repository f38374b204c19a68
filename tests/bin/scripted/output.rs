//! What the server writes: whole lines, from any thread.

use std::io::{Write, stdout};
use std::thread::{sleep, spawn};
use std::time::Duration;

use serde_json::{Value, json};

/// Standard output.
#[derive(Clone, Copy)]
pub(crate) struct Output;

impl Output {
    /// Bytes as they are. Nobody may be listening, which is not the server's problem.
    pub(crate) fn raw(self, bytes: &[u8]) {
        let mut out = stdout().lock();
        let _ = out.write_all(bytes).and_then(|()| out.flush());
    }

    pub(crate) fn message(self, message: &Value) {
        self.raw(format!("{message}\n").as_bytes());
    }

    pub(crate) fn answer(self, id: &Value, result: &Value) {
        self.message(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
    }

    pub(crate) fn answer_after(self, delay_ms: u64, id: &Value, result: Value) {
        if delay_ms == 0 {
            return self.answer(id, &result);
        }
        let id = id.clone();
        spawn(move || {
            sleep(Duration::from_millis(delay_ms));
            self.answer(&id, &result);
        });
    }

    pub(crate) fn error(self, id: &Value, code: i64, message: &str) {
        let error = json!({"code": code, "message": message});
        self.message(&json!({"jsonrpc": "2.0", "id": id, "error": error}));
    }

    pub(crate) fn note(self, method: &str, params: &Value) {
        self.message(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }
}
