/// A fault drill: real processes, faults on purpose, and at the end an account of every message by its id.
protocol Drill: Sendable {
    /// The name on the command line.
    var name: String { get }
    /// What it does, in one line.
    var summary: String { get }
    /// What it must end with, in one line.
    var promise: String { get }
    /// What the machine must offer; where it does not, the drill does not pass and says why.
    var needs: [DrillNeed] { get }
    /// Whether it belongs to the short set: it takes seconds, and needs neither root nor further packages.
    var isShort: Bool { get }
    /// The faults that have to land while at least `DrillFault.leastStreams` streams are open.
    var minimumFaults: Int { get }
    /// The messages of a delivery unless the caller asks for another number.
    var messages: Int64 { get }

    /// Runs the drill on a site where nothing is started yet. It throws, or notes findings, when something is wrong. The
    /// account, the end of all processes and the removal of the site come afterwards and are not its business.
    func run(_ site: DrillSite) async throws
}

extension Drill {
    var needs: [DrillNeed] { [] }
    var isShort: Bool { false }
    var minimumFaults: Int { 20 }
    var messages: Int64 { 100_000 }
}
