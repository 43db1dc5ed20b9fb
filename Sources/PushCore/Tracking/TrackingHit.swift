/// A tracking request as it is kept until the database has it.
public struct TrackingHit: Sendable, Hashable {
    /// Which message, and what happened.
    public var id: TrackingID
    /// When it came, in microseconds of Unix time.
    public var microseconds: Int64
    public var address: IPAddress?
    public var userAgent: String

    /// The most bytes of a user agent that are kept: those of SDKs have about 100.
    public static let longestAgent = 300

    /// A hit; a long user agent is cut.
    public init(id: TrackingID, microseconds: Int64, address: IPAddress?, userAgent: String) {
        self.id = id
        self.microseconds = microseconds
        self.address = address
        self.userAgent =
            userAgent.utf8.count <= Self.longestAgent ? userAgent : Self.cut(userAgent)
    }

    /// The platform that the user agent names.
    public var platform: Platform? { Self.platform(of: userAgent) }

    /// Core of Adobe's SDKs sends `Mozilla/5.0 (Linux; U; …)` on Android and `Mozilla/5.0 (…; CPU OS 14_5 like Mac OS X; …)`
    /// on iOS; other clients name their system or its network library.
    static func platform(of userAgent: String) -> Platform? {
        let bytes = Array(userAgent.utf8)
        if androidWords.contains(where: { holds(bytes, $0) }) { return .android }
        return iosWords.contains { holds(bytes, $0) } ? .ios : nil
    }

    private static let androidWords = ["Android", "Linux; U;", "okhttp", "Dalvik"].map { Array($0.utf8) }
    private static let iosWords = ["like Mac OS X", "iPhone", "iPad", "CFNetwork", "Darwin"].map { Array($0.utf8) }

    /// Each hit is looked through for up to nine words: the library's own search, generic as it is, led the profile.
    private static func holds(_ text: [UInt8], _ word: [UInt8]) -> Bool {
        guard text.count >= word.count else { return false }
        let first = word[0]
        for start in 0...(text.count - word.count) where text[start] == first {
            var place = 1
            while place < word.count, text[start + place] == word[place] { place += 1 }
            if place == word.count { return true }
        }
        return false
    }

    private static func cut(_ text: String) -> String {
        String(decoding: text.utf8.prefix(longestAgent), as: UTF8.self)
    }
}
