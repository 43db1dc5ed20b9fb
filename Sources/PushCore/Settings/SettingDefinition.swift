/// One setting: its key, type, unit and how it may be shown.
public struct SettingDefinition: Sendable {
    /// The key as it stands in the file, its parts joined with dots.
    public let key: String
    /// The unit of the value, for people.
    public let unit: String
    /// The type of the value and its place.
    public let access: SettingAccess
    /// Whether the value may hold a secret, so that it is shown with the secret part left out.
    public let mayHoldSecret: Bool
    /// Whether the whole value is a secret.
    public let isSecret: Bool

    public init(
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
    public var components: [String] { key.split(separator: ".").map(String.init) }

    /// The value in `settings` as text.
    public func text(in settings: Settings) -> String {
        switch access {
        case .integer(let path, _): String(settings[keyPath: path])
        case .text(let path), .choice(let path, _), .timeOfDay(let path): settings[keyPath: path]
        case .flag(let path): String(settings[keyPath: path])
        }
    }

    /// The value in `settings` as text that may be shown to anybody: secrets are left out.
    public func redactedText(in settings: Settings) -> String {
        let value = text(in: settings)
        if isSecret { return SecretRedaction.secret(value) }
        return mayHoldSecret ? SecretRedaction.connectionString(value) : value
    }

    /// Sets the value.
    ///
    /// - Throws: ``SettingsError`` if the number is outside the range, the word is not in the list, or the text is no flag or
    ///   no time of day.
    public func set(_ value: SettingValue, in settings: inout Settings) throws(SettingsError) {
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

    /// What a value has to be, for messages.
    public var typeName: String {
        switch access {
        case .integer(_, let range): "a whole number from \(range.lowerBound) to \(range.upperBound) (\(unit))"
        case .text: "a text (\(unit))"
        case .choice(_, let words): "one of \(words.joined(separator: ", "))"
        case .flag: "true or false"
        case .timeOfDay: "a time of day such as 06:00:00, or an empty text for never"
        }
    }
}

/// The type of a setting and where in ``Settings`` its value is.
public enum SettingAccess: Sendable {
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

/// The value of a setting as a file, the environment or a flag gives it.
public enum SettingValue: Sendable, Equatable {
    case integer(Int)
    case text(String)
}

/// A setting that cannot be used, with the way out.
public struct SettingsError: Error, Sendable, Equatable, CustomStringConvertible {
    public enum Code: String, Sendable {
        /// No setting has this key.
        case unknownKey
        /// The value has the wrong type.
        case type
        /// The value is outside what is allowed.
        case range
        /// The file cannot be read or is not YAML.
        case file
    }

    public let code: Code
    /// What is wrong, with which key, and what to do.
    public let message: String

    /// Describes what is wrong with a setting.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { message }
}

/// A time of day on a host's own clock and in its time zone.
public struct TimeOfDay: Sendable, Equatable {
    /// 0 to 23.
    public let hour: Int
    /// 0 to 59.
    public let minute: Int
    /// 0 to 59.
    public let second: Int

    /// Reads `HH:MM:SS`, two digits each; `nil` if the text is anything else.
    public init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        let areDigits = parts.allSatisfy { $0.utf8.count == 2 && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }
        guard parts.count == 3, areDigits, let hour = Int(parts[0]), let minute = Int(parts[1]),
            let second = Int(parts[2]), hour < 24, minute < 60, second < 60
        else { return nil }
        self.hour = hour
        self.minute = minute
        self.second = second
    }
}

/// Leaves secrets out of text that people see.
public enum SecretRedaction {
    /// What stands in the place of a secret.
    public static let mark = "<redacted>"

    /// A libpq connection string or URI as it may be shown: as it is without a password, the mark with one.
    ///
    /// The whole string goes, and not the password alone, because libpq's quoting has many forms and a half-hidden password
    /// is worse than a hidden host name.
    public static func connectionString(_ text: String) -> String {
        let lower = text.lowercased()
        if lower.contains("password") { return mark }
        guard lower.hasPrefix("postgres://") || lower.hasPrefix("postgresql://") else { return text }
        let authority = lower.split(separator: "/", omittingEmptySubsequences: true).dropFirst().first ?? ""
        guard let at = authority.lastIndex(of: "@") else { return text }
        return authority[..<at].contains(":") ? mark : text
    }

    /// A secret as it may be shown: whether there is one.
    public static func secret(_ text: String) -> String {
        text.isEmpty ? "" : mark
    }

    /// An address without what stands before an `@`, which may be a name and a password.
    public static func userInfo(_ text: String) -> String {
        guard let at = text.lastIndex(of: "@") else { return text }
        return mark + text[at...]
    }
}
