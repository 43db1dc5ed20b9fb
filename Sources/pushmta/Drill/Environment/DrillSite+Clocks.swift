import Foundation
import Store

extension DrillSite {
    /// How far a clock that is read over a connection may be off from what was set, in seconds: less than the smallest shift.
    private static let clockTolerance = 10.0
    /// How soon a clock has to show its shift.
    private static let clockLimit = Duration.seconds(20)

    /// Waits until the database shows a clock that is ahead of this machine's by so many seconds.
    ///
    /// - Throws: `DrillSetback` if it does not: its server does not see the shifted clock, and the drill would prove nothing.
    func untilDatabaseClock(isAheadBy seconds: Int64) async throws {
        try await until("the database's clock is off by \(seconds) s", within: Self.clockLimit) {
            let shown = try await Double(store().databaseClock().microsecondsSince1970) / 1_000_000
            return abs(shown - Date().timeIntervalSince1970 - Double(seconds)) < Self.clockTolerance
        }
    }

    /// Waits until supervisor and children of a host have loaded the library and the file of the shifted clock.
    ///
    /// - Throws: `DrillSetback` if they do not: they see the right clock, and the drill would prove nothing.
    func untilProcesses(of host: DrillHost, use clock: ShiftedClock) async throws {
        try await until("supervisor and children of host \(host.name) see the shifted clock", within: Self.clockLimit) {
            let children = host.childIDs()
            guard let supervisor = host.supervisorID, !children.isEmpty else { return false }
            return ([supervisor] + children).allSatisfy { clock.isUsed(by: $0) }
        }
    }
}
