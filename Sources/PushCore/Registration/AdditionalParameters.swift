/// The parameter `additionalParams` of a registration: a small XML document with the app's own values.
///
/// The iOS SDK writes `<additionalParams><param name="k" value="v" /></additionalParams>`, the Android SDK
/// `<additionalParameters><param name="k" value="v"/></additionalParameters>` (RegistrationManager.swift and
/// CampaignClassicMapSerializer.java of Adobe's public SDKs). Anything of this form is read, whoever wrote it: either
/// root, any quotes and white space, entities and numeric references. Nothing else is XML enough: no comments, no CDATA,
/// no document type, so that nothing can be smuggled in or blown up.
public enum AdditionalParameters {
    /// The most parameters of one registration.
    public static let maximumCount = 200

    /// Reads the document; an empty text has no parameters. Of a name that comes twice the last value counts.
    public static func parse(_ text: String) throws(AdditionalParametersError) -> [String: String] {
        var reader = AdditionalParametersReader(Array(text.utf8))
        return try reader.document()
    }
}

/// Reads the bytes of ``AdditionalParameters``, front to back; never past the end.
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
            guard count <= AdditionalParameters.maximumCount else { throw failure(.tooMany) }
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
        // The bytes between ASCII characters of valid UTF-8 are valid, and references are appended as such.
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

    /// The letters that stand here.
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
/// Control characters are taken, though XML 1.0 has none: they are taken as themselves, too, and a device whose registration were
/// refused because of one in a name would never send it again. U+0000 is not, as no database stores it.
struct XMLReference {
    /// The character that it stands for.
    let character: Unicode.Scalar
    /// Where what follows it begins.
    let end: Int

    private static let entities: [(name: [UInt8], character: Unicode.Scalar)] = [
        (Array("&amp;".utf8), "&"), (Array("&lt;".utf8), "<"), (Array("&gt;".utf8), ">"),
        (Array("&quot;".utf8), "\""), (Array("&apos;".utf8), "'"),
    ]

    /// Reads the reference that begins at the index with a `&`; nil if it is none.
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
            // Above the last character; going on would overflow.
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

/// Why `additionalParams` is not the document that an SDK writes.
public struct AdditionalParametersError: Error, Sendable, Hashable, CustomStringConvertible {
    public enum Code: Sendable, Hashable, CaseIterable {
        /// The root is none of the two, or there is none.
        case root
        /// Something other than a `param` stands in the root, or a tag is not closed as it should be.
        case element
        /// A `param` without name or value, with one twice, or with another attribute.
        case attribute
        /// A `&` that begins none of the five entities and no numeric reference to a character other than U+0000.
        case reference
        /// There are more parameters than ``AdditionalParameters/maximumCount``.
        case tooMany
    }

    public let code: Code
    /// Where it is wrong, in bytes from the beginning of the decoded document.
    public let offset: Int

    init(_ code: Code, at offset: Int) {
        self.code = code
        self.offset = offset
    }

    /// What is wrong and what it should be.
    public var description: String {
        let problem =
            switch code {
            case .root: "its root is neither additionalParams nor additionalParameters"
            case .element: "it holds something other than closed param elements"
            case .attribute: "a param has not just one name and one value"
            case .reference: "a & begins no known reference"
            case .tooMany: "it has more than \(AdditionalParameters.maximumCount) params"
            }
        return "additionalParams is malformed at byte \(offset): \(problem)."
    }
}
