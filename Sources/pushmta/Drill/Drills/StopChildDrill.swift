import PushCore
import Store

/// A child stands still for longer than its lease and then goes on: its parts belong to others by then, so it decides nothing,
/// and what the gateways have told it meanwhile is stored as facts.
///
/// With the usual lease each round takes half a minute, so that three have to do; with a lease of three seconds it is twenty.
struct StopChildDrill: Drill {
    /// A lease that makes rounds short, in seconds.
    private static let shortLease = 3

    /// Whether the lease is the usual one.
    let hasUsualLease: Bool

    var name: String { hasUsualLease ? "stop-child-usual-lease" : "stop-child" }
    var summary: String {
        "SIGSTOP of a child past its lease (\(hasUsualLease ? "15" : String(Self.shortLease)) s), then SIGCONT"
    }
    var promise: String { "lost 0, the late owner decides nothing, rate back within lease + 10 s" }
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
            let process = try await site.untilBusyChild(of: host)
            if number <= 3 { try await site.untilSteady() }
            try await site.pause(milliseconds: 0...300)
            let fault = try await site.fault("SIGSTOP of child process \(process)") {
                host.signal(process, DrillSignal.stop)
            }
            try await untilRobbed(process, site, host)
            host.signal(process, DrillSignal.resume)
            if number <= 3 { try await site.expectRecovery(of: host, after: fault) }
        }
        try await site.untilOver()
    }

    /// Waits until the child's parts have gone to others.
    private func untilRobbed(_ process: Int32, _ site: DrillSite, _ host: DrillHost) async throws {
        let store = try site.store()
        let limit = Duration.seconds(host.settings.mta.lease.durationSec + DrillSite.recoveryAllowance)
        guard let child = try await site.children().first(where: { $0.pid == process }) else { return }
        do {
            try await site.until("the parts of stopped child process \(process) go to others", within: limit) {
                try await store.partsHeld(byChild: child.id).isEmpty
            }
        } catch let setback as DrillSetback {
            site.finding("\(setback)")
        }
    }
}
