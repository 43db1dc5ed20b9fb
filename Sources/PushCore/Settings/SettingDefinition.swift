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

    /// Describes a setting.
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
