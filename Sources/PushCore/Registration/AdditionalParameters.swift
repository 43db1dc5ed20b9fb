/// The parameter `additionalParams` of a registration: a small XML document with the app's own values.
///
/// The iOS SDK writes `<additionalParams><param name="k" value="v" /></additionalParams>`, the Android SDK
/// `<additionalParameters><param name="k" value="v"/></additionalParameters>` (RegistrationManager.swift and
/// CampaignClassicMapSerializer.java of Adobe's public SDKs). Any document of this form is accepted: either root, any
/// quotes and white space, entities and numeric references. Comments, CDATA and document types are refused, which rules
/// out attacks through XML features.
package enum AdditionalParameters {
    /// The maximum number of parameters of one registration.
    package static let maxCount = 200

    /// Parses the document; an empty text has no parameters. If a name is repeated, the last value counts.
    package static func parse(_ text: String) throws(AdditionalParametersError) -> [String: String] {
        var reader = AdditionalParametersReader(Array(text.utf8))
        return try reader.document()
    }
}

/// Reads the bytes of ``AdditionalParameters`` from front to back, never past the end.
struct AdditionalParametersReader {
    private let bytes: [UInt8]
    private var index = 0

    private static let roots = ["additionalParams", "additionalParameters"].map { Array($0.utf8) }
    private static let element = Array("param".utf8)

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    mutating func document() throws(AdditionalParametersError) -> [String: String] {
        skipSpace()
        guard index < bytes.count else { return [:] }
        guard take("<"), let root = Self.roots.first(where: { $0 == peekName() }) else { throw failure(.root) }
        index += root.count
        skipSpace()
        var values: [String: String] = [:]
        if !take("/>") {
            guard take(">") else { throw failure(.root) }
            try children(until: root, into: &values)
        }
        skipSpace()
        guard index == bytes.count else { throw failure(.element) }
        return values
    }

    private mutating func children(
        until root: [UInt8],
        into values: inout [String: String]
    ) throws(AdditionalParametersError) {
        var count = 0
        while true {
            skipSpace()
            if take("</") {
                try end(of: root)
                return
            }
            guard take("<"), peekName() == Self.element else { throw failure(.element) }
            count += 1
            guard count <= AdditionalParameters.maxCount else { throw failure(.tooMany) }
            index += Self.element.count
            let (name, value) = try attributes()
            values[name] = value
        }
    }

    /// The attributes and the end of a `param`, in either form.
    private mutating func attributes() throws(AdditionalParametersError) -> (name: String, value: String) {
        var name: String?
        var value: String?
        while true {
            let hadSpace = skipSpace()
            if take("/>") { break }
            if take(">") {
                skipSpace()
                guard take("</") else { throw failure(.element) }
                try end(of: Self.element)
                break
            }
            guard hadSpace else { throw failure(.attribute) }
            if name == nil, take("name") {
                name = try attributeValue()
            } else if value == nil, take("value") {
                value = try attributeValue()
            } else {
                throw failure(.attribute)
            }
        }
        guard let name, let value else { throw failure(.attribute) }
        return (name, value)
    }

    private mutating func attributeValue() throws(AdditionalParametersError) -> String {
        skipSpace()
        guard take("=") else { throw failure(.attribute) }
        skipSpace()
        guard index < bytes.count else { throw failure(.attribute) }
        let quote = bytes[index]
        guard quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else { throw failure(.attribute) }
        index += 1
        var output: [UInt8] = []
        while index < bytes.count, bytes[index] != quote {
            switch bytes[index] {
            case UInt8(ascii: "<"): throw failure(.attribute)
            case UInt8(ascii: "&"): try reference(into: &output)
            default:
                output.append(bytes[index])
                index += 1
            }
        }
        guard index < bytes.count else { throw failure(.attribute) }
        index += 1
        // The bytes between ASCII characters of valid UTF-8 are valid UTF-8, and so are the appended references.
        return String(decoding: output, as: UTF8.self)
    }

    private mutating func reference(into output: inout [UInt8]) throws(AdditionalParametersError) {
        guard let reference = XMLReference(bytes, at: index) else { throw failure(.reference) }
        output.append(contentsOf: String(Character(reference.character)).utf8)
        index = reference.end
    }

    private mutating func end(of name: [UInt8]) throws(AdditionalParametersError) {
        guard peekName() == name else { throw failure(.element) }
        index += name.count
        skipSpace()
        guard take(">") else { throw failure(.element) }
    }

    /// The letters at the current position.
    private func peekName() -> [UInt8] {
        var end = index
        while end < bytes.count, (bytes[end] | 0x20) >= UInt8(ascii: "a"), (bytes[end] | 0x20) <= UInt8(ascii: "z") {
            end += 1
        }
        return Array(bytes[index..<end])
    }

    private mutating func take(_ text: StaticString) -> Bool {
        let wanted = text.description.utf8
        guard bytes[index...].starts(with: wanted) else { return false }
        index += wanted.count
        return true
    }

    @discardableResult
    private mutating func skipSpace() -> Bool {
        let start = index
        while index < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[index]) { index += 1 }
        return index > start
    }

    private func failure(_ code: AdditionalParametersError.Code) -> AdditionalParametersError {
        AdditionalParametersError(code, at: index)
    }
}

/// A reference to a character in XML: one of the five predefined entities, or a number (XML 1.0, section 4.1).
///
/// Control characters are accepted, although XML 1.0 forbids them; unescaped ones are accepted too. A device whose
/// registration was refused because of one in a name would never send it again. U+0000 is refused, as no database
/// stores it.
struct XMLReference {
    /// The character that it stands for.
    let character: Unicode.Scalar
    /// The index after the reference.
    let end: Int

    private static let entities: [(name: [UInt8], character: Unicode.Scalar)] = [
        (Array("&amp;".utf8), "&"), (Array("&lt;".utf8), "<"), (Array("&gt;".utf8), ">"),
        (Array("&quot;".utf8), "\""), (Array("&apos;".utf8), "'"),
    ]

    /// Parses the reference that begins at the index with a `&`; nil if it is not a valid one.
    init?(_ bytes: [UInt8], at start: Int) {
        if let entity = Self.entities.first(where: { bytes[start...].starts(with: $0.name) }) {
            character = entity.character
            end = start + entity.name.count
            return
        }
        guard start + 2 < bytes.count, bytes[start + 1] == UInt8(ascii: "#") else { return nil }
        let isHex = bytes[start + 2] == UInt8(ascii: "x")
        let radix: UInt32 = isHex ? 16 : 10
        var index = start + (isHex ? 3 : 2)
        let first = index
        var value: UInt32 = 0
        while index < bytes.count, let digit = HexDigit.value(bytes[index]), UInt32(digit) < radix {
            value = value * radix + UInt32(digit)
            // Above the last Unicode character; continuing would overflow.
            guard value <= 0x10FFFF else { return nil }
            index += 1
        }
        guard index > first, index < bytes.count, bytes[index] == UInt8(ascii: ";"),
            let scalar = Unicode.Scalar(value), value > 0
        else { return nil }
        character = scalar
        end = index + 1
    }
}
