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
