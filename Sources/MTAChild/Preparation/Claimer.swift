import Logging
import ProcessProtocol
import PushCore
import Store
import Synchronization

/// Claims parts and has them prepared, as many as may wait for the dispatch window.
final class Claimer: Sendable {
    /// A child that found nothing looks again after so long, even if no wake-up came.
    private static let pollInterval = Duration.seconds(1)
    /// Parts of one claim: enough to hide the round trips, few enough that other children get theirs.
    private static let mostPartsAtOnce = 4

    private let store: Store
    private let preparer: PartPreparer
    private let sender: Sender
    private let leases: LeaseKeeper
    private let control: ChildControl
    private let arguments: ChildArguments
    private let settings: ChildSettings
    private let logger: Logger

    init(
        store: Store,
        preparer: PartPreparer,
        sender: Sender,
        leases: LeaseKeeper,
        control: ChildControl,
        arguments: ChildArguments,
        settings: ChildSettings,
        logger: Logger
    ) {
        self.store = store
        self.preparer = preparer
        self.sender = sender
        self.leases = leases
        self.control = control
        self.arguments = arguments
        self.settings = settings
        self.logger = logger
    }

    /// Runs until the child drains.
    func run() async {
        var backOff = BackOff(initial: .milliseconds(200), maximum: .seconds(10))
        while !control.isDraining {
            let room = settings.maxWaitingMessages - sender.desk.withLock { $0.waitingMessages }
            guard room > 0, sender.isGatewayWell || sender.desk.withLock({ $0.parts.isEmpty }) else {
                await sender.claimSignal.wait(atMost: Self.pollInterval)
                continue
            }
            do {
                let parts = try await claim(atMost: max(1, min(Self.mostPartsAtOnce, room / PartPreparer.sliceSize)))
                backOff.reset()
                if parts.isEmpty { await sender.claimSignal.wait(atMost: Self.pollInterval) }
            } catch {
                logger.warning("no parts could be claimed, trying again: \(error)")
                try? await Task.sleep(for: backOff.next())
            }
        }
    }

    private func claim(atMost limit: Int) async throws -> [ClaimedPart] {
        let holdsNothing = sender.desk.withLock { $0.heldTokens.isEmpty }
        let moment = ContinuousClock.now
        let parts = try await store.claimParts(
            application: arguments.applicationID,
            account: arguments.accountID,
            child: arguments.childID,
            limit: limit
        )
        if holdsNothing, !parts.isEmpty { leases.claimed(at: moment) }
        await withTaskGroup(of: Void.self) { group in
            for part in parts {
                group.addTask { await self.prepare(part) }
            }
        }
        return parts
    }

    private func prepare(_ part: ClaimedPart) async {
        do {
            sender.perform(.prepared(try await preparer.prepare(part)))
        } catch let error as ContentError {
            await refuse(part, reason: String(describing: error))
        } catch let error as MessageIDError {
            await refuse(part, reason: String(describing: error))
        } catch {
            logger.warning(
                "part \(part.id) of delivery \(part.deliveryID) could not be loaded, giving it back: \(error)"
            )
            await giveBack(part)
            // Whatever it is may last: not at once again.
            try? await Task.sleep(for: Self.pollInterval)
        }
    }

    /// The delivery cannot be sent at all: no other child would fare better.
    private func refuse(_ part: ClaimedPart, reason: String) async {
        logger.error("delivery \(part.deliveryID) cannot be sent: \(reason)")
        do {
            try await store.failDelivery(part.deliveryID, reason: reason)
        } catch {
            logger.warning("the state of delivery \(part.deliveryID) could not be set: \(error)")
        }
        await giveBack(part)
    }

    private func giveBack(_ part: ClaimedPart) async {
        let holding = PartToken(part: part.id, token: part.fencingToken)
        do {
            _ = try await store.releasePart(holding)
        } catch {
            // Not renewed, so the supervisor's sweep takes it after a lease.
            logger.warning("part \(part.id) could not be given back: \(error)")
        }
    }
}
