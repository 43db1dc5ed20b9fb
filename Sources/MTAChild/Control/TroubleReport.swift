import Gateways
import Logging
import ProcessEvents
import ProcessProtocol
import PushCore
import Store
import Synchronization

/// Tells the database of the gateway's trouble and of its end, until it has heard it.
final class TroubleReport: Sendable {
    private let store: Store
    private let applicationID: Int32
    private let accountID: Int32
    private let childID: Int64
    private let logger: Logger
    private let reports: OrderedReports

    init(store: Store, applicationID: Int32, accountID: Int32, childID: Int64, logger: Logger) {
        self.store = store
        self.applicationID = applicationID
        self.accountID = accountID
        self.childID = childID
        self.logger = logger
        reports = OrderedReports(of: "the trouble of the gateway", logger: logger)
    }

    /// Whether the database may not know yet what this child has found.
    var isUnderWay: Bool { reports.isUnderWay }

    /// Returns when the database knows the latest state.
    func finished() async {
        await reports.finished()
    }

    /// The gateway takes nothing.
    ///
    /// - Parameter notBefore: how long from now it wants nothing; nil if it did not say.
    func enter(reason: String, notBefore: Duration?) {
        var random = SystemRandomNumberGenerator()
        let pause = ProbePace.pause(notBefore: notBefore ?? .zero, using: &random)
        logger.event(
            .gatewayAway,
            "the gateway takes nothing (\(reason)): the messages wait, and single probes find out when it does"
        )
        reports.tell("trouble") { [store, applicationID, accountID] in
            try await store.enterTrouble(
                application: applicationID,
                account: accountID,
                reason: reason,
                nextProbeIn: pause,
                keepsProber: notBefore == nil
            )
        }
    }

    /// A message got through that had waited for a credential which is stored with the gateway.
    func endCredentialWait(_ reason: String) {
        logger.notice(
            "a message that the gateway had answered with \(reason) got through: all others that waited are sent"
        )
        reports.tell("credential") { [store, applicationID, accountID] in
            try await store.endCredentialWait(application: applicationID, account: accountID, reason: reason)
        }
    }

    /// A probe got through.
    func end() {
        logger.event(.gatewayBack, "a probe got through: sending begins again")
        reports.tell("end") { [store, applicationID, accountID] in
            try await store.endTrouble(application: applicationID, account: accountID)
        }
    }
}

/// Probes the gateway of an application in trouble, until it takes messages again: one prober for all hosts.
///
/// A probe begins with the connection: where one is open it has to answer a PING, where none is the message waits until TCP, TLS and
/// SETTINGS have come about. Then one message goes, which an earlier attempt has never left without an answer if there is any such; where
/// only the answers are lost, nobody gets a message with every probe.
struct TroubleProber: Sendable {
    let sender: Sender
    let store: Store
    let claimer: Claimer
    let control: ChildControl
    let arguments: (application: Int32, account: Int32, child: Int64)
    let logger: Logger

    /// The answer to a PING takes one round trip.
    private static let pingTimeout = Duration.seconds(5)
    /// So often the prober says that it lives; after three times that another one may take its place.
    private static let heartbeat = Duration.seconds(5)
    /// How long the right to probe lasts without a word.
    static let lease = Duration.seconds(15)
    /// A child that has had nothing to probe with for so long leaves its place to others; one that has something to send probes with it.
    private static let idleLimit = Duration.seconds(60)
    /// So often it looks whether its probe was answered.
    private static let look = Duration.milliseconds(50)

    /// What a probe has shown.
    private enum Result {
        /// The gateway takes messages again.
        case through
        /// It does not; why.
        case refused(String)
        /// Nothing was sent.
        case nothing
    }

