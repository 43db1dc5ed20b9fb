import Gateways
import Logging
import ProcessEvents
import ProcessProtocol
import Store

/// Carries out the decisions of the ``Prober`` until an application's gateway takes messages again. All hosts together
/// have one prober.
struct GatewayProber: Sendable {
    let sender: Sender
    let store: Store
    let claimer: Claimer
    let control: ChildControl
    let arguments: (application: Int32, account: Int32, child: Int64)
    let logger: Logger

    /// The answer to a PING takes one round trip.
    private static let pingTimeout = Duration.seconds(5)

    /// Probes until the gateway takes messages, the child has to end, or there is nothing to probe with.
    func run() async {
        var prober = Prober(at: sender.moment)
        var events: [Prober.Event] = [.looked]
        while prober.state != .over, prober.state != .leaving {
            if control.isDraining { events = [.drained] }
            let event = events.isEmpty ? Prober.Event.looked : events.removeFirst()
            for action in prober.handle(event, sender.probe, at: sender.moment) {
                if let answer = await carryOut(action) { events.append(answer) }
            }
            guard events.isEmpty, prober.state != .over, prober.state != .leaving, !control.isDraining else { continue }
            let pause = prober.nextLook(sender.probe) - sender.moment
            if pause > .zero { await sender.signals.probe.wait(timeout: pause) }
        }
    }

    private func carryOut(_ action: Prober.Action) async -> Prober.Event? {
        switch action {
        case .ping:
            // nil if no connection is open: then the message tests the path.
            return .pinged(await sender.gateway?.ping(timeout: Self.pingTimeout) != false)
        case .claim(let tried):
            do {
                return .claimed(try await claimer.claimTroubleProbe(except: tried))
            } catch {
                logger.failure("a message to probe with could not be claimed", of: error)
                return .claimFailed
            }
        case .allow: sender.perform(.probe)
        case .tell(let reason, let pause): await tell(reason, nextProbeIn: pause)
        case .giveBack: sender.perform(.probeFailed)
        case .leave(let isIdle):
            if isIdle { control.drain(.gatewayTrouble) }
            await leave()
        }
        return nil
    }

    private func tell(_ reason: String?, nextProbeIn pause: Duration?) async {
        do {
            let isProber = try await store.renewProber(
                application: arguments.application,
                account: arguments.account,
                child: arguments.child,
                lease: Prober.lease,
                reason: reason ?? sender.gatewayTrouble?.standing,
                nextProbeIn: pause
            )
            if !isProber { sender.perform(.lostProber) }
        } catch {
            logger.failure("the trouble of the gateway could not be stored", of: error)
        }
    }

    /// Leaves the place to another prober, which continues at once; a normal drain would take too long for what this
    /// one holds. An unanswered probe is soon given up as ambiguous, because it would otherwise keep the place for a
    /// request's whole timeout.
    private func leave() async {
        sender.perform(.fastShutdown)
        try? await Task.sleep(for: DispatchState.answerTime)
        sender.gateway?.giveUp(olderThan: DispatchState.answerTime)
        try? await store.leaveTrouble(
            application: arguments.application,
            account: arguments.account,
            child: arguments.child
        )
    }
}
