import PushCore

/// What legacy FCM says about each message of a request.
///
/// Counts in the answer are not looked at. Results belong to messages by their place only, so that a list of another length than
/// the request's says nothing about any of them.
struct LegacyAnswer: Sendable, Equatable {
    /// What is said about one message.
    enum Result: Sendable, Equatable {
        /// It was taken; `canonical` is the token that is wanted instead.
        case accepted(messageID: String?, canonical: String?)
        case refused(reason: String)
        /// Nothing that could be understood.
        case unreadable
    }

    /// The reason of outcomes whose result could not be read.
    static let unreadable = NoAnswerReason.malformed

    /// The largest answer that is read: a thousand results take a tenth of it.
    static let mostBytes = 2 << 20

    /// One for each message, in their order.
    var results: [Result]
    /// A text for people about the whole request; empty for none.
    var message = ""
    /// Whether a refusal of the whole request is a page, or nothing at all.
    var isPage = false

    /// Reads the answer to a request with so many messages.
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
        // Both, or neither.
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
            // An element that is no object is an empty result.
            guard let values = try? decoder.container(keyedBy: CodingKeys.self) else { return }
            messageID = try? values.decode(String.self, forKey: .messageID)
            registrationID = try? values.decode(String.self, forKey: .registrationID)
            error = try? values.decode(String.self, forKey: .error)
        }
    }
}

/// The body of an answer to a whole request: an HTML page, a line of text, or JSON.
struct LegacyErrorBody: Sendable, Equatable {
    /// Bytes that are looked at; pages of proxies can be long.
    private static let mostBytes = 4_096

    /// The reason, word for word; empty when the body says none.
    var reason = ""
    /// The text for people.
    var message = ""

    /// Whether it is a page or nothing at all, as proxies and load balancers give it; so is FCM's own word about keys.
    var isPage = false

    /// Reads a body; what is none of the known forms is left out.
    init(_ body: [UInt8]) {
        let start = body.prefix(Self.mostBytes).drop { $0 <= 0x20 }
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
    /// Where ASCII letters stand, whatever their case.
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
    /// The byte, of a capital letter its small one.
    fileprivate var lowercasedLetter: UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self + 0x20 : self
    }
}
