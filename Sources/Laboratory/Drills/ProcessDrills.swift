import Administration
import PushCore
import Store

/// Children die, one after the other, at moments that nobody chose.
struct KillChildrenDrill: Drill {
    /// A little more faults than have to land.
    private static let faults = 22

    /// A connection takes a TLS handshake of some milliseconds, so that few become ready in the one or two of the look.
    private static let opening: Int64 = 2

    /// What becomes of the messages that were on the wire.
    let policy: AmbiguityPolicy

    var name: String { policy == .resend ? "kill-children" : "kill-children-report" }
    var summary: String { "SIGKILL of random children, policy \(policy.rawValue)" }
    var promise: String {
        policy == .resend ? "lost 0; duplicates at most ambiguous, each counted as resent" : "lost 0; duplicates 0"
    }
    var isShort: Bool { true }
    var messages: Int64 { 200_000 }

    func run(_ site: DrillSite) async throws {
        let host = try await site.openHost(policy: policy)
        try await site.untilSteady()
        for number in 1...Self.faults {
            let child = try await site.untilBusyChild(of: host)
            try await site.pause(milliseconds: 0...300)
            let fault = try await site.fault("SIGKILL of child process \(child)") {
                host.signal(child, DrillSignal.kill)
            }
            // Later ones follow so closely that the rate before them is none to compare with.
            if number == 1 { try await site.expectRecovery(of: host, after: fault) }
            await site.expectNoZombies()
        }
        try await site.untilOver()
        // The dispatch window of a child is more than what it can have on the wire, and may not pass for it.
        let streams = Int64(DrillGateway().streams)
        try await site.expectAmbiguous(atMost: site.ambiguityBound(streams: streams, opening: Self.opening))
    }
}

/// The supervisor dies; its children, who hear of it by the end of their standard input, resolve what is on the wire and end.
/// It is started again at once.
struct KillSupervisorDrill: Drill {
    /// The faults after which the rate has to come back before the next one; it takes seconds each time.
    private static let measuredFaults = 3
    private static let faults = 21

    let name = "kill-supervisor"
    let summary = "SIGKILL of the supervisor, which is started again"
    let promise = "lost 0, no zombie, rate back within lease + 10 s"
    let messages: Int64 = 100_000

    func run(_ site: DrillSite) async throws {
        let host = try await site.openHost()
        for number in 1...Self.faults {
            _ = try await site.untilBusyChild(of: host)
            if number <= Self.measuredFaults { try await site.untilSteady() }
            try await site.pause(milliseconds: 0...500)
            let fault = try await site.fault("SIGKILL of the supervisor") { try await host.killSupervisor() }
            try await host.start()
            if number <= Self.measuredFaults { try await site.expectRecovery(of: host, after: fault) }
            await site.expectNoZombies()
        }
        try await site.untilOver()
    }
}

/// Supervisor and children die at once, as when a machine's memory is full. The supervisor that is started again finds the
/// journals.
struct KillAllDrill: Drill {
    /// The faults after which the rate has to come back before the next one; it takes seconds each time.
    private static let measuredFaults = 3
    private static let faults = 21

    let name = "kill-all"
    let summary = "SIGKILL of supervisor and children at once, and a new start"
    let promise = "lost 0, no zombie, rate back within lease + 10 s"
    let messages: Int64 = 100_000

    func run(_ site: DrillSite) async throws {
        let host = try await site.openHost()
        var onWire: Set<JournalIntents.Message> = []
        for number in 1...Self.faults {
            _ = try await site.untilBusyChild(of: host)
            if number <= Self.measuredFaults { try await site.untilSteady() }
            try await site.pause(milliseconds: 0...500)
            let fault = try await site.fault("SIGKILL of supervisor and children") { try await host.killAll() }
            // Before somebody replays them.
            onWire.formUnion(try JournalIntents.unanswered(of: host))
            try await host.start()
            if number <= Self.measuredFaults { try await site.expectRecovery(of: host, after: fault) }
            await site.expectNoZombies()
        }
        try await site.untilOver()
        try await site.expectAmbiguousOnly(onWire)
    }
}

/// A child stands still for longer than its lease and then goes on: its parts belong to others by then, so it decides nothing,
/// and what the gateways have told it meanwhile is stored as facts.
///
/// With the usual lease each round takes half a minute, so that three have to do; with a lease of three seconds it is twenty.
struct StopChildDrill: Drill {
    /// A lease that makes rounds short, in seconds.
    private static let shortLease = 3

    /// How long an order that the child has given before it was stopped may take in the database: much less than a lease.
    private static let calm = Duration.milliseconds(300)

    /// Whether the lease is the usual one.
    let hasUsualLease: Bool

    var name: String { hasUsualLease ? "stop-child-usual-lease" : "stop-child" }
    var summary: String {
        "SIGSTOP of a child past its lease (\(hasUsualLease ? "15" : String(Self.shortLease)) s), then SIGCONT"
    }
    var promise: String {
        "lost 0, the late owner decides nothing and its answers are facts, rate back within lease + 10 s"
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
                // Also after a miss, in which the last delivery may have come to its end.
                if number <= 3 { try await site.untilSteady() }
                return try await stopPastLease(site, host)
            }
            if number <= 3 { try await site.expectRecovery(of: host, after: fault) }
        }
        try await site.untilOver()
        try await site.expectLateOutcomes()
    }

    /// Stops a child that sends, until others have its parts, and lets it go on.
    ///
    /// - Throws: `FaultMiss` if it held no part of which something may have been on the wire, or had just ended.
    private func stopPastLease(_ site: DrillSite, _ host: DrillHost) async throws -> DrillFault {
        let process = try await site.untilBusyChild(of: host)
        // The one that has lost its parts last needs a moment to begin with others.
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
            // A claim that ends before the first message was marked leaves no trace, as nothing of it can be ambiguous.
            guard try await site.lostClaims() > lost else {
                throw FaultMiss("child process \(process) had sent nothing yet of the parts that it lost")
            }
        }
    }

    /// Waits until the stopped child's parts have gone to others.
    private func untilRobbed(_ child: DrillChild, _ site: DrillSite, _ host: DrillHost) async throws {
        let store = try site.store()
        // From now on it neither takes a part nor gives one back; an order that was under way is over in a moment.
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
