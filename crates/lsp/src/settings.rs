//! Settings of the client.

use gdl::{Mode, Options};
use serde::Deserialize;
use serde_json::Value;
use std::time::Duration;

/// How rules are read, and how much is found out about them in the background.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Settings {
    /// Whether violations of the specification are errors.
    pub strict: bool,
    /// Whether names are told apart by case.
    pub case_sensitive: bool,
    /// Whether names that begin with an upper-case letter are variables, in infix notation.
    pub upper_vars: bool,
    /// Whether `knows` is judged by the rules of GDL-III.
    pub gdl3: bool,
    /// Whether `action` and `percept` are domain hints.
    pub stanford: bool,
    /// Random games to play in the background; 0 for none.
    pub games: u32,
    /// Seconds for each part of the background work.
    pub seconds: f64,
    /// Milliseconds that a document must be left alone before the background work begins; `null` for no such work.
    pub delay_ms: Option<u64>,
    /// Whether inlay hints are shown.
    pub inlay_hints: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            strict: false,
            case_sensitive: false,
            upper_vars: false,
            gdl3: false,
            stanford: false,
            games: 100,
            seconds: 3.0,
            delay_ms: Some(400),
            inlay_hints: true,
        }
    }
}

impl Settings {
    /// The settings in an object of the client: at its top or under `surmise`. What cannot be read counts as missing.
    pub fn from_value(value: &Value) -> Settings {
        let value = value.get("surmise").unwrap_or(value);
        let mut settings = Settings::default();
        // One wrong field must not spoil the others.
        if let Value::Object(fields) = value {
            let mut good = serde_json::Map::new();
            for (name, value) in fields {
                let alone = serde_json::json!({ name.as_str(): value });
                if serde_json::from_value::<Settings>(alone).is_ok() {
                    good.insert(name.clone(), value.clone());
                }
            }
            settings = serde_json::from_value(Value::Object(good)).unwrap_or(settings);
        }
        settings
    }

    /// Options of reading.
    pub fn options(&self) -> Options {
        Options {
            mode: if self.strict { Mode::Strict } else { Mode::Lenient },
            case_sensitive: self.case_sensitive,
            upper_vars: self.upper_vars,
            gdl3: self.gdl3,
            stanford: self.stanford,
            notation: None,
        }
    }

    /// Time for each part of the background work, at most a minute.
    pub fn limit(&self) -> Duration {
        let seconds = if self.seconds.is_finite() {
            self.seconds.clamp(0.01, 60.0)
        } else {
            3.0
        };
        Duration::from_secs_f64(seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn wrong_fields_are_ignored_and_others_kept() {
        let value = json!({ "surmise": { "strict": true, "games": "many", "seconds": -1, "unknown": [] } });
        let settings = Settings::from_value(&value);
        assert!(settings.strict);
        assert_eq!(settings.games, Settings::default().games);
        assert!(settings.limit() > Duration::ZERO);
        assert_eq!(Settings::from_value(&Value::Null), Settings::default());
        assert_eq!(Settings::from_value(&json!([1])), Settings::default());
        assert_eq!(Settings::from_value(&json!({ "delayMs": null })).delay_ms, None);
    }
}