    /// Probes until the gateway takes messages, the child is to end, or there is nothing to probe with.
    func run() async {
        var random = SystemRandomNumberGenerator()
        // Deliveries take turns: what one of them meets may be its own fault.
        var tried: Set<Int64> = []
        var lastUsed = ContinuousClock.now
        while !control.isDraining {
            let result = await probe(&tried)
            if case .through = result { return }
            if case .refused = result { lastUsed = .now }
            if lastUsed + Self.idleLimit < .now { control.drain(.gatewayTrouble) }
            guard !control.isDraining else { break }
            let pause = ProbePace.pause(notBefore: sender.probe.pauseAskedFor ?? .zero, using: &random)
            if case .refused(let reason) = result { await note(reason, nextProbeIn: pause) } else { await note(nil) }
            sender.perform(.probeFailed)
            await wait(pause)
        }
        // Another one goes on at once; what this one holds is not worth the time of an end in order. A probe without an answer is ambiguous
        // soon enough: it would keep the place for the whole timeout of a request.
        sender.perform(.fastShutdown)
        try? await Task.sleep(for: DispatchState.answerTime)
        sender.gateway?.giveUp(olderThan: DispatchState.answerTime)
        try? await store.leaveTrouble(
            application: arguments.application,
            account: arguments.account,
            child: arguments.child
        )
    }

    private func probe(_ tried: inout Set<Int64>) async -> Result {
        // The answer to the last one came late, or another child probes.
        guard sender.probe.isProber else { return .through }
        if await sender.gateway?.ping(timeout: Self.pingTimeout) == false {
            return .refused("a connection is open and does not answer a PING")
        }
        guard await claim(&tried) else { return .nothing }
        sender.perform(.probe)
        var wasSent = false
        var said = ContinuousClock.now
        while !control.isDraining {
            try? await Task.sleep(for: Self.look)
            let probe = sender.probe
            tried.formUnion(probe.deliveries)
            if !probe.isProber { return .through }
            if !probe.mayProbe {
                wasSent = true
                if !probe.isAwaited { break }
            }
            // What was claimed has expired, say: the next one is the probe.
            if probe.mayProbe, probe.hasNothing, await !claim(&tried) { break }
            if ContinuousClock.now - said >= Self.heartbeat {
                said = .now
                await note(nil)
            }
        }
        return wasSent ? .refused(sender.probe.reason) : .nothing
    }

    /// Claims a part to probe with if none is there, of a delivery that was not tried lately if there is one.
    /// - Returns: false if there is none now.
    private func claim(_ tried: inout Set<Int64>) async -> Bool {
        let probe = sender.probe
        guard probe.hasNothing else { return true }
        // What goes back may be all that there is.
        guard !probe.isReleasing else { return false }
        do {
            if try await claimer.claimTroubleProbe(except: tried) { return true }
            if !tried.isEmpty {
                tried = []
                if try await claimer.claimTroubleProbe(except: []) { return true }
            }
        } catch {
            logger.failure("a message to probe with could not be claimed", of: error)
        }
        return false
    }

    /// Waits, and says now and then that this child is still there.
    private func wait(_ pause: Duration) async {
        let end = ContinuousClock.now + pause
        var said = ContinuousClock.now
        while !control.isDraining, ContinuousClock.now < end {
            // A signal has one that waits for it; an end that is asked for is seen soon enough like this.
            try? await Task.sleep(for: min(end - ContinuousClock.now, Self.look))
            guard ContinuousClock.now - said >= Self.heartbeat else { continue }
            said = .now
            await note(nil)
        }
    }

    /// - Parameters:
    ///   - reason: what the last probe met; nil if it is still under way.
    ///   - pause: how long from now the next one is, after a probe.
    private func note(_ reason: String?, nextProbeIn pause: Duration? = nil) async {
        let words = reason ?? sender.gatewayTrouble?.standing
        do {
            let isProber = try await store.renewProber(
                application: arguments.application,
                account: arguments.account,
                child: arguments.child,
                lease: Self.lease,
                reason: words,
                nextProbeIn: pause
            )
            if !isProber { sender.perform(.lostProber) }
        } catch {
            logger.failure("the trouble of the gateway could not be stored", of: error)
        }
    }
}
