/// A drill that cannot go on: what it waited for did not come, or a part of the site does not work.
struct DrillSetback: Error, CustomStringConvertible {
    /// What happened.
    let description: String

    /// Describes a setback.
    init(_ description: String) {
        self.description = description
    }
}
