import Content
import Logging
import ProcessEvents
import ProcessProtocol
import PushCore
import Store
import Synchronization

/// Claims parts and has them prepared, up to what may wait for the dispatch window.
///
/// A slow load continues in parallel with the next claims, which skip its delivery: a slow delivery delays only itself.
final class Claimer: Sendable {
    /// How soon a child that found nothing looks again, even without a wake-up.
    private static let pollInterval = Duration.seconds(1)
    /// The maximum number of parts of one claim: enough to hide the round trips, few enough to leave some for other
    /// children.
    private static let maxPartsAtOnce = 4
    /// The maximum number of parts of a claim after one that brought single messages: together as many messages as a
    /// whole part.
    private static let maxMessagesAtOnce = 1_000
    /// The maximum number of parts of a claim after one that brought other small parts: enough of them to be worth a
    /// round trip.
    private static let maxSmallPartsAtOnce = 256
    /// How many single messages are loaded although the child is full; otherwise they would wait until others have
    /// left.
    private static let maxMessagesBeside = 1_000
    /// The maximum number of messages in a small part.
    private static let smallPart: Int32 = 100

    /// While single messages fill every claim, how often other deliveries are checked if the last check found none.
    private static let lookForOthers = Duration.milliseconds(100)

    /// An answer that took longer is too imprecise to set the database's clock by.
    private static let freshAnswer = Duration.seconds(1)
    /// How long a claim waits for its loads; a load takes some milliseconds.
    private static let usualLoad = Duration.milliseconds(250)
    /// How many loads may run in parallel with a claim; this many slow deliveries are rare.
    private static let maxBeside = 64

    private let store: Store
    private let preparer: PartPreparer
    private let sender: Sender
    private let loading: LoadingParts
    private let leases: LeaseRenewal
    private let control: ChildControl
    private let losses: ConnectionLosses
    /// Notes that a part could not be loaded because the connection was lost.
    private let loadLosses = ConnectionLosses()
    private let troubles = Mutex(LoadTroubles())
    /// Triggers a check of the held deliveries' states.
    private let watchSignal: EventSignal
    private let clock: DatabaseClock
    private let arguments: ChildArguments
    private let settings: ChildSettings
    private let logger: Logger

    /// Whether single messages were added that no child has claimed yet.
    private let hasMessages = Atomic(false)

    /// Whether children of other kinds wait for this child's place.
    private let leavesWhenDone = Atomic(false)

    /// Drains the child as soon as a claim finds nothing.
    func leaveWhenDone() {
        leavesWhenDone.store(true, ordering: .relaxed)
        sender.signals.claim.fire()
    }

    /// Claims single messages next, because some were added.
    func messagesCame() {
        hasMessages.store(true, ordering: .relaxed)
        sender.signals.claim.fire()
    }

    /// Retries deliveries that could not be read, without waiting.
    func forgetTroubles() {
        troubles.withLock { $0 = LoadTroubles() }
    }

    init(
        store: Store,
        preparer: PartPreparer,
        sender: Sender,
        loading: LoadingParts,
        leases: LeaseRenewal,
        control: ChildControl,
        losses: ConnectionLosses,
        watchSignal: EventSignal,
        clock: DatabaseClock,
        arguments: ChildArguments,
        settings: ChildSettings,
        logger: Logger
    ) {
        self.store = store
        self.preparer = preparer
        self.sender = sender
        self.loading = loading
        self.leases = leases
        self.control = control
        self.losses = losses
        self.watchSignal = watchSignal
        self.clock = clock
        self.arguments = arguments
        self.settings = settings
        self.logger = logger
    }

    /// Runs until the child drains.
    func run() async {
        var backOff = BackOff(initial: .milliseconds(200), maximum: .seconds(10))
        var smallParts: Int?
        var othersDue = ContinuousClock.now
        while !control.isDraining {
            do {
                // The database and this child may disagree on which parts it holds.
                if losses.take() { try await compare() }
                let room = roomForClaims()
                guard let room, room > 0 else {
                    if try await !claimSingleMessages(room) {
                        await sender.signals.claim.wait(timeout: Self.pollInterval)
                    } else if loadLosses.take() {
                        try? await Task.sleep(for: backOff.next())
                    }
                    continue
                }
                let usual = max(1, min(Self.maxPartsAtOnce, room / PartPreparer.markSize))
                let parts =
                    if let smallParts {
                        try await claim(atMost: smallParts, messages: room)
                    } else {
                        try await claim(atMost: usual)
                    }
                if loadLosses.take() {
                    // No other part can be loaded either.
                    try? await Task.sleep(for: backOff.next())
                    continue
                }
                backOff.reset()
                if smallParts != nil {
                    // The next claim is of all parts again, urgent ones first, so that large parts do not wait.
                    smallParts = nil
                    // Single messages that come fast enough fill that claim, too; then other deliveries would wait
                    // until no more come.
                    if .now >= othersDue, !control.isDraining, try await !claimOthers(than: parts) {
                        othersDue = .now + Self.lookForOthers
                    }
                    continue
                }
                smallParts = Self.smallParts(after: parts, outOf: usual)
                guard parts.isEmpty else { continue }
                if leavesWhenDone.load(ordering: .relaxed) { return control.drain(.idle) }
                await sender.signals.claim.wait(timeout: Self.pollInterval)
            } catch {
                if !Task.isCancelled { logger.failure("no parts could be claimed, trying again", of: error) }
                losses.note()
                try? await Task.sleep(for: backOff.next())
            }
        }
    }

