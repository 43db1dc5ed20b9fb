import Administration
import PushCore
import Store

/// A child is suspended for longer than its lease and then resumed. By then its parts belong to others, so it must
/// resolve nothing. The gateways' answers that it still receives are stored as late outcomes.
///
/// With the usual lease a round takes half a minute, so there are only three. With a lease of three seconds there are
/// twenty.
struct StopChildDrill: Drill {
    /// The lease for short rounds, in seconds.
    private static let shortLease = 3

    /// How long a statement that the child sent before it was stopped may run in the database: much less than a lease.
    private static let calm = Duration.milliseconds(300)

    /// Whether the lease is the usual one.
    let hasUsualLease: Bool

    var name: String { hasUsualLease ? "stop-child-usual-lease" : "stop-child" }
    var summary: String {
        "SIGSTOP of a child past its lease (\(hasUsualLease ? "15" : String(Self.shortLease)) s), then SIGCONT"
    }
    var promise: String {
        "lost 0, the late owner resolves nothing and its answers are stored, rate recovered within lease + 10 s"
    }
    var minimumFaults: Int { hasUsualLease ? 3 : 20 }
    var messages: Int64 { 100_000 }

    func run(_ site: DrillSite) async throws {
        let hasUsualLease = hasUsualLease
        let host = try await site.openHost { settings in
            guard !hasUsualLease else { return }
            settings.mta.lease.durationSec = Self.shortLease
            settings.mta.lease.renewalSec = 1
        }
        for number in 1...minimumFaults + 1 {
            let fault = try await site.untilHit {
                // It also waits after a miss, during which the last delivery may have ended.
                if number <= 3 { try await site.untilSteady() }
                return try await stopPastLease(site, host)
            }
            if number <= 3 { try await site.expectRecovery(of: host, after: fault) }
        }
        try await site.untilOver()
        try await site.expectLateOutcomes()
    }

    /// Suspends a sending child until others have its parts, and then resumes it.
    ///
    /// - Throws: `FaultMiss` if the child held no part with messages on the wire, or had just ended.
    private func stopPastLease(_ site: DrillSite, _ host: DrillHost) async throws -> DrillFault {
        let process = try await site.untilBusyChild(of: host)
        // The child that lost its parts in the previous round needs a moment to start on others.
        try await site.pause(milliseconds: 0...1_000)
        guard let child = try await site.children().first(where: { $0.pid == process }) else {
            throw FaultMiss("child process \(process) has no row")
        }
        let lost = try await site.lostClaims()
        return try await site.fault("SIGSTOP of child process \(process) past its lease, then SIGCONT") {
            host.signal(process, DrillSignal.stop)
            do {
                try await untilRobbed(child, site, host)
            } catch {
                host.signal(process, DrillSignal.resume)
                throw error
            }
            host.signal(process, DrillSignal.resume)
            // A claim that ends before its first dispatch mark leaves no trace, as none of its messages can be
            // ambiguous.
            guard try await site.lostClaims() > lost else {
                throw FaultMiss("child process \(process) had not yet sent anything from the parts it lost")
            }
        }
    }

    /// Waits until others have the stopped child's parts.
    private func untilRobbed(_ child: DrillChild, _ site: DrillSite, _ host: DrillHost) async throws {
        let store = try site.store()
        // From now on the child neither claims nor releases a part; a statement under way ends in a moment.
        try await Task.sleep(for: Self.calm)
        guard host.childIDs().contains(child.pid), try await !store.partsHeld(byChild: child.id).isEmpty else {
            throw FaultMiss("child process \(child.pid) held no parts when it was stopped")
        }
        let limit = Duration.seconds(host.settings.mta.lease.durationSec + DrillSite.recoveryAllowance)
        try await site.until("the parts of stopped child process \(child.pid) go to others", within: limit) {
            try await store.partsHeld(byChild: child.id).isEmpty
        }
    }
}
