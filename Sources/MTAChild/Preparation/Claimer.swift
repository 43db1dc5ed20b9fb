import Content
import Logging
import ProcessEvents
import ProcessProtocol
import PushCore
import Store
import Synchronization

/// Claims parts and has them prepared, as many as may wait for the dispatch window.
///
/// A load that takes long goes on beside the next claims, which leave its delivery alone: what one delivery makes slow delays that
/// delivery only.
final class Claimer: Sendable {
    /// A child that found nothing looks again after so long, even if no wake-up came.
    private static let pollInterval = Duration.seconds(1)
    /// Parts of one claim: enough to hide the round trips, few enough that other children get theirs.
    private static let mostPartsAtOnce = 4
    /// Parts that a claim looks at when the last one brought single messages: as many as make a whole part.
    private static let mostMessagesAtOnce = 1_000
    /// Parts that a claim looks at when the last one brought other small ones: so many more of them are worth a round trip.
    private static let mostSmallPartsAtOnce = 256
    /// Single messages that are loaded though others fill the child: they would else wait until some of those have left.
    private static let mostMessagesBeside = 1_000
    /// The most messages of a small part.
    private static let smallPart: Int32 = 100

    /// While single messages fill every claim, other deliveries are looked for so often if the last look found nothing of theirs.
    private static let lookForOthers = Duration.milliseconds(100)

    /// An answer that took longer says too little about what the database's clock shows now.
    private static let freshAnswer = Duration.seconds(1)
    /// Loads of one claim that take longer are not waited for: a load takes some milliseconds.
    private static let usualLoad = Duration.milliseconds(250)
    /// Loads that may go on beside a claim: those of so many slow deliveries are not the rule.
    private static let mostBeside = 64

    private let store: Store
    private let preparer: PartPreparer
    private let sender: Sender
    private let loading: LoadingParts
    private let leases: LeaseRenewal
    private let control: ChildControl
    private let losses: ConnectionLosses
    /// A part could not be loaded because the connection was lost.
    private let loadLosses = ConnectionLosses()
    private let troubles = Mutex(LoadTroubles())
    /// Has the states of the held deliveries looked at.
    private let watchSignal: EventSignal
    private let clock: DatabaseClock
    private let arguments: ChildArguments
    private let settings: ChildSettings
    private let logger: Logger

    /// Single messages were added that nobody has claimed.
    private let hasMessages = Atomic(false)

    /// Others wait for this child's place.
    private let leavesWhenDone = Atomic(false)

    /// The child drains as soon as a claim finds nothing.
    func leaveWhenDone() {
        leavesWhenDone.store(true, ordering: .relaxed)
        sender.signals.claim.fire()
    }

    /// Single messages were added: they are claimed next.
    func messagesCame() {
        hasMessages.store(true, ordering: .relaxed)
        sender.signals.claim.fire()
    }