    /// How many parts the next claim asks for if it is to be of small parts: when the last claim was full of them.
    private static func smallParts(after parts: [ClaimedPart], outOf asked: Int) -> Int? {
        guard parts.count == asked, parts.allSatisfy({ $0.size <= smallPart }) else { return nil }
        return parts.allSatisfy { $0.validUntil != nil } ? maxMessagesAtOnce : maxSmallPartsAtOnce
    }

    /// Claims a part of a delivery other than those of the given parts.
    /// - Returns: whether there was one.
    private func claimOthers(than parts: [ClaimedPart]) async throws -> Bool {
        guard let room = roomForClaims(), room > 0 else { return true }
        return try await !claim(atMost: 1, except: Set(parts.map(\.deliveryID))).isEmpty
    }

    /// Claims single messages in addition to a full load of others.
    /// - Parameter room: the result of ``roomForClaims()``.
    /// - Returns: whether there were any.
    private func claimSingleMessages(_ room: Int?) async throws -> Bool {
        guard let maxMessages = room.map({ $0 + Self.maxMessagesBeside }), maxMessages > 0,
            hasMessages.exchange(false, ordering: .relaxed)
        else { return false }
        let parts = try await claim(atMost: Self.maxMessagesAtOnce, messages: maxMessages)
        if !parts.isEmpty { hasMessages.store(true, ordering: .relaxed) }
        return !parts.isEmpty
    }

    /// How many more messages may be loaded, 0 or less if none; nil if nothing is to be claimed now.
    private func roomForClaims() -> Int? {
        let seen = sender.snapshot
        let holdsNothing = seen.partCount == 0
        guard seen.admission.trouble == .none else { return nil }
        switch seen.admission.circuit {
        case .closed: break
        case .open: return nil
        case .probing:
            // The probe's part has ended without proof. Another child sends the next probe, when it is due.
            if holdsNothing { control.drain(.circuitOpen) }
            return nil
        }
        guard loading.count < Self.maxBeside, holdsNothing || sender.isGatewayWell else { return nil }
        return Int(Double(settings.maxWaitingMessages) * seen.window.breadth) - seen.waitingMessages
    }

    /// Claims the part of a due probe, and prepares it.
    /// - Returns: false if none is due: then the circuit stays open and this child has nothing to do.
    func claimProbe() async throws -> Bool {
        let moment = ContinuousClock.now
        let probe = try await store.claimProbe(
            application: arguments.applicationID,
            account: arguments.accountID,
            child: arguments.childID
        )
        guard let probe else { return false }
        setClock(probe, askedAt: moment)
        leases.claimed(at: moment)
        await load([probe]).value
        return true
    }

    /// Claims a part to probe the gateway in trouble with, and prepares it.
    /// - Parameter tried: deliveries already probed with; other deliveries go first.
    /// - Returns: false if none is ready.
    func claimTroubleProbe(except tried: Set<Int64>) async throws -> Bool {
        let moment = ContinuousClock.now
        let probe = try await store.claimTroubleProbe(
            application: arguments.applicationID,
            account: arguments.accountID,
            child: arguments.childID,
            except: tried
        )
        guard let probe else { return false }
        setClock(probe, askedAt: moment)
        leases.claimed(at: moment)
        await load([probe]).value
        return true
    }

