import Logging
import ProcessEvents
import PushCore
import Store

/// Cuts deliveries into parts, one chunk of each in turn, or as many as its weight says. So a long delivery does not
/// hold up a short one.
///
/// While children have enough to do, their deliveries wait for the next chunk. A part made long before it is sent takes
/// up space, and misses subscribers that opt out in between.
///
/// A delivery with a slow target (a view, a condition in SQL) is prepared in parallel with the others from then on. It
/// gets smaller chunks and a connection of its own.
actor PreparationDuty {
    /// The maximum time of a chunk, which usually takes some tenths of a second. Other deliveries wait this long once;
    /// then the slow delivery is prepared in parallel.
    private static let quickLimit = Duration.seconds(2)
    /// The maximum time of a small chunk. A delivery that takes longer waits and shows its reason, because its chunk
    /// might never end.
    private static let slowLimit = Duration.seconds(30)
    /// The chunks of a slow delivery are this many times smaller.
    private static let slowDivisor = 10
    /// The maximum number of new deliveries begun before others continue: a short one that has just begun does not wait
    /// for a round of long ones. It also limits how many of one priority are in preparation at once, so that a delivery
    /// ends before many more begin. Deliveries that wait for children do not count.
    private static let newAtOnce = 10
    /// How long to go on beginning deliveries that were claimed together: ten small ones take this long. The rest are
    /// left to any host: a long one has come, and another host or a more urgent delivery may be waiting.
    private static let beginningTime = Duration.milliseconds(100)

    private let store: Store
    private let slowStore: Store
    private let hostID: String
    private let settings: PreparationSettings
    private let logger: Logger
    /// Whether the supervisor still takes new work.
    private let isClaiming: @Sendable () -> Bool
    /// Renders messages of deliveries before they leave.
    private let analyst: DeliveryAnalyst
    /// Called when a chunk is committed, so that children can start on it, and when a delivery is prepared.
    private let chunkMade: @Sendable (ChunkResult) -> Void
    /// Called when deliveries that start soon can begin again.
    private let roomMade: @Sendable () -> Void
    private var jobs: [PreparationJob] = []
    /// Deliveries with at least one chunk: they may have to wait for the next one.
    private var begun: Set<Int64> = []
    /// Deliveries whose children had enough to do at the last look.
    private var waiting: Set<Int64> = []
    /// Deliveries prepared in parallel with the others; the first is the current one.
    private var slowJobs: [PreparationJob] = []
    /// Deliveries that are prepared before their start, and whose messages are to be rendered; the first is the current
    /// one.
    private var analyses: [PreparationJob] = []

    init(
        store: Store,
        slowStore: Store,
        hostID: String,
        settings: SupervisorSettings,
        logger: Logger,
        analyst: DeliveryAnalyst,
        isClaiming: @escaping @Sendable () -> Bool,
        chunkMade: @escaping @Sendable (ChunkResult) -> Void,
        roomMade: @escaping @Sendable () -> Void
    ) {
        self.store = store
        self.slowStore = slowStore
        self.hostID = hostID
        self.settings = settings.mta.preparation
        self.logger = logger
        self.analyst = analyst
        self.isClaiming = isClaiming
        self.chunkMade = chunkMade
        self.roomMade = roomMade
    }

    /// Prepares until there is nothing left to prepare now. Returns whether it did anything or more is to come.
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

    /// Claims deliveries that can begin, the most urgent first, and makes the first chunk of each. Returns whether
    /// there was one.
    ///
    /// - Parameter least: the priority of the most urgent delivery in preparation that can continue; less urgent ones
    ///   do not begin.
    private func beginNew(atLeast least: Int16 = .min) async throws -> Bool {
        guard isClaiming() else { return false }
        // With a minimum, no delivery is claimed that only starts soon. Claims read past all that wait to be rendered, so
        // those are few.
        let least = hasRoomForAnalyses ? least : max(least, .min + 1)
        let room = Self.newAtOnce - jobs.count { !waiting.contains($0.deliveryID) && $0.priority >= least }
        let new = try await store.claimDeliveriesToPrepare(
            host: hostID,
            except: (jobs + slowJobs + analyses).map(\.deliveryID),
            // A more urgent delivery begins however many are in preparation.
            atLeast: room > 0 ? least : Int16(clamping: Int(least) + 1),
            limit: room > 0 ? room : Self.newAtOnce,
            freezeSeconds: settings.freezeSec
        )
        let end = ContinuousClock.now + Self.beginningTime
        var left: [Int64] = []
        // One that was prepared before its start is claimed again when it starts.
        forget(Set(new.map(\.deliveryID)))
        for job in new {
            guard isClaiming(), job.deliveryID == new.first?.deliveryID || ContinuousClock.now < end else {
                left.append(job.deliveryID)
                continue
            }
            if let problem = PreparationCheck.problem(with: job) {
                try await giveBack(job, problem, PreparationCheck.problems(with: job))
                continue
            }
            let text = "Preparing delivery \(job.deliveryID)\(job.resumed ? ", resumed" : "")"
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

    /// Makes one round over the most urgent deliveries that need not wait. An error of one delivery is thrown after the
    /// others had their turn. Returns whether any had a turn.
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
                    // New deliveries begin between two chunks of a long one.
                    _ = try await beginNew(atLeast: priority)
                    // A more urgent delivery gets the next turn.
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

    /// Continues a slow delivery in parallel with the others.
    private func prepareSeparately(_ job: PreparationJob) {
        logger.notice(
            "Delivery \(job.deliveryID) is slow to prepare; it is now prepared in parallel with the others",
            metadata: Self.keys(job)
        )
        slowJobs.append(job)
        guard slowJobs.count == 1 else { return }
        Task {
            while let job = slowJobs.first {
                let isOver = await prepareSlowChunk(of: job)
                guard let place = slowJobs.firstIndex(where: { $0.isSame(as: job) }) else { continue }
                slowJobs.remove(at: place)
                if !isOver { slowJobs.append(job) }
            }
        }
    }

    private func prepareSlowChunk(of job: PreparationJob) async -> Bool {
        guard isClaiming() else { return true }
        do {
            return try await prepareChunk(of: job, isSlow: true)
        } catch {
            // It still belongs to this host and is claimed again.
            logger.failure("A chunk of delivery \(job.deliveryID) could not be prepared", of: error, Self.keys(job))
            return true
        }
    }

    /// Prepares one chunk; returns whether this queue has nothing more to do for the delivery.
    private func prepareChunk(of job: PreparationJob, isSlow: Bool = false) async throws -> Bool {
        do {
            let chunk = try await (isSlow ? slowStore : store).prepareChunk(
                job,
                partSize: settings.messagesPerPart,
                partsPerChunk: isSlow ? max(1, settings.partsPerChunk / Self.slowDivisor) : settings.partsPerChunk,
                timeout: isSlow ? Self.slowLimit : Self.quickLimit,
                trial: analyst.trial
            )
            if chunk.parts > 0 && !chunk.isHeld || chunk.done { chunkMade(chunk) }
            if chunk.done { logger.info("Delivery \(job.deliveryID) is prepared", metadata: Self.keys(job)) }
            if chunk.done, chunk.isHeld { analyseSeparately(job) }
            return chunk.done || chunk.busy
        } catch let refusal as ChunkTrial.Refusal {
            try await giveBack(job, DeliveryProblem.text(refusal.problems), refusal.problems)
            return true
        } catch {
            switch store.decision(on: error, of: job) {
            case .passes: throw error
            case .waits(_, isTimeout: true) where !isSlow: prepareSeparately(job)
            case .waits(let words, isTimeout: _):
                let reason = await store.waitReason(words, after: error)
                let text = "Delivery \(job.deliveryID) cannot be prepared now and waits: \(reason)"
                logger.warning("\(text)", metadata: Self.keys(job))
                try await store.postponePreparation(job.deliveryID, reason: reason)
            case .fails(let reason): try await giveBack(job, "The preparation failed: \(reason)")
            }
            return true
        }
    }

    private static func keys(_ job: PreparationJob) -> Logger.Metadata { ["delivery": "\(job.deliveryID)"] }

    private var hasRoomForAnalyses: Bool { analyses.count < Self.newAtOnce }

    /// Renders messages of a delivery that is prepared before its start, in parallel with the preparation of others.
    private func analyseSeparately(_ job: PreparationJob) {
        analyses.append(job)
        guard analyses.count == 1 else { return }
        Task {
            while let job = analyses.first {
                await endAnalysis(of: job)
                analyses.removeAll { $0.isSame(as: job) }
                // Not at the first free place: deliveries that are claimed together cost little more than one.
                if analyses.count == Self.newAtOnce / 2 { roomMade() }
            }
        }
    }

    private func forget(_ ids: Set<Int64>) {
        jobs.removeAll { ids.contains($0.deliveryID) }
        slowJobs.removeAll { ids.contains($0.deliveryID) }
        analyses.removeAll { ids.contains($0.deliveryID) }
        begun.subtract(ids)
    }

    /// A delivery whose messages cannot be rendered now is tried again after a while; a scheduled one keeps its start.
    private func endAnalysis(of job: PreparationJob) async {
        guard isClaiming() else { return }
        do {
            guard let findings = try await analyst.analyse(slowStore, job) else { return }
            let state = try await slowStore.endAnalysis(of: job, findings)
            guard state == .editing || state == .stopped, !findings.problems.isEmpty else {
                logger.info("Delivery \(job.deliveryID) is analysed and \(state.rawValue)", metadata: Self.keys(job))
                return
            }
            noteReturn(of: job, state, DeliveryProblem.text(findings.problems))
        } catch {
            logger.failure("Messages of delivery \(job.deliveryID) could not be rendered", of: error, Self.keys(job))
            try? await slowStore.postponeAnalysis(of: job, reason: "its messages could not be rendered: \(error)")
        }
    }

    /// Returns the delivery to its author with the reason: it can be corrected and started again.
    private func giveBack(_ job: PreparationJob, _ reason: String, _ problems: [DeliveryProblem] = []) async throws {
        noteReturn(of: job, try await store.returnDelivery(job, problems, reason: reason), reason)
    }

    private func noteReturn(of job: PreparationJob, _ state: DeliveryState, _ reason: String) {
        logger.event(
            .deliveryReturned,
            "Delivery \(job.deliveryID) cannot be prepared and is \(state.rawValue): \(reason)",
            Self.keys(job)
        )
    }
}
