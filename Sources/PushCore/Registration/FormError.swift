/// Why parameters of a request cannot be read.
public struct FormError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kinds of errors.
    public enum Code: Sendable, Hashable, CaseIterable {
        /// A `%` is not followed by two hexadecimal digits.
        case malformedEscape
        /// A value's bytes are no UTF-8.
        case notUTF8
        /// A value holds the character U+0000.
        case nulCharacter
        /// There are more parameters than ``FormParameters/maximumCount``.
        case tooManyParameters
    }

    /// What is wrong.
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
        case .tooManyParameters: "There are more than \(FormParameters.maximumCount) parameters."
        }
    }
}
