import Crypto

/// A bearer key of the API: `pushmta_`, 16 hexadecimal digits that name it, `_`, and 64 that nobody can guess.
///
/// The database keeps the SHA-256 of the whole text. A slow hash, as passwords need one, would protect nothing: among 2^256
/// secrets there is nothing to try, and every request would pay for it.
public struct APIKey: Sendable {
    /// What names the key in lists and look-ups; no secret.
    public let publicID: String
    /// The whole key, which is shown once, when it is made.
    public let secretText: String

    private static let prefix = "pushmta_"
    private static let idLength = 16
    private static let secretLength = 64

    /// Reads a key as it came; nil if it has not the form of one.
    public init?(_ text: String) {
        let bytes = Array(text.utf8)
        let idStart = Self.prefix.utf8.count
        let secretStart = idStart + Self.idLength + 1
        guard bytes.count == secretStart + Self.secretLength, text.hasPrefix(Self.prefix),
            bytes[secretStart - 1] == UInt8(ascii: "_"),
            Self.isHex(bytes[idStart..<secretStart - 1]), Self.isHex(bytes[secretStart...])
        else { return nil }
        publicID = String(decoding: bytes[idStart..<secretStart - 1], as: UTF8.self)
        secretText = text
    }

    /// Makes a key with 256 random bits.
    ///
    /// - Parameter random: one whose numbers nobody can foretell, such as `SystemRandomNumberGenerator`.
    public init(using random: inout some RandomNumberGenerator) {
        publicID = Self.hex(random.next())
        let secret = (0..<4).map { _ in Self.hex(random.next()) }.joined()
        secretText = Self.prefix + publicID + "_" + secret
    }

    /// What the database keeps of it: 32 bytes.
    public var hash: [UInt8] { Array(SHA256.hash(data: Array(secretText.utf8))) }

    /// Whether two hashes are the same; it takes as long whatever they have in common.
    public static func isSame(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        guard left.count == right.count else { return false }
        var difference: UInt8 = 0
        for (one, other) in zip(left, right) { difference |= one ^ other }
        return difference == 0
    }

    /// In lower case only: one key has one text.
    private static func isHex(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.allSatisfy { HexDigit.value($0) != nil && !(UInt8(ascii: "A")...UInt8(ascii: "F")).contains($0) }
    }

    private static func hex(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: idLength - digits.count) + digits
    }
}

/// What a key of the API may be used for.
public enum APIScope: String, Sendable, Hashable, CaseIterable {
    /// Registers, unregisters, opts out and in.
    case writeDevices = "devices:write"
    /// Reads devices, with their push tokens.
    case readDevices = "devices:read"
    /// Creates deliveries and controls them; keeps templates and seed addresses.
    case writeDeliveries = "deliveries:write"
    /// Reads deliveries and their outcomes, templates and seed addresses.
    case readDeliveries = "deliveries:read"
    /// Sends single messages.
    case sendMessages = "messages:send"
    /// Looks single messages up.
    case readMessages = "messages:read"
    case readApplications = "applications:read"
    /// Makes and changes exclusion lists: apart from deliveries, as who is taken off one gets messages again.
    case writeExclusions = "exclusions:write"
    /// Reads exclusion lists and looks people up on them.
    case readExclusions = "exclusions:read"

    /// What it allows, for people.
    public var meaning: String {
        switch self {
        case .writeDevices: "Register, unregister, opt out and in."
        case .readDevices: "Read devices, with their push tokens."
        case .writeDeliveries: "Create, start, pause, resume and stop deliveries; keep templates and seed addresses."
        case .readDeliveries: "Read deliveries and their outcomes, templates and seed addresses."
        case .sendMessages: "Send single messages."
        case .readMessages: "Look single messages up."
        case .readApplications: "Read applications."
        case .writeExclusions: "Make and delete exclusion lists, and change who is on them."
        case .readExclusions: "Read exclusion lists, and look people up on them."
        }
    }
}
