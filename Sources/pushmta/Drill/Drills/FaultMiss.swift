/// A fault met nothing that it could harm: it does not count, and another one is tried.
struct FaultMiss: Error, CustomStringConvertible {
    /// What was missed.
    let description: String

    /// A miss, in words.
    init(_ description: String) {
        self.description = description
    }
}

extension DrillSite {
    /// So many faults in a row may miss.
    private static let mostMisses = 20

    /// Tries a fault until one has taken effect.
    ///
    /// - Parameter attempt: Throws `FaultMiss` out of the action of `fault`, which then does not count it.
    /// - Throws: `DrillSetback` if none has.
    func untilHit<Result>(_ attempt: () async throws -> Result) async throws -> Result {
        for _ in 0..<Self.mostMisses {
            do {
                return try await attempt()
            } catch let miss as FaultMiss {
                note("a miss: \(miss)")
            }
        }
        throw DrillSetback("\(Self.mostMisses) faults in a row met nothing")
    }
}
