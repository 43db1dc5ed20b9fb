import PushCore

/// The body of a delivery's start.
struct StartBody: Sendable {
    /// When it is to start, an RFC 3339 text; nil: now.
    let startAt: String?

    init(_ body: JSONValue) throws(APIProblem) {
        var reader = JSONReader(body)
        startAt = reader.text("startAt", most: 40)
        if let startAt, !Self.isMoment(startAt) {
            reader.note("startAt", "a moment as in 2026-11-21T18:00:00Z is expected")
        }
        try reader.close()
    }

    /// Whether a text is a moment of RFC 3339; whether there is such a day the database says. It understands other words too, which
    /// nobody should get used to.
    private static func isMoment(_ text: String) -> Bool {
        var rest = text.utf8[...]
        func take(_ form: String) -> Bool {
            for wanted in form.utf8 {
                guard let byte = rest.first else { return false }
                let isDigit = (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                guard wanted == UInt8(ascii: "0") ? isDigit : byte == wanted else { return false }
                rest.removeFirst()
            }
            return true
        }
        guard take("0000-00-00T00:00:00") else { return false }
        if rest.first == UInt8(ascii: ".") {
            rest.removeFirst()
            let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            guard (1...6).contains(digits.count) else { return false }
            rest = rest.dropFirst(digits.count)
        }
        if rest.elementsEqual("Z".utf8) { return true }
        guard rest.first == UInt8(ascii: "+") || rest.first == UInt8(ascii: "-") else { return false }
        rest.removeFirst()
        return take("00:00") && rest.isEmpty
    }
}
