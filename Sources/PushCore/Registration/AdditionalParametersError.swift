/// Why `additionalParams` is not the document that an SDK writes.
package struct AdditionalParametersError: Error, Sendable, Hashable, CustomStringConvertible {
    package enum Code: Sendable, Hashable, CaseIterable {
        /// The root is missing, or is neither of the two.
        case root
        /// The root contains something other than a `param`, or a tag is not closed properly.
        case element
        /// A `param` lacks its name or value, repeats one, or has another attribute.
        case attribute
        /// A `&` begins neither one of the five entities nor a numeric reference to a character other than U+0000.
        case reference
        /// There are more parameters than ``AdditionalParameters/maxCount``.
        case tooMany
    }

    package let code: Code
    /// The position of the error, in bytes from the beginning of the decoded document.
    package let offset: Int

    init(_ code: Code, at offset: Int) {
        self.code = code
        self.offset = offset
    }

    /// What is wrong, and where.
    package var description: String {
        let problem =
            switch code {
            case .root: "its root is neither additionalParams nor additionalParameters"
            case .element: "it contains something other than closed param elements"
            case .attribute: "a param does not have exactly one name and one value"
            case .reference: "a & begins no known reference"
            case .tooMany: "it has more than \(AdditionalParameters.maxCount) params"
            }
        return "additionalParams is malformed at byte \(offset): \(problem)."
    }
}