    /// What could not be read is tried again at once.
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
                // The database may see other parts with this child than the child does.
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
                let usual = max(1, min(Self.mostPartsAtOnce, room / PartPreparer.markSize))
                let parts =
                    if let smallParts {
                        try await claim(atMost: smallParts, messages: room)
                    } else {
                        try await claim(atMost: usual)
                    }
                if loadLosses.take() {
                    // Nothing else can be loaded either.
                    try? await Task.sleep(for: backOff.next())
                    continue
                }
                backOff.reset()
                if smallParts != nil {
                    // The next claim is of all parts again, the urgent ones first: nothing is kept waiting for being large.
                    smallParts = nil
                    // Messages that come faster than this fill that claim, too: then others would wait until no more come.
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

    /// How many parts the next claim looks at, if it is to be one of small parts: when the last one was full of them.
    private static func smallParts(after parts: [ClaimedPart], outOf asked: Int) -> Int? {
        guard parts.count == asked, parts.allSatisfy({ $0.size <= smallPart }) else { return nil }
        return parts.allSatisfy { $0.validUntil != nil } ? mostMessagesAtOnce : mostSmallPartsAtOnce
    }

    /// Claims a part of a delivery that these are not of.
    /// - Returns: whether there was one.
    private func claimOthers(than parts: [ClaimedPart]) async throws -> Bool {
        guard let room = roomForClaims(), room > 0 else { return true }
        return try await !claim(atMost: 1, except: Set(parts.map(\.deliveryID))).isEmpty
    }

    /// Claims single messages beside as many others as a child loads.
    /// - Parameter room: what ``roomForClaims()`` says.
    /// - Returns: whether there were any.
    private func claimSingleMessages(_ room: Int?) async throws -> Bool {
        guard let most = room.map({ $0 + Self.mostMessagesBeside }), most > 0,
            hasMessages.exchange(false, ordering: .relaxed)
        else { return false }
        let parts = try await claim(atMost: Self.mostMessagesAtOnce, messages: most)
        if !parts.isEmpty { hasMessages.store(true, ordering: .relaxed) }
        return !parts.isEmpty
    }

    /// Messages that may still be loaded, 0 or less if so many are; nil if nothing is to be claimed now.
    private func roomForClaims() -> Int? {
        let seen = sender.snapshot
        let holdsNothing = seen.partCount == 0
        guard seen.admission.trouble == .none else { return nil }
        switch seen.admission.circuit {
        case .closed: break
        case .open: return nil
        case .probing:
            // The part of the probe has ended and proved nothing: the next probe is another child's, when it is due.
            if holdsNothing { control.drain(.circuitOpen) }
            return nil
        }
        guard loading.count < Self.mostBeside, holdsNothing || sender.isGatewayWell else { return nil }
        return Int(Double(settings.maxWaitingMessages) * seen.window.breadth) - seen.waitingMessages
    }

    /// Takes the part of a due probe, and prepares it.
    /// - Returns: false if none is due: then the circuit stays open without this child.
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

    /// Takes a part to probe the gateway with, while it is in trouble, and prepares it.
    /// - Parameter tried: deliveries that others go before.
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

    /// Claims parts and waits until they are loaded, unless that takes long.
    /// - Parameters:
    ///   - messages: how many at most, if single messages are asked for; nil for all kinds of parts.
    ///   - others: deliveries whose parts are not wanted.
    private func claim(
        atMost limit: Int,
        messages: Int? = nil,
        except others: Set<Int64> = []
    ) async throws -> [ClaimedPart] {
        let slow = loading.deliveries.union(sender.snapshot.deliveriesAtTheirPace).union(others)
        let troubled = troubles.withLock { $0.deliveries(at: .now) }
        var parts = try await take(limit, messages, except: slow.union(troubled))
        // While there is nothing else to do, what cannot be loaded is told so and waits.
        if parts.isEmpty, !troubled.isEmpty { parts = try await take(limit, messages, except: slow) }
        let loads = Self.loadedTogether(parts).map(load)
        guard !loads.isEmpty else { return parts }
        await withTimeout(Self.usualLoad) { for load in loads { await load.value } }
        return parts
    }

    /// Single messages of a delivery share a load. What may have a history, or was set aside, is read by itself.
    private static func loadedTogether(_ parts: [ClaimedPart]) -> [[ClaimedPart]] {
        var groups: [[ClaimedPart]] = []
        var places: [Int64: Int] = [:]
        for part in parts {
            let isPlain = part.size <= smallPart && !part.mayHaveHistory && !part.isRetry && !part.isAlone
            if isPlain, let place = places[part.deliveryID] {
                groups[place].append(part)
            } else {
                if isPlain { places[part.deliveryID] = groups.count }
                groups.append([part])
            }
        }
        return groups
    }

    private func load(_ parts: [ClaimedPart]) -> Task<Void, Never> {
        loading.start(parts) { await self.prepare(parts) }
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

    /// A delivery may be younger than the last look at the database's clock, which may have been set meanwhile.
    private func setClock(_ part: ClaimedPart, askedAt moment: ContinuousClock.Instant) {
        // The time is that of the statement; its commit, and with it the answer, may have waited.
        guard ContinuousClock.now - moment < Self.freshAnswer else { return }
        clock.set(part.claimedAt, askedAt: moment)
    }

    /// Asks which parts still carry this child's token, and gives back those of which it never heard: the answer to their
    /// claim was lost. No claim is under way meanwhile, and what was claimed before is being loaded or with the dispatch state.
    private func compare() async throws {
        let (believed, before) = known()
        let held = Set(try await store.partsHeld(byChild: arguments.childID))
        leases.loseParts(believed.filter { !held.contains($0) })
        // Also what it answered for when it asked: that may have gone back since.
        for part in held.subtracting(known().all).subtracting(before).sorted(by: { $0.part < $1.part }) {
            logger.notice("part \(part.part) was claimed without an answer: giving it back")
            _ = try await store.releasePart(part)
        }
    }

    /// The parts that this child believes to hold, and all of which it knows. One that is loaded is with the dispatch state before the load ends.
    private func known() -> (believed: [PartToken], all: Set<PartToken>) {
        let loading = loading.tokens
        let work = sender.work
        return (loading.union(work.held).sorted(), loading.union(work.releasing).union(work.all))
    }

    private func prepare(_ parts: [ClaimedPart]) async {
        // What is wrong, and with which of them, shows when each is prepared by itself.
        if let all = try? await preparer.prepare(together: parts), !Task.isCancelled { return handOver(all) }
        for part in parts { await prepare(part) }
    }

    /// Gives parts of one delivery to the sender.
    private func handOver(_ parts: [PreparedPart]) {
        guard let delivery = parts.first?.claimed.deliveryID else { return }
        troubles.withLock { $0.loaded(delivery) }
        let isNew = !sender.holds(delivery)
        sender.perform(parts.map { .prepared($0) })
        // An order that came while they were loaded was not looked for.
        if isNew { watchSignal.fire() }
    }

    private func prepare(_ part: ClaimedPart) async {
        // It takes no statement for each part of a delivery to learn that its view is still not there.
        if let reason = troubles.withLock({ $0.reason(ofDelivery: part.deliveryID, at: .now) }) {
            return postpone(part, reason)
        }
        do {
            let prepared = try await preparer.prepare(part)
            // Its delivery was paused or stopped meanwhile.
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

    /// The delivery cannot be sent as it is, and no other child would fare better. Its messages wait: what it was checked with at its
    /// start, such as a declaration or a credential, has changed since, and can be changed back.
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

    /// Others pass it until it is tried again.
    private func postpone(_ part: ClaimedPart, _ reason: String) {
        sender.perform(.unloaded(PartToken(part: part.id, token: part.fencingToken), reason: reason))
    }
}

/// The deliveries whose messages could not be read a moment ago, for a reason that all of their parts share.
///
/// Until one of them is tried again, the others go back without being asked for: a delivery may have thousands, and what keeps one
/// from being read, such as somebody's lock of the view, may take the connection up for seconds.
struct LoadTroubles: Sendable {
    struct Trouble {
        var reason: String
        var until: ContinuousClock.Instant
        var wait: Duration
    }

    /// As parts wait in the database.
    private static let firstWait = Duration.seconds(5)
    private static let longestWait = Duration.seconds(60)
    /// A child serves few deliveries at a time.
    private static let most = 64

    private(set) var troubles: [Int64: Trouble] = [:]

    /// Why a delivery need not be tried now; nil if it may be.
    func reason(ofDelivery id: Int64, at now: ContinuousClock.Instant) -> String? {
        guard let trouble = troubles[id], now < trouble.until else { return nil }
        return trouble.reason
    }

    /// The deliveries that need not be tried now.
    func deliveries(at now: ContinuousClock.Instant) -> Set<Int64> {
        troubles.isEmpty ? [] : Set(troubles.filter { now < $0.value.until }.keys)
    }

    /// A part of a delivery could not be read.
    mutating func failed(_ id: Int64, _ reason: String, at now: ContinuousClock.Instant) {
        var wait = Self.firstWait
        if let last = troubles[id] {
            // Parts that were asked for at the same moment tell the same once.
            guard now >= last.until else { return }
            wait = min(last.wait * 2, Self.longestWait)
        }
        if troubles.count >= Self.most { troubles = troubles.filter { now < $0.value.until } }
        troubles[id] = Trouble(reason: reason, until: now + wait, wait: wait)
    }

    /// A part of a delivery was read.
    mutating func loaded(_ id: Int64) {
        if !troubles.isEmpty { troubles[id] = nil }
    }
}
