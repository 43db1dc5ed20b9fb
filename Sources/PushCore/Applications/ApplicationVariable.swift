/// A variable that an application declares: what its code understands in a message beside the standard fields.
public struct ApplicationVariable: Sendable, Hashable, Codable {
    /// What a variable's value must be.
    public enum Kind: String, Sendable, Hashable, Codable, CaseIterable {
        case text
        case integer
        case number
        case boolean
        case url
    }

    /// Its name in the payload and in the application's code.
    public let name: String
    /// What its value must be.
    public let type: Kind
    /// The value of messages whose delivery gives none, as it is written in content; nil if they do without it.
    public let defaultValue: String?
    /// Its name for people.
    public let label: String

    private enum CodingKeys: String, CodingKey {
        case name, type, label
        case defaultValue = "default"
    }

    /// A variable as the database keeps it: type and label may be absent.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        name = try container.decode(String.self, forKey: .name)
        type = try container.decodeIfPresent(Kind.self, forKey: .type) ?? .text
        defaultValue = try container.decodeIfPresent(String.self, forKey: .defaultValue)
        label = try container.decodeIfPresent(String.self, forKey: .label) ?? ""
    }

    /// A variable; throws if the platform has no such name or the default is not of the type.
    public init(
        name: String,
        type: Kind,
        defaultValue: String? = nil,
        label: String = "",
        platform: Platform
    ) throws(DeclarationError) {
        let isNamed =
            !name.isEmpty && name.utf8.count <= Self.maximumNameBytes
            && !name.unicodeScalars.contains(where: Self.isUnfit)
        guard isNamed else {
            throw DeclarationError(
                "variable \"\(name.prefix(80))\"",
                "its name is empty, longer than \(Self.maximumNameBytes) bytes, or has characters that cannot be seen",
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

    /// What is wrong with a default as content: every delivery that does not give the variable has it in its own.
    private static func problem(_ text: String, _ type: Kind) -> ContentProblem? {
        var validator = ContentValidator()
        validator.checkTemplates(type.value(text), "")
        return validator.problems.first
    }

    /// A message has 4 KiB, of which names take their part.
    private static let maximumNameBytes = 64

    private static func isUnfit(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isWhitespace || scalar.properties.generalCategory == .control
    }

    /// Why the platform keeps a name for itself; nil if it does not.
    ///
    /// APNs: `aps` is the system's dictionary. FCM refuses `from`, `message_type` and what begins with `google` or `gcm`
    /// (firebase.google.com, "Message.data"). `_mId` and `_dId` are this product's own, for tracking.
    private static func reserved(_ name: String, _ platform: Platform) -> String? {
        if name == "_mId" || name == "_dId" { return "the name is that of a tracking id" }
        switch platform {
        case .ios:
            return name == "aps" ? "the name is Apple's own" : nil
        case .android:
            let isReserved =
                name == "from" || name == "message_type" || name.hasPrefix("google") || name.hasPrefix("gcm")
            return isReserved ? "the name is reserved by Firebase Cloud Messaging" : nil
        }
    }
}
