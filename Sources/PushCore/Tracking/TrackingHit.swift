/// A tracking request, kept until the database has it.
package struct TrackingHit: Sendable, Hashable {
    /// The message, and what happened to it.
    package var id: TrackingID
    /// The time of the request, in microseconds of Unix time.
    package var microseconds: Int64
    package var address: IPAddress?
    package var userAgent: String

    /// The maximum length of a user agent in bytes; the user agents of SDKs have about 100.
    package static let maxAgentLength = 300

    /// Makes a hit; a longer user agent is cut.
    package init(id: TrackingID, microseconds: Int64, address: IPAddress?, userAgent: String) {
        self.id = id
        self.microseconds = microseconds
        self.address = address
        self.userAgent =
            userAgent.utf8.count <= Self.maxAgentLength ? userAgent : Self.cut(userAgent)
    }

    /// The platform according to the user agent.
    package var platform: Platform? { Self.platform(of: userAgent) }

    /// The platform that a user agent names.
    ///
    /// Adobe's SDKs send `Mozilla/5.0 (Linux; U; …)` on Android and `Mozilla/5.0 (…; CPU OS 14_5 like Mac OS X; …)` on iOS.
    /// Other clients name their system or its network library.
    static func platform(of userAgent: String) -> Platform? {
        let bytes = Array(userAgent.utf8)
        if androidWords.contains(where: { holds(bytes, $0) }) { return .android }
        return iosWords.contains { holds(bytes, $0) } ? .ios : nil
    }

    private static let androidWords = ["Android", "Linux; U;", "okhttp", "Dalvik"].map { Array($0.utf8) }
    private static let iosWords = ["like Mac OS X", "iPhone", "iPad", "CFNetwork", "Darwin"].map { Array($0.utf8) }

    /// Each hit is searched for up to nine words. The standard library's generic search led the profile.
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
        String(decoding: text.utf8.prefix(maxAgentLength), as: UTF8.self)
    }
}
