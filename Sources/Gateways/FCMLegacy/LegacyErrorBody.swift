/// The body of an answer to a whole request: an HTML page, a line of text, or JSON.
struct LegacyErrorBody: Sendable, Equatable {
    /// Bytes that are looked at; pages of proxies can be long.
    private static let mostBytes = 4_096

    /// The reason, word for word; empty when the body says none.
    var reason = ""
    /// The text for people.
    var message = ""

    /// Reads a body; what is none of the known forms is left out.
    init(_ body: [UInt8]) {
        let start = body.prefix(Self.mostBytes).drop { $0 <= 0x20 }
        switch start.first {
        case nil: return
        case UInt8(ascii: "<"):
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
