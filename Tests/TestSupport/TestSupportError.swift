/// Why a test's surroundings could not be made.
public struct TestSupportError: Error, CustomStringConvertible {
    /// What failed, and what to do.
    public let description: String

    init(_ description: String) { self.description = description }
}
