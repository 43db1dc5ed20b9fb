import PushCore

/// A variable that an application declares: a value that its code reads from a message, in addition to the standard
/// fields.
package struct ApplicationVariable: Sendable, Hashable, Codable {
    /// The type of a variable's value.
    package enum Kind: String, Sendable, Hashable, Codable, CaseIterable {
        case text
        case integer
        case number
        case boolean
        case url
    }

    /// Its name in the payload and in the application's code.
    package let name: String
    /// The type of its value.
    package let type: Kind
    /// The value for messages whose delivery gives none, as it is written in content; nil if they carry no such
    /// variable.
    package let defaultValue: String?
    /// The display name.
    package let label: String

    private enum CodingKeys: String, CodingKey {
        case name, type, label
        case defaultValue = "default"
    }

    /// Decodes a variable as stored in the database: type and label may be absent.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        name = try container.decode(String.self, forKey: .name)
        type = try container.decodeIfPresent(Kind.self, forKey: .type) ?? .text
        defaultValue = try container.decodeIfPresent(String.self, forKey: .defaultValue)
        label = try container.decodeIfPresent(String.self, forKey: .label) ?? ""
    }

    /// Creates a variable; throws if the platform does not allow the name, or the default does not have the type.
    package init(
        name: String,
        type: Kind,
        defaultValue: String? = nil,
        label: String = "",
        platform: Platform
    ) throws(DeclarationError) {
        let isNamed =
            !name.isEmpty && name.utf8.count <= Self.maxNameBytes
            && !name.unicodeScalars.contains(where: Self.isUnfit)
        guard isNamed else {
            throw DeclarationError(
                "variable \"\(name.prefix(80))\"",
                "its name is empty, longer than \(Self.maxNameBytes) bytes, or has invisible characters",
                "choose a short name of letters and digits: a message has 4 KiB"
            )
        }
        if let reason = Self.reserved(name, platform) {
            throw DeclarationError("variable \"\(name)\"", reason, "choose another name")
        }
        if let defaultValue, !type.accepts(defaultValue) {
            throw DeclarationError("variable \"\(name)\"", "its default is not \(type.words)", "give \(type.example)")
        }
        if let defaultValue, let problem = Self.problem(defaultValue, type) {
            throw DeclarationError("variable \"\(name)\"", "in its default \(problem.cause)", problem.remedy)
        }
        self.name = name
        self.type = type
        self.defaultValue = defaultValue
        self.label = label
    }

    /// The problem of a default as content. It becomes part of the content of every delivery that does not set the
    /// variable.
    private static func problem(_ text: String, _ type: Kind) -> ContentProblem? {
        var validator = ContentValidator()
        validator.checkTemplates(type.value(text), "")
        return validator.problems.first
    }

    /// The variable of the messages that remove a recalled delivery: the delivery's id in hexadecimal.
    package static let recall = "_recall"

    /// Names count against a message's 4 KiB.
    private static let maxNameBytes = 64

    private static func isUnfit(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isWhitespace || scalar.properties.generalCategory == .control
    }

    /// Why a name is reserved on the platform; nil if it is not.
    ///
    /// APNs: `aps` is the system's dictionary. FCM refuses `from`, `message_type` and names that begin with `google` or
    /// `gcm` (firebase.google.com, "Message.data"). `_mId`, `_dId` and `_recall` are this product's own.
    private static func reserved(_ name: String, _ platform: Platform) -> String? {
        if name == "_mId" || name == "_dId" { return "the name is reserved for a tracking id" }
        if name == recall { return "the name is reserved for recalls" }
        switch platform {
        case .ios:
            return name == "aps" ? "the name is reserved by Apple" : nil
        case .android:
            let isReserved =
                name == "from" || name == "message_type" || name.hasPrefix("google") || name.hasPrefix("gcm")
            return isReserved ? "the name is reserved by Firebase Cloud Messaging" : nil
        }
    }
}

/// Which values a variable accepts.
extension ApplicationVariable.Kind {
    /// The kind with its article, for messages to people.
    package var words: String {
        switch self {
        case .text: "a text"
        case .integer: "a whole number"
        case .number: "a number"
        case .boolean: "true or false"
        case .url: "a URL"
        }
    }

    var example: String {
        switch self {
        case .text: "any text"
        case .integer: "a number such as 42"
        case .number: "a number such as 4.2"
        case .boolean: "true or false"
        case .url: "a URL with its scheme, such as https://example.com/ or shop://cart"
        }
    }

    /// Whether a text can stand for a value of this kind.
    package func accepts(_ text: String) -> Bool {
        switch self {
        case .text: !text.unicodeScalars.contains { $0.value == 0 }
        case .integer: Self.isNumber(text, withFraction: false)
        case .number: Self.isNumber(text, withFraction: true)
        case .boolean: text == "true" || text == "false"
        case .url: Self.isURL(text)
        }
    }

    /// A JSON number: only such a text may appear in a payload without quotes.
    private static func isNumber(_ text: String, withFraction: Bool) -> Bool {
        guard case .number(let digits)? = try? JSONParser.parse(text.utf8), digits == text else { return false }
        let isWhole = digits.utf8.allSatisfy { $0 == UInt8(ascii: "-") || (0x30...0x39).contains($0) }
        return withFraction || isWhole
    }

    /// A scheme (RFC 3986, section 3.1), a colon and text without spaces. Deep links have their own schemes and forms,
    /// so nothing more is checked.
    private static func isURL(_ text: String) -> Bool {
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return false }
        let scheme = Array(text.utf8[..<colon])
        guard let first = scheme.first, isLetter(first) else { return false }
        let rest = text.utf8[text.utf8.index(after: colon)...]
        // A device must not open a script.
        guard !["javascript", "vbscript"].contains(String(decoding: scheme, as: UTF8.self).lowercased()) else {
            return false
        }
        return scheme.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) || [0x2B, 0x2D, 0x2E].contains($0) }
            && !rest.isEmpty && rest.allSatisfy { $0 > 0x20 && $0 != 0x7F }
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }
}

extension ApplicationVariable.Kind {
    /// A default as content has it.
    func value(_ text: String) -> JSONValue {
        switch self {
        case .text, .url: .string(text)
        case .integer, .number: .number(text)
        case .boolean: .boolean(text == "true")
        }
    }
}
