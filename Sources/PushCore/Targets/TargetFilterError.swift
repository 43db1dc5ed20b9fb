/// Why a filter cannot be used.
public struct TargetFilterError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of the error.
    public enum Code: String, Sendable, Hashable {
        /// The text is no filter.
        case syntax
        /// A field does not exist.
        case unknownField
        /// A field is compared with what it cannot be compared with.
        case kind
        /// It is longer, deeper or wider than a filter may be.
        case limit
    }

    /// The kind of the error.
    public let code: Code
    /// Where in the text, 1 for the first character; nil where the place is not known.
    public let position: Int?
    /// What is wrong; never a value out of the filter, as it may be somebody's name.
    public let cause: String
    /// What to do.
    public let remedy: String

    /// Makes an error.
    public init(_ code: Code, at position: Int?, _ cause: String, _ remedy: String) {
        self.code = code
        self.position = position
        self.cause = cause
        self.remedy = remedy
    }

    /// Place, cause and remedy in one line.
    public var description: String {
        let place = position.map { ", character \($0)" } ?? ""
        return "target filter\(place): \(cause); \(remedy)"
    }
}
