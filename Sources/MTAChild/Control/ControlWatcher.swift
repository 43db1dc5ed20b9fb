import Logging
import ProcessEvents
import ProcessProtocol
import Store
import Synchronization

/// Looks what operators and other children have decided: paused and stopped deliveries, and the application's circuit.
final class ControlWatcher: Sendable {
    /// So often a child looks that holds anything: with the round trip it is the time in which a pause or stop takes effect.
    private static let interval = Duration.milliseconds(250)
    /// So often one that holds nothing looks, for the circuit only.
    private static let idleInterval = Duration.seconds(1)

    /// Raised to look at once.
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
                // Validity runs on all the same.
                sender.perform(.deliveryStates([:]))
            }
        }
    }

    private func look() async throws {
        let before = sender.snapshot.admission
        // Those that are being loaded are looked for even if the dispatch state holds nothing of them.
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
        // Who probes the circuit sends one message: while both are on, neither probe waits for the other's end.
        if !isReporting, before.circuit != .probing { take(state.trouble, before.trouble) }
        loading.giveUp { _, part in state.deliveries[part.deliveryID].flatMap(DispatchState.Halt.init) != nil }
        // The prober, and who has just closed the circuit, know it better.
        guard state.isCircuitOpen, before.circuit == .closed, !isClosing else { return }
        if !control.isDraining { logger.notice("the circuit of the application is open: giving everything back") }
        control.fastShutdown(.circuitOpen)
        loading.giveUp { _, _ in true }
        sender.perform(.circuitFoundOpen)
        sender.signals.claim.fire()
    }

    /// The limits that hold now.
    private func lookAtRates(_ deliveries: Set<Int64>) async throws {
        let limits = try await store.rateLimits(scope, deliveries: deliveries.sorted())
        sender.perform(.limitsSeen(limits, asked: deliveries))
    }

    /// What the database knows of the gateway's trouble; the prober knows it better, and so does a child that has found it since then.
    ///
    /// - Parameter before: what this child knew before it asked.
    private func take(_ trouble: GatewayTroubleState?, _ before: Admission.Trouble) {
        let now = sender.snapshot.admission
        guard now.trouble == before, !now.isProbingGateway, !sender.database.troubleReport.isUnderWay else { return }
        sender.perform(.troubleSeen(DispatchState.TroubleSeen(trouble)))
        let after = sender.snapshot.admission.trouble
        guard after != before, !control.isDraining else { return }
        logger.notice(
            after == .left
                ? "the gateway is in trouble: giving everything back, and waiting for a probe to get through"
                : "the gateway's trouble is over: sending begins again"
        )
    }
}

extension DispatchState.TroubleSeen {
    /// What a row of the database means; nil says that all is well.
    init(_ state: GatewayTroubleState?) {
        switch state {
        case nil: self = .none
        case .trouble: self = .trouble
        case .opening(let since, let sharers): self = .opening(since: since, sharers: sharers)
        }
    }
}
