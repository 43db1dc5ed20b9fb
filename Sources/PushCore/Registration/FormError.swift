/// Why the parameters of a request cannot be read.
package struct FormError: Error, Sendable, Hashable, CustomStringConvertible {
    package enum Code: Sendable, Hashable {
        /// A `%` is not followed by two hexadecimal digits.
        case malformedEscape
        /// A value is not valid UTF-8.
        case notUTF8
        /// A value contains the character U+0000.
        case nulCharacter
        /// There are more parameters than the limit.
        case tooManyParameters(limit: Int)
    }

    package let code: Code
    /// The name of the parameter at fault, "" if unknown; never its value.
    package let name: String

    init(_ code: Code, _ name: String = "") {
        self.code = code
        self.name = String(name.prefix(80))
    }

    /// What is wrong, with which parameter.
    package var description: String {
        let place = name.isEmpty ? "A parameter" : "Parameter \(name)"
        return switch code {
        case .malformedEscape: "\(place) has a % without two hexadecimal digits."
        case .notUTF8: "\(place) is not UTF-8."
        case .nulCharacter: "\(place) contains the character U+0000."
        case .tooManyParameters(let limit): "There are more than \(limit) parameters."
        }
    }
}
