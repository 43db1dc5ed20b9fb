/// A setting: its key, unit and type, and how it may be shown.
package struct SettingDefinition: Sendable {
    /// The key as in the file, its parts joined with dots.
    package let key: String
    /// The unit of the value, as shown to people.
    package let unit: String
    /// The type of the value and its location in ``Settings``.
    package let access: SettingAccess
    /// Whether the value may contain a secret, so that it must be redacted.
    package let mayHoldSecret: Bool
    /// Whether the whole value is a secret.
    package let isSecret: Bool

    package init(
        _ key: String,
        unit: String,
        _ access: SettingAccess,
        mayHoldSecret: Bool = false,
        isSecret: Bool = false
    ) {
        self.key = key
        self.unit = unit
        self.access = access
        self.mayHoldSecret = mayHoldSecret
        self.isSecret = isSecret
    }

    /// The parts of the key.
    package var components: [String] { key.split(separator: ".").map(String.init) }

    /// The value in `settings` as text.
    package func text(in settings: Settings) -> String {
        switch access {
        case .integer(let path, _): String(settings[keyPath: path])
        case .text(let path), .choice(let path, _), .timeOfDay(let path): settings[keyPath: path]
        case .flag(let path): String(settings[keyPath: path])
        }
    }

    /// The value in `settings` as text that anyone may see: secrets are redacted.
    package func redactedText(in settings: Settings) -> String {
        let value = text(in: settings)
        if isSecret { return SecretRedaction.secret(value) }
        return mayHoldSecret ? SecretRedaction.connectionString(value) : value
    }

    /// Sets the value.
    ///
    /// - Throws: ``SettingsError`` if the number is out of range, the word is not in the list, or the text is not a
    ///   flag or time of day.
    package func set(_ value: SettingValue, in settings: inout Settings) throws(SettingsError) {
        switch (access, value) {
        case (.integer(let path, let range), .integer(let number)):
            guard range.contains(number) else {
                throw SettingsError(
                    .range,
                    "\(key) is \(number): give a number from \(range.lowerBound) to \(range.upperBound) (\(unit))"
                )
            }
            settings[keyPath: path] = number
        case (.text(let path), .text(let text)):
            settings[keyPath: path] = text
        case (.choice(let path, let words), .text(let text)):
            guard words.contains(text) else {
                throw SettingsError(.range, "\(key) is “\(text)”: give one of \(words.joined(separator: ", "))")
            }
            settings[keyPath: path] = text
        case (.flag(let path), .text(let text)):
            guard let flag = Bool(text.lowercased()) else {
                throw SettingsError(.range, "\(key) is “\(text)”: give \(typeName)")
            }
            settings[keyPath: path] = flag
        case (.timeOfDay(let path), .text(let text)):
            guard text.isEmpty || TimeOfDay(text) != nil else {
                throw SettingsError(.range, "\(key) is “\(text)”: give \(typeName)")
            }
            settings[keyPath: path] = text
        case (_, .integer), (.integer, .text):
            throw SettingsError(.type, "\(key) has a value of the wrong type: give \(typeName)")
        }
    }

    /// The allowed values, for messages.
    package var typeName: String {
        switch access {
        case .integer(_, let range): "a whole number from \(range.lowerBound) to \(range.upperBound) (\(unit))"
        case .text: "a text (\(unit))"
        case .choice(_, let words): "one of \(words.joined(separator: ", "))"
        case .flag: "true or false"
        case .timeOfDay: "a time of day such as 06:00:00, or an empty text for never"
        }
    }
}

/// The type of a setting and the location of its value in ``Settings``.
package enum SettingAccess: Sendable {
    /// A whole number within a range.
    case integer(any WritableKeyPath<Settings, Int> & Sendable, ClosedRange<Int>)
    case text(any WritableKeyPath<Settings, String> & Sendable)
    /// One word of a list.
    case choice(any WritableKeyPath<Settings, String> & Sendable, [String])
    /// `true` or `false`.
    case flag(any WritableKeyPath<Settings, Bool> & Sendable)
    /// A ``TimeOfDay`` as text; empty: never.
    case timeOfDay(any WritableKeyPath<Settings, String> & Sendable)
}

/// The value of a setting as given in a file, the environment or a flag.
package enum SettingValue: Sendable, Equatable {
    case integer(Int)
    case text(String)
}
