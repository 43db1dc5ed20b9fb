import Logging
import Store

/// Turns deliveries into parts, a chunk of each in turn, so that a long one does not keep a short one waiting.
actor PreparationDuty {
    private let store: Store
    private let hostID: String
    private let messagesPerPart: Int
    private let partsPerChunk: Int
    private let logger: Logger
    /// Whether the supervisor still takes new work.
    private let isClaiming: @Sendable () -> Bool
    /// Called when a chunk is committed, so that children may start on it, and when a delivery is prepared.
    private let chunkMade: @Sendable () -> Void
    private var jobs: [PreparationJob] = []

    init(
        store: Store,
        hostID: String,
        settings: SupervisorSettings,
        logger: Logger,
        isClaiming: @escaping @Sendable () -> Bool,
        chunkMade: @escaping @Sendable () -> Void
    ) {
        self.store = store
        self.hostID = hostID
        messagesPerPart = settings.messagesPerPart
        partsPerChunk = settings.partsPerChunk
        self.logger = logger
        self.isClaiming = isClaiming
        self.chunkMade = chunkMade
    }

    /// Prepares until there is nothing left to prepare; returns whether there was anything.
    func prepareAll() async throws -> Bool {
        var didSomething = false
        while isClaiming(), !Task.isCancelled {
            let isMore = try await claim()
            didSomething = didSomething || isMore
            if jobs.isEmpty, !isMore { break }
            try await prepareOneChunkOfEach()
        }
        return didSomething
    }

    /// Takes a delivery in hand, or fails it; returns whether there was one.
    private func claim() async throws -> Bool {
        let inHand = jobs.map(\.deliveryID)
        guard let job = try await store.claimDeliveryToPrepare(host: hostID, except: inHand) else {
            return !jobs.isEmpty
        }
        if let problem = PreparationCheck.problem(with: job) {
            try await fail(job, problem)
        } else {
            logger.info("Preparing delivery \(job.deliveryID)\(job.resumed ? ", which was begun before" : "")")
            jobs.append(job)
        }
        return true
    }

    /// Goes round once; an error of one delivery comes to light after the others had their turn.
    private func prepareOneChunkOfEach() async throws {
        var trouble: (any Error)?
        for job in jobs where isClaiming() {
            do {
                if try await prepareChunk(of: job) { jobs.removeAll { $0.deliveryID == job.deliveryID } }
            } catch {
                trouble = error
            }
        }
        if let trouble { throw trouble }
    }

    /// Prepares one chunk; returns whether this supervisor has nothing more to do for the delivery.
    private func prepareChunk(of job: PreparationJob) async throws -> Bool {
        do {
            let chunk = try await store.prepareChunk(
                job,
                partSize: messagesPerPart,
                partsPerChunk: partsPerChunk
            )
            if chunk.parts > 0 || chunk.done { chunkMade() }
            if chunk.done { logger.info("Delivery \(job.deliveryID) is prepared") }
            return chunk.done || chunk.busy
        } catch {
            switch store.verdict(on: error, of: job) {
            case .passes: throw error
            case .waits(let reason):
                logger.warning("Delivery \(job.deliveryID) cannot be prepared now, and waits: \(error)")
                try await store.postponePreparation(job.deliveryID, reason: reason)
            case .fails(let reason): try await fail(job, "The preparation failed: \(reason)")
            }
            return true
        }
    }

    private func fail(_ job: PreparationJob, _ reason: String) async throws {
        logger.error("Delivery \(job.deliveryID) has failed: \(reason)")
        try await store.failDelivery(job.deliveryID, reason: reason)
    }
}
