import Logging
import ProcessEvents
import PushCore
import Store
import Synchronization
import TrackingSpools

/// Stores conversions that apps report, many in one transaction. While the database is unreachable they are refused, and
/// apps send them again.
final class ConversionWriter: Sendable {
    private let store: Store
    private let resolver: HitResolver
    private let limit: Duration
    private let logger: Logger
    private let group = Mutex<GroupCommitter<DeviceConversion, ConversionOutcome>?>(nil)

    /// The maximum number of retries after a conflict with another process over the same messages.
    private static let maxConflicts = 3

    init(store: Store, resolver: HitResolver, settings: WebTrackingSettings, logger: Logger) {
        self.store = store
        self.resolver = resolver
        self.logger = logger
        limit = .milliseconds(settings.databaseTimeoutMs)
        let committer = GroupCommitter<DeviceConversion, ConversionOutcome>(
            batchSize: settings.batchSize,
            capacity: settings.maxWaiting,
            delay: .milliseconds(settings.batchDelayMs)
        ) { [weak self] conversions in
            await self?.store(conversions) ?? []
        }
        group.withLock { $0 = committer }
    }

    /// Calls `answer` on any thread when the conversion is stored or known to be invalid; with nil if it cannot be stored
    /// now.
    ///
    /// - Parameter id: the message, as the request names it.
    func submit(
        _ id: TrackingID,
        name: String,
        value: Double?,
        answer: @escaping @Sendable (ConversionOutcome?) -> Void
    ) {
        let hit = TrackingHit(id: id, microseconds: WallClock.microseconds, address: nil, userAgent: "")
        Task {
            switch await resolver.resolve(hit) {
            case .resolved(let resolved):
                guard let committer = group.withLock({ $0 }) else { return answer(nil) }
                let conversion = DeviceConversion(message: resolved.message, name: name, value: value)
                committer.submit(conversion, answer: answer)
            case .unknown, .foreign: answer(.unknown)
            case .undecided: answer(nil)
            }
        }
    }

    /// Stores all in one transaction; returns nothing if that is not possible now.
    private func store(_ conversions: [DeviceConversion]) async -> [ConversionOutcome] {
        for round in 0...Self.maxConflicts {
            guard store.isConnected else { return [] }
            let result = await Attempt<[ConversionOutcome]>().run(within: limit) { [store] in
                try await store.recordConversions(conversions)
            }
            switch result {
            case .success(let outcomes): return outcomes
            case .failure(let error):
                guard [.conflict, .locked].contains(DatabaseTrouble(error)), round < Self.maxConflicts else {
                    logger.failure("\(conversions.count) conversions were refused", of: error)
                    return []
                }
            case nil: return []
            }
        }
        return []
    }
}
