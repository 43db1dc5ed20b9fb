import Logging
import ProcessEvents
import ProcessProtocol
import Store
import Synchronization

/// Watches what operators and other children decide: paused and stopped deliveries, and the application's circuit.
final class ControlWatcher: Sendable {
    /// How often a child that holds a part checks; with the round trip, this is how long a pause or stop takes to take
    /// effect.
    private static let interval = Duration.milliseconds(250)
    /// How often a child that holds nothing checks, for the circuit only.
    private static let idleInterval = Duration.seconds(1)

    /// Fires to check at once.
    let signal = EventSignal()
    private let store: Store
    private let sender: Sender
    private let loading: LoadingParts
    private let control: ChildControl
    private let applicationID: Int32
    private let accountID: Int32
    private let scope: RateScope
    private let logger: Logger

    init(
        store: Store,
        sender: Sender,
        loading: LoadingParts,
        control: ChildControl,
        applicationID: Int32,
        accountID: Int32,
        project: String?,
        logger: Logger
    ) {
        self.store = store
        self.sender = sender
        self.loading = loading
        self.control = control
        self.applicationID = applicationID
        self.accountID = accountID
        scope = RateScope(application: applicationID, account: accountID, project: project)
        self.logger = logger
    }

    /// Watches until the task is cancelled.
    func run() async {
        var isAnswered = true
        while !Task.isCancelled {
            let deliveries = loading.deliveries.union(sender.work.deliveries)
            await signal.wait(timeout: deliveries.isEmpty ? Self.idleInterval : Self.interval)
            guard !Task.isCancelled else { return }
            do {
                try await look()
                isAnswered = true
            } catch {
                guard !Task.isCancelled else { return }
                if isAnswered { logger.failure("the states of deliveries could not be read", of: error) }
                isAnswered = false
                // Validity still has to be checked.
                sender.perform(.deliveryStates([:]))
            }
        }
    }

    private func look() async throws {
        let before = sender.snapshot.admission
        // Deliveries being loaded are checked even if the dispatch state has no part of them.
        let deliveries = loading.deliveries.union(sender.work.deliveries)
        let isClosing = sender.database.circuit.isClosing
        let isReporting = sender.database.troubleReport.isUnderWay
        let state = try await store.sendingState(
            application: applicationID,
            account: accountID,
            deliveries: deliveries.sorted()
        )
        sender.perform(.deliveryStates(state.deliveries))
        try await lookAtRates(deliveries)
        // A child that probes the circuit sends one message: if both the circuit and the gateway need a probe, neither
        // waits for the other.
        if !isReporting, before.circuit != .probing { take(state.trouble, before.trouble) }
        loading.giveUp { _, part in state.deliveries[part.deliveryID].flatMap(DispatchState.Halt.init) != nil }
        // The prober, and a child that has just closed the circuit, know better.
        guard state.isCircuitOpen, before.circuit == .closed, !isClosing else { return }
        if !control.isDraining { logger.notice("the circuit of the application is open: giving all parts back") }
        control.fastShutdown(.circuitOpen)
        loading.giveUp { _, _ in true }
        sender.perform(.circuitFoundOpen)
        sender.signals.claim.fire()
    }

    /// Reads the current rate limits.
    private func lookAtRates(_ deliveries: Set<Int64>) async throws {
        let limits = try await store.rateLimits(scope, deliveries: deliveries.sorted())
        sender.perform(.limitsSeen(limits, asked: deliveries))
    }

    /// Takes the gateway's trouble from the database. The prober knows better, and so does a child that has found
    /// trouble since the query.
    ///
    /// - Parameter before: what this child knew before the query.
    private func take(_ trouble: GatewayTroubleState?, _ before: Admission.Trouble) {
        let now = sender.snapshot.admission
        guard now.trouble == before, !now.isProbingGateway, !sender.database.troubleReport.isUnderWay else { return }
        sender.perform(.troubleSeen(DispatchState.TroubleSeen(trouble)))
        let after = sender.snapshot.admission.trouble
        guard after != before, !control.isDraining else { return }
        logger.notice(
            after == .left
                ? "the gateway is in trouble: giving all parts back, and waiting until a probe gets through"
                : "the gateway's trouble is over: sending resumes"
        )
    }
}

extension DispatchState.TroubleSeen {
    /// Converts a database row; nil means that there is no trouble.
    init(_ state: GatewayTroubleState?) {
        switch state {
        case nil: self = .none
        case .trouble: self = .trouble
        case .opening(let since, let sharers): self = .opening(since: since, sharers: sharers)
        }
    }
}
