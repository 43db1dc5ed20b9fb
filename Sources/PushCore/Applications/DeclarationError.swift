/// Why an application cannot declare what it was given.
public struct DeclarationError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What was declared: `variable "screen"`, `icon`, …
    public let thing: String
    /// What is wrong with it.
    public let cause: String
    /// What to do.
    public let remedy: String

    /// Makes an error.
    public init(_ thing: String, _ cause: String, _ remedy: String) {
        self.thing = thing
        self.cause = cause
        self.remedy = remedy
    }

    /// Thing, cause and remedy in one line.
    public var description: String { "\(thing): \(cause); \(remedy)" }
}
