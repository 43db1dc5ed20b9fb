/// A key that a platform's section of the content may have.
struct ContentKey: Sendable {
    /// What a key's value must be.
    enum Kind: Sendable {
        /// A string, which may have fields in it.
        case text
        case boolean
        case integer(ClosedRange<Int64>)
        /// A number with a fraction.
        case number(ClosedRange<Double>)
        /// One of the given words.
        case choice([String])
        /// One of the given numbers.
        case integerChoice([Int64])
        /// An object of the application's own variables.
        case variables
    }

    let name: String
    let kind: Kind

    init(_ name: String, _ kind: Kind) {
        self.name = name
        self.kind = kind
    }
}
