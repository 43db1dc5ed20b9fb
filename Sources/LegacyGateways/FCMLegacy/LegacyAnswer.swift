import Gateways
import PushCore

/// What legacy FCM says about each message of a request.
///
/// Counts in the answer are ignored. Results match messages only by position, so a list whose length differs from the
/// request's says nothing about any message.
struct LegacyAnswer: Sendable, Equatable {
    /// The result for one message.
    enum Result: Sendable, Equatable {
        /// It was accepted; `canonical` is the token to use instead.
        case accepted(messageID: String?, canonical: String?)
        case refused(reason: String)
        /// An unreadable result.
        case unreadable
    }

    /// The reason of outcomes whose result could not be read.
    static let unreadable = NoAnswerReason.malformed

    /// The maximum answer size; a thousand results take a tenth of it.
    static let maxBytes = 2 << 20

    /// One for each message, in their order.
    var results: [Result]
    /// A human-readable text about the whole request; empty for none.
    var message = ""
    /// Whether a refusal of the whole request has an HTML page or nothing as its body.
    var isPage = false

    /// Reads the answer to a request with this many messages.
    init(status: Int, body: [UInt8], count: Int) {
        if (200..<300).contains(status) {
            results = Self.results(body, count: count)
        } else {
            let refusal = LegacyErrorBody(body)
            results = Array(repeating: .refused(reason: refusal.reason), count: count)
            message = refusal.message
            isPage = refusal.isPage
        }
    }

    private static func results(_ body: [UInt8], count: Int) -> [Result] {
        let nothing = Array(repeating: Result.unreadable, count: count)
        guard let first = body.first(where: { $0 > 0x20 }), first == UInt8(ascii: "{"),
            let envelope = try? JSONBody.decode(LegacyAnswerFields.Envelope.self, from: body)
        else { return nothing }
        if let results = envelope.results { return results.count == count ? results.map(result) : nothing }
        guard let error = envelope.error, !error.isEmpty else { return nothing }
        return Array(repeating: .refused(reason: ReasonText.storable(error)), count: count)
    }

    private static func result(_ fields: LegacyAnswerFields.Result) -> Result {
        switch (fields.messageID, fields.error) {
        case (let id?, nil):
            return .accepted(
                messageID: id.isEmpty ? nil : ReasonText.storable(id),
                canonical: fields.registrationID.flatMap { LegacyToken.isCanonical($0) ? $0 : nil }
            )
        case (nil, let error?) where !error.isEmpty: return .refused(reason: ReasonText.storable(error))
        // Both or neither are present.
        default: return .unreadable
        }
    }
}

/// The parts of a legacy FCM answer in JSON that matter here; a field of an unexpected type counts as absent.
enum LegacyAnswerFields {
    struct Envelope: Decodable {
        var results: [Result]?
        /// The error of the whole request.
        var error: String?

        enum CodingKeys: CodingKey {
            case results, error
        }

        init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            results = try? values.decode([Result].self, forKey: .results)
            error = try? values.decode(String.self, forKey: .error)
        }
    }

    struct Result: Decodable {
        var messageID: String?
        var registrationID: String?
        var error: String?

        enum CodingKeys: String, CodingKey {
            case messageID = "message_id"
            case registrationID = "registration_id"
            case error
        }

        init(from decoder: any Decoder) throws {
            // An element that is not an object counts as an empty result.
            guard let values = try? decoder.container(keyedBy: CodingKeys.self) else { return }
            messageID = try? values.decode(String.self, forKey: .messageID)
            registrationID = try? values.decode(String.self, forKey: .registrationID)
            error = try? values.decode(String.self, forKey: .error)
        }
    }
}

/// The body of an answer to a whole request: an HTML page, a line of text, or JSON.
struct LegacyErrorBody: Sendable, Equatable {
    /// The maximum number of bytes read; pages of proxies can be long.
    private static let maxBytes = 4_096

    /// The reason, verbatim; empty if the body has none.
    var reason = ""
    /// The human-readable text.
    var message = ""

    /// Whether it is an HTML page or empty, as from proxies and load balancers. FCM's own answer about keys is a page
    /// too.
    var isPage = false

    /// Reads a body; unknown forms are ignored.
    init(_ body: [UInt8]) {
        let start = body.prefix(Self.maxBytes).drop { $0 <= 0x20 }
        switch start.first {
        case nil: isPage = true
        case UInt8(ascii: "<"):
            isPage = true
            message = Self.title(String(decoding: start, as: UTF8.self))
            reason = Self.word(message)
        case UInt8(ascii: "{"):
            let error = FCMErrorBody(body)
            if case .refused(let text)? = LegacyAnswer(status: 200, body: body, count: 1).results.first {
                reason = text
            } else {
                reason = error.reason
            }
            message = error.message
        default:
            let line = start.prefix { $0 != 0x0A && $0 != 0x0D }
            message = ReasonText.storable(String(decoding: line, as: UTF8.self))
            reason = Self.word(message)
        }
    }

    /// The title of a page.
    private static func title(_ page: String) -> String {
        guard let start = page.range(ofLetters: "<title>"),
            let end = page[start.upperBound...].firstIndex(of: "<")
        else { return "" }
        let title = page[start.upperBound..<end].split(whereSeparator: \.isWhitespace).joined(separator: " ")
        return ReasonText.storable(title)
    }

    /// The text's first word if it is a name such as `INVALID_KEY`, alone or before a colon.
    private static func word(_ text: String) -> String {
        let word = text.prefix { $0 != ":" }
        let isName = !word.isEmpty && word.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
        return isName ? String(word) : ""
    }
}

extension String {
    /// The position of ASCII text, ignoring case.
    fileprivate func range(ofLetters letters: String) -> Range<Index>? {
        let wanted = Array(letters.utf8)
        var start = utf8.startIndex
        while start != utf8.endIndex {
            var (place, matched) = (start, 0)
            while matched < wanted.count, place != utf8.endIndex, utf8[place].lowercasedLetter == wanted[matched] {
                place = utf8.index(after: place)
                matched += 1
            }
            if matched == wanted.count { return start..<place }
            start = utf8.index(after: start)
        }
        return nil
    }
}

extension UInt8 {
    /// The byte, in lower case if it is a letter.
    fileprivate var lowercasedLetter: UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self + 0x20 : self
    }
}