    /// Claims parts and waits for a short time until they are loaded.
    /// - Parameters:
    ///   - messages: the maximum number of messages, for a claim of small parts; nil for all kinds of parts.
    ///   - others: deliveries to skip.
    private func claim(
        atMost limit: Int,
        messages: Int? = nil,
        except others: Set<Int64> = []
    ) async throws -> [ClaimedPart] {
        let slow = loading.deliveries.union(sender.snapshot.deliveriesAtTheirPace).union(others)
        let troubled = troubles.withLock { $0.deliveries(at: .now) }
        var parts = try await take(limit, messages, except: slow.union(troubled))
        // If there is nothing else to claim, parts that cannot be loaded are claimed, too: they are recorded with the
        // reason and wait.
        if parts.isEmpty, !troubled.isEmpty { parts = try await take(limit, messages, except: slow) }
        let loads = Self.loadedTogether(parts).map(load)
        guard !loads.isEmpty else { return parts }
        await withTimeout(Self.usualLoad) { for load in loads { await load.value } }
        return parts
    }

    /// Small parts of a delivery's variant share a load. A part that may have a history, is a retry or goes alone is read
    /// separately.
    private static func loadedTogether(_ parts: [ClaimedPart]) -> [[ClaimedPart]] {
        var groups: [[ClaimedPart]] = []
        var places: [DeliveryVariant: Int] = [:]
        for part in parts {
            let isPlain = part.size <= smallPart && !part.mayHaveHistory && !part.isRetry && !part.isAlone
            if isPlain, let place = places[part.deliveryVariant] {
                groups[place].append(part)
            } else {
                if isPlain { places[part.deliveryVariant] = groups.count }
                groups.append([part])
            }
        }
        return groups
    }

    private func load(_ parts: [ClaimedPart]) -> Task<Void, Never> {
        loading.hold(parts) {
            Task {
                await self.prepare(parts)
                self.loading.end(parts)
            }
        }
    }

    private func take(_ limit: Int, _ messages: Int?, except passed: Set<Int64>) async throws -> [ClaimedPart] {
        let holdsNothing = loading.count == 0 && !sender.snapshot.holdsLeases
        let moment = ContinuousClock.now
        let parts = try await sender.measures.time(\.claim) { try await ask(limit, messages, except: passed) }
        if parts.contains(where: { $0.validUntil != nil }) { sender.database.marks.messagesClaimed() }
        if !parts.isEmpty {
            CrashPoint.afterClaim.reached()
            logger.debug("claimed \(parts.count) parts (at most \(limit) were asked for)")
        }
        if let last = parts.last { setClock(last, askedAt: moment) }
        if holdsNothing, !parts.isEmpty { leases.claimed(at: moment) }
        return parts
    }

    private func ask(_ limit: Int, _ messages: Int?, except passed: Set<Int64>) async throws -> [ClaimedPart] {
        if let messages {
            try await store.claimMessages(
                application: arguments.applicationID,
                account: arguments.accountID,
                child: arguments.childID,
                limit: limit,
                largest: Self.smallPart,
                messages: messages,
                except: passed
            )
        } else {
            try await store.claimParts(
                application: arguments.applicationID,
                account: arguments.accountID,
                child: arguments.childID,
                limit: limit,
                except: passed
            )
        }
    }

    /// Sets the clock by a claim's time. A delivery may be newer than the last reading of the database's clock, which
    /// may have been changed since.
    private func setClock(_ part: ClaimedPart, askedAt moment: ContinuousClock.Instant) {
        // The time is the statement's start; its commit, and so the answer, may have been delayed.
        guard ContinuousClock.now - moment < Self.freshAnswer else { return }
        clock.set(part.claimedAt, askedAt: moment)
    }

    /// Asks which parts still carry this child's token, and gives back those it does not know: the answer to their
    /// claim was lost. No claim runs meanwhile, and parts claimed before are being loaded or are in the dispatch state.
    private func compare() async throws {
        let (believed, before) = known()
        let held = Set(try await store.partsHeld(byChild: arguments.childID))
        leases.loseParts(believed.filter { !held.contains($0) })
        // Parts held at the time of the query are excluded, too: they may have gone back since.
        for part in held.subtracting(known().all).subtracting(before).sorted(by: { $0.part < $1.part }) {
            logger.notice("part \(part.part) was claimed, but the answer to the claim was lost: giving it back")
            _ = try await store.releasePart(part)
        }
    }

    /// The parts that this child believes it holds, and all parts that it knows. A loaded part enters the dispatch
    /// state before its load ends.
    private func known() -> (believed: [PartToken], all: Set<PartToken>) {
        let loading = loading.tokens
        let work = sender.work
        return (loading.union(work.held).sorted(), loading.union(work.releasing).union(work.all))
    }

    private func prepare(_ parts: [ClaimedPart]) async {
        // If this fails, preparing each part separately shows what is wrong and with which part.
        if let all = try? await preparer.prepare(together: parts), !Task.isCancelled { return handOver(all) }
        for part in parts { await prepare(part) }
    }

