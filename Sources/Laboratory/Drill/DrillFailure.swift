/// A drill that cannot continue: what it waited for did not happen, or a part of the site does not work.
struct DrillFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
