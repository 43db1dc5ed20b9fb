/// Why `additionalParams` is not the document that an SDK writes.
public struct AdditionalParametersError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kinds of errors.
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

    /// What is wrong.
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
