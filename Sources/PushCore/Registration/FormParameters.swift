/// The parameters of a request, from a query string or an `application/x-www-form-urlencoded` body. They come in any
/// order, are decoded, and unknown ones are kept.
///
/// SDKs encode a space as `%20`; `+` is decoded as a space too, as the form standard requires (WHATWG URL, section 5).
package struct FormParameters: Sendable, Equatable {
    /// The maximum number of parameters of a request. SDKs send about a dozen, and each costs memory before anything is
    /// validated.
    package static let maxCount = 200

    /// The values by name. If a name is repeated, the value read last counts.
    package private(set) var values: [String: String] = [:]
    /// The number of pairs read, including repeated names.
    private var count = 0
    private let limit: Int

    /// Starts without parameters and accepts at most this many.
    package init(limit: Int = Self.maxCount) { self.limit = limit }

    /// Reads pairs `name=value`, separated by `&`. A later value replaces an earlier one.
    package mutating func read(_ bytes: [UInt8]) throws(FormError) {
        var start = 0
        while start < bytes.count {
            var end = start
            var equals: Int?
            while end < bytes.count, bytes[end] != UInt8(ascii: "&") {
                if equals == nil, bytes[end] == UInt8(ascii: "=") { equals = end }
                end += 1
            }
            if end > start { try add(bytes, start, equals ?? end, end) }
            start = end + 1
        }
    }

    /// The value of a parameter; nil if it is absent.
    package subscript(_ name: String) -> String? { values[name] }

    private mutating func add(_ bytes: [UInt8], _ start: Int, _ equals: Int, _ end: Int) throws(FormError) {
        count += 1
        guard count <= limit else { throw FormError(.tooManyParameters(limit: limit)) }
        let name = try Self.decode(bytes, start, equals, name: "")
        values[name] = equals < end ? try Self.decode(bytes, equals + 1, end, name: name) : ""
    }

    /// Decodes a range. Throws for invalid UTF-8 and for U+0000, which no database stores.
    static func decode(_ bytes: [UInt8], _ start: Int, _ end: Int, name: String) throws(FormError) -> String {
        var output: [UInt8] = []
        output.reserveCapacity(end - start)
        var index = start
        while index < end {
            let byte = bytes[index]
            switch byte {
            case UInt8(ascii: "+"):
                output.append(UInt8(ascii: " "))
                index += 1
            case UInt8(ascii: "%"):
                guard index + 2 < end, let high = HexDigit.value(bytes[index + 1]),
                    let low = HexDigit.value(bytes[index + 2])
                else { throw FormError(.malformedEscape, name) }
                output.append(high << 4 | low)
                index += 3
            default:
                output.append(byte)
                index += 1
            }
        }
        guard let text = String(validating: output, as: UTF8.self) else { throw FormError(.notUTF8, name) }
        guard !output.contains(0) else { throw FormError(.nulCharacter, name) }
        return text
    }
}
