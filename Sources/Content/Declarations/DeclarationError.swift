/// The reason that a declaration is refused.
package struct DeclarationError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The thing declared: `variable "screen"`, `icon`, …
    package let thing: String
    /// What is wrong with it.
    package let cause: String
    package let remedy: String

    package init(_ thing: String, _ cause: String, _ remedy: String) {
        self.thing = thing
        self.cause = cause
        self.remedy = remedy
    }

    /// The thing, cause and remedy on one line.
    package var description: String { "\(thing): \(cause); \(remedy)" }
}