    /// Hands parts of one delivery to the sender.
    private func handOver(_ parts: [PreparedPart]) {
        guard let delivery = parts.first?.claimed.deliveryID else { return }
        troubles.withLock { $0.loaded(delivery) }
        let isNew = !sender.holds(delivery)
        sender.perform(parts.map { .prepared($0) })
        // An order that came during the load was not checked for.
        if isNew { watchSignal.fire() }
    }

    private func prepare(_ part: ClaimedPart) async {
        // No further statement is needed to learn that the delivery's view still fails.
        if let reason = troubles.withLock({ $0.reason(ofDelivery: part.deliveryID, at: .now) }) {
            return postpone(part, reason)
        }
        do {
            let prepared = try await preparer.prepare(part)
            // The delivery was paused or stopped meanwhile.
            guard !Task.isCancelled else { return giveBack(part) }
            handOver([prepared])
        } catch let error as ContentError {
            await refuse(part, reason: String(describing: error))
        } catch let error as MessageIDError {
            await refuse(part, reason: String(describing: error))
        } catch let error as StoreError where error.code == .invalid {
            await refuse(part, reason: String(describing: error))
        } catch  where Task.isCancelled {
            giveBack(part)
        } catch {
            let problem = LoadProblem(error)
            let keys: Logger.Metadata = ["delivery": "\(part.deliveryID)"]
            let text = "part \(part.id) of delivery \(part.deliveryID) could not be loaded, giving it back"
            logger.failure(text, of: error, keys)
            switch problem.scope {
            case .connection:
                loadLosses.note()
                giveBack(part)
            case .delivery:
                troubles.withLock { $0.failed(part.deliveryID, problem.text, at: .now) }
                postpone(part, problem.text)
            case .part, .message: postpone(part, problem.text)
            }
        }
    }

    /// Pauses a delivery that cannot be sent as it is, by no child. Its messages wait: something that was valid at its
    /// start, such as a declaration or a credential, has changed and can be changed back.
    private func refuse(_ part: ClaimedPart, reason: String) async {
        let text = "delivery \(part.deliveryID) cannot be sent and is paused: \(reason)"
        logger.event(.deliveryPaused, "\(text)", ["delivery": "\(part.deliveryID)"])
        do {
            try await store.holdDelivery(part.deliveryID, reason: reason)
        } catch {
            logger.failure("the state of delivery \(part.deliveryID) could not be set", of: error)
        }
        giveBack(part)
    }

    private func giveBack(_ part: ClaimedPart) {
        sender.perform(.refused(PartToken(part: part.id, token: part.fencingToken)))
    }

    /// Gives the part back to wait; others pass it until it is tried again.
    private func postpone(_ part: ClaimedPart, _ reason: String) {
        sender.perform(.unloaded(PartToken(part: part.id, token: part.fencingToken), reason: reason))
    }
}

/// The deliveries whose messages could not be read recently, for a reason that all their parts share.
///
/// Until one of their parts is tried again, the others go back unread. A delivery may have thousands of parts. A
/// failing read, such as one blocked by another session's lock on the view, may occupy the connection for seconds.
struct LoadTroubles: Sendable {
    struct Trouble {
        var reason: String
        var until: ContinuousClock.Instant
        var wait: Duration
    }

    /// The same times as parts wait in the database.
    private static let firstWait = Duration.seconds(5)
    private static let maxWait = Duration.seconds(60)
    /// A child serves few deliveries at a time.
    private static let maxCount = 64

    private(set) var troubles: [Int64: Trouble] = [:]

    /// Why a delivery is not tried now; nil if it may be.
    func reason(ofDelivery id: Int64, at now: ContinuousClock.Instant) -> String? {
        guard let trouble = troubles[id], now < trouble.until else { return nil }
        return trouble.reason
    }

    /// The deliveries that are not tried now.
    func deliveries(at now: ContinuousClock.Instant) -> Set<Int64> {
        troubles.isEmpty ? [] : Set(troubles.filter { now < $0.value.until }.keys)
    }

    /// Notes that a part of a delivery could not be read.
    mutating func failed(_ id: Int64, _ reason: String, at now: ContinuousClock.Instant) {
        var wait = Self.firstWait
        if let last = troubles[id] {
            // Parts read at the same time fail for the same reason and count once.
            guard now >= last.until else { return }
            wait = min(last.wait * 2, Self.maxWait)
        }
        if troubles.count >= Self.maxCount { troubles = troubles.filter { now < $0.value.until } }
        troubles[id] = Trouble(reason: reason, until: now + wait, wait: wait)
    }

    /// Notes that a part of a delivery was read.
    mutating func loaded(_ id: Int64) {
        if !troubles.isEmpty { troubles[id] = nil }
    }
}
