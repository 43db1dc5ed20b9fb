/// Parameters of a request, from a query string or an `application/x-www-form-urlencoded` body: in any order, decoded,
/// unknown ones kept.
///
/// SDKs write spaces as `%20`; `+` is taken for one too, as the form standard (WHATWG URL, section 5) has it.
public struct FormParameters: Sendable, Equatable {
    /// The most parameters of one request: the SDKs send a dozen, and each costs memory before anything is checked.
    public static let maximumCount = 200

    /// Names with their values; of a name that comes more than once the value that was read last.
    public private(set) var values: [String: String] = [:]
    /// Pairs that were read, repeated names included.
    private var count = 0
    private let most: Int

    /// No parameters, of which so many are taken.
    public init(most: Int = Self.maximumCount) { self.most = most }

    /// Reads pairs `name=value`, separated with `&`; what is read later wins over what was there.
    public mutating func read(_ bytes: [UInt8]) throws(FormError) {
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

    /// The value of a name, nil if it was not given.
    public subscript(_ name: String) -> String? { values[name] }

    private mutating func add(_ bytes: [UInt8], _ start: Int, _ equals: Int, _ end: Int) throws(FormError) {
        count += 1
        guard count <= most else { throw FormError(.tooManyParameters(most: most)) }
        let name = try Self.decode(bytes, start, equals, name: "")
        values[name] = equals < end ? try Self.decode(bytes, equals + 1, end, name: name) : ""
    }

    /// Undoes the encoding of a range; throws for what is no UTF-8, and for U+0000, which no database stores.
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

/// Why parameters of a request cannot be read.
public struct FormError: Error, Sendable, Hashable, CustomStringConvertible {
    public enum Code: Sendable, Hashable {
        /// A `%` is not followed by two hexadecimal digits.
        case malformedEscape
        /// A value's bytes are no UTF-8.
        case notUTF8
        /// A value holds the character U+0000.
        case nulCharacter
        /// There are more parameters than are taken.
        case tooManyParameters(most: Int)
    }

    public let code: Code
    /// The parameter at fault, "" if it is not known; never its value.
    public let name: String

    init(_ code: Code, _ name: String = "") {
        self.code = code
        self.name = String(name.prefix(80))
    }

    /// What is wrong and what it should be.
    public var description: String {
        let place = name.isEmpty ? "A parameter" : "Parameter \(name)"
        return switch code {
        case .malformedEscape: "\(place) has a % without two hexadecimal digits."
        case .notUTF8: "\(place) is not UTF-8."
        case .nulCharacter: "\(place) holds the character U+0000."
        case .tooManyParameters(let most): "There are more than \(most) parameters."
        }
    }
}
