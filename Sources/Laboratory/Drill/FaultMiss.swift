/// A fault that had no effect. It does not count, and another one is tried.
struct FaultMiss: Error, CustomStringConvertible {
    /// What was missed.
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
