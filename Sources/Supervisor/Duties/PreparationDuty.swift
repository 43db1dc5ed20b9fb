import Logging
import ProcessEvents
import PushCore
import Store

/// Turns deliveries into parts, a chunk of each in turn, or as many as its weight says, so that a long one does not keep a short one
/// waiting.
///
/// While children have enough to do, the deliveries that they have parts of wait for their next chunk: a part that is made long before
/// it is sent takes room, and misses who opts out meanwhile.
///
/// A delivery whose target takes long to be read (a view, a condition in SQL) is prepared beside the others from then on, in smaller
/// chunks and over a connection of its own.
actor PreparationDuty {
    /// A chunk takes some tenths of a second. Other deliveries wait so long once, then the slow one is prepared beside them.
    private static let quickLimit = Duration.seconds(2)
    /// What takes longer even in a small chunk waits with its reason: nobody can tell whether it would ever end.
    private static let slowLimit = Duration.seconds(30)
    /// So many times smaller are the chunks of a slow delivery.
    private static let slowDivisor = 10
    /// Deliveries that are begun before others go on: a short one that has just begun does not wait for a round of long ones. No more of
    /// one priority are under way at once, so that what is begun ends first, however many are to begin; those that wait for children do
    /// not count.
    private static let newAtOnce = 10
    /// For so long those that were claimed together are begun one after the other: ten small ones take as long. The others are left to any
    /// host: a long one has come, and another host or a more urgent delivery may be waiting.
    private static let beginningTime = Duration.milliseconds(100)

    private let store: Store
    private let slowStore: Store
    private let hostID: String
    private let settings: PreparationSettings
    private let logger: Logger
    /// Whether the supervisor still takes new work.
    private let isClaiming: @Sendable () -> Bool
    /// Called when a chunk is committed, so that children may start on it, and when a delivery is prepared.
    private let chunkMade: @Sendable (ChunkResult) -> Void
    private var jobs: [PreparationJob] = []
    /// Those of which a chunk was made: they may have to wait for the next one.
    private var begun: Set<Int64> = []
    /// Those whose children have enough to do, as the last look showed it.
    private var waiting: Set<Int64> = []
    /// Deliveries that are prepared beside the others; the one that is at work is the first.
    private var slowJobs: [PreparationJob] = []

    init(
        store: Store,
        slowStore: Store,
        hostID: String,
        settings: SupervisorSettings,
        logger: Logger,
        isClaiming: @escaping @Sendable () -> Bool,
        chunkMade: @escaping @Sendable (ChunkResult) -> Void
    ) {
        self.store = store
        self.slowStore = slowStore
        self.hostID = hostID
        self.settings = settings.mta.preparation
        self.logger = logger
        self.isClaiming = isClaiming
        self.chunkMade = chunkMade
    }

    /// Prepares until there is nothing left to prepare now; returns whether there was anything, or is more to come.
    func prepareAll() async throws -> Bool {
        var didSomething = false
        while isClaiming(), !Task.isCancelled {
            let urgent = jobs.filter { !waiting.contains($0.deliveryID) }.map(\.priority).max()
            let began = try await beginNew(atLeast: urgent ?? .min)
            let wentOn = try await prepareNextChunks()
            didSomething = didSomething || began || wentOn
            guard began || wentOn else { break }
        }
        return didSomething || !jobs.isEmpty
    }

    /// Takes deliveries in hand that are to begin, the most urgent first, and makes the first chunk of each; returns whether there was one.
    ///
    /// - Parameter least: the priority of what is in hand and can go on: what is less urgent does not begin before.
    private func beginNew(atLeast least: Int16 = .min) async throws -> Bool {
        guard isClaiming() else { return false }
        let room = Self.newAtOnce - jobs.count { !waiting.contains($0.deliveryID) && $0.priority >= least }
        let new = try await store.claimDeliveriesToPrepare(
            host: hostID,
            except: (jobs + slowJobs).map(\.deliveryID),
            // What is more urgent than all in hand begins however many these are.
            atLeast: room > 0 ? least : Int16(clamping: Int(least) + 1),
            most: room > 0 ? room : Self.newAtOnce
        )
        let end = ContinuousClock.now + Self.beginningTime
        var left: [Int64] = []
        for job in new {
            guard isClaiming(), job.deliveryID == new.first?.deliveryID || ContinuousClock.now < end else {
                left.append(job.deliveryID)
                continue
            }
            if let problem = PreparationCheck.problem(with: job) {
                try await giveBack(job, problem)
                continue
            }
            let text = "Preparing delivery \(job.deliveryID)\(job.resumed ? ", which was begun before" : "")"
            logger.info("\(text)", metadata: Self.keys(job))
            if let warning = PreparationCheck.warning(of: job) {
                logger.warning("\(warning)", metadata: Self.keys(job))
            }
            jobs.append(job)
            try await go(on: job)
        }
        try await store.leavePreparations(left, host: hostID)
        return !new.isEmpty
    }

    /// Goes round once, over the most urgent of those that need not wait; an error of one delivery comes to light after the others had
    /// their turn. Returns whether there was one.
    private func prepareNextChunks() async throws -> Bool {
        waiting = []
        guard !jobs.isEmpty else { return false }
        let turns = try await store.chunksInTurn(
            jobs.map(\.deliveryID).filter(begun.contains),
            host: hostID,
            ofDelivery: settings.partsPerChunk,
            ofApplication: settings.maxReadyParts
        )
        waiting = Set(turns.filter { $0.value == 0 }.keys)
        let ready = jobs.filter { !waiting.contains($0.deliveryID) }
        guard let priority = ready.map(\.priority).max() else { return false }
        var trouble: (any Error)?
        var hadTurn = false
        round: for job in ready where job.priority == priority {
            do {
                for _ in 0..<(turns[job.deliveryID] ?? 1) where isClaiming() && isInHand(job) {
                    hadTurn = true
                    try await go(on: job)
                    // Between two chunks of those that are long.
                    _ = try await beginNew(atLeast: priority)
                    // What is more urgent has the next one.
                    if jobs.contains(where: { $0.priority > priority && !waiting.contains($0.deliveryID) }) {
                        break round
                    }
                }
            } catch {
                trouble = error
            }
        }
        if let trouble { throw trouble }
        return hadTurn
    }

    private func isInHand(_ job: PreparationJob) -> Bool { jobs.contains { $0.deliveryID == job.deliveryID } }

    private func go(on job: PreparationJob) async throws {
        if try await prepareChunk(of: job) {
            jobs.removeAll { $0.deliveryID == job.deliveryID }
            begun.remove(job.deliveryID)
        } else {
            begun.insert(job.deliveryID)
        }
    }

    /// Goes on with a delivery that has turned out slow, beside the others.
    private func prepareSeparately(_ job: PreparationJob) {
        logger.notice(
            "Delivery \(job.deliveryID) takes long to be prepared: it is prepared separately from now on",
            metadata: Self.keys(job)
        )
        slowJobs.append(job)
        guard slowJobs.count == 1 else { return }
        Task {
            while let job = slowJobs.first {
                let isOver = await prepareSlowChunk(of: job)
                slowJobs.removeFirst()
                if !isOver { slowJobs.append(job) }
            }
        }
    }

    private func prepareSlowChunk(of job: PreparationJob) async -> Bool {
        guard isClaiming() else { return true }
        do {
            return try await prepareChunk(of: job, isSlow: true)
        } catch {
            // It is this host's still, and is claimed again.
            logger.failure("A chunk of delivery \(job.deliveryID) could not be prepared", of: error, Self.keys(job))
            return true
        }
    }

    /// Prepares one chunk; returns whether there is nothing more to do for the delivery in this place.
    private func prepareChunk(of job: PreparationJob, isSlow: Bool = false) async throws -> Bool {
        do {
            let chunk = try await (isSlow ? slowStore : store).prepareChunk(
                job,
                partSize: settings.messagesPerPart,
                partsPerChunk: isSlow ? max(1, settings.partsPerChunk / Self.slowDivisor) : settings.partsPerChunk,
                timeout: isSlow ? Self.slowLimit : Self.quickLimit
            )
            if chunk.parts > 0 || chunk.done { chunkMade(chunk) }
            if chunk.done { logger.info("Delivery \(job.deliveryID) is prepared", metadata: Self.keys(job)) }
            return chunk.done || chunk.busy
        } catch {
            switch store.decision(on: error, of: job) {
            case .passes: throw error
            case .waits(_, isTimeout: true) where !isSlow: prepareSeparately(job)
            case .waits(let words, isTimeout: _):
                let reason = await store.waitReason(words, after: error)
                let text = "Delivery \(job.deliveryID) cannot be prepared now, and waits: \(reason)"
                logger.warning("\(text)", metadata: Self.keys(job))
                try await store.postponePreparation(job.deliveryID, reason: reason)
            case .fails(let reason): try await giveBack(job, "The preparation failed: \(reason)")
            }
            return true
        }
    }

    private static func keys(_ job: PreparationJob) -> Logger.Metadata { ["delivery": "\(job.deliveryID)"] }

    /// Back to its author, with what is wrong: it can be corrected and started again.
    private func giveBack(_ job: PreparationJob, _ reason: String) async throws {
        let state = try await store.returnDelivery(job.deliveryID, reason: reason)
        logger.event(
            .deliveryReturned,
            "Delivery \(job.deliveryID) cannot be prepared and is \(state.rawValue): \(reason)",
            Self.keys(job)
        )
    }
}
