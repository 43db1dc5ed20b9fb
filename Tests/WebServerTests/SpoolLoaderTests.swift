import Foundation
import Logging
import PushCore
import Store
import Synchronization
import Testing
import TrackingSpools

/// The loader alone, with real files and a database that only counts.
@Suite struct SpoolLoaderTests {
    private static let today: Int32 = 9_000

    private let folder = NSTemporaryDirectory() + "loader-\(UUID().uuidString)"

    private func spool(_ folder: String) throws -> TrackingSpool {
        try TrackingSpool(
            folder: folder,
            maxMegabytes: 10,
            source: UUID(),
            created: 1,
            logger: Logger(label: "spool") { _ in SwiftLogNoOpLogHandler() }
        )
    }

    private func record(_ position: Int64, forged: Int) -> TrackingSpoolRecord {
        TrackingSpoolRecord(position: position, hits: (0..<forged).map { _ in Self.forged() })
    }

    private static func forged() -> TrackingHit {
        let id = MessageUUID(high: .random(in: .min ... .max), low: .random(in: .min ... .max))
        return TrackingHit(
            id: TrackingID(message: .uuid(id), deliveries: [16], kind: .received),
            microseconds: (Int64(today) + 10_957) * 86_400_000_000 + 1,
            address: nil,
            userAgent: ""
        )
    }

    /// Ids that match no key are looked up together, once; a hit that arrives later is looked up again.
    @Test func theKeysAreReadOnceForAllThatWasThere() async throws {
        let spool = try spool(folder)
        for position in Int64(1)...50 { try spool.append(record(position, forged: 100)) }
        let database = CountingDatabase(key: key)
        // While the first record is being stored, a genuine hit arrives whose key has not been read yet.
        let genuine = try hit(key: key)
        database.onFirst = {
            try? spool.append(TrackingSpoolRecord(position: 51, hits: [genuine]))
            database.keyIsMade()
        }
        #expect(await SpoolLoader(spool, into: database).load() == 5_001)
        #expect(database.refreshes == 2)
        #expect(database.forged == 5_000)
        #expect(database.stored == 1)
        #expect(spool.isEmpty)
        spool.close()
    }

    /// If the keys are complete, nothing is looked up.
    @Test func completeKeysAreNotReadAgain() async throws {
        let spool = try spool(folder)
        for position in Int64(1)...5 { try spool.append(record(position, forged: 100)) }
        let database = CountingDatabase(key: key)
        database.keyIsMade()
        #expect(await database.refreshKeys())
        #expect(await SpoolLoader(spool, into: database).load() == 500)
        #expect(database.refreshes == 1)
        #expect(database.forged == 500)
        spool.close()
    }

    /// The files of a dead process are older than any read of the keys.
    @Test func adoptedFilesAreLookedUpOnceTogether() async throws {
        for _ in 0..<3 {
            let gone = try TrackingSpool(
                folder: folder + "/\(UUID().uuidString)",
                maxMegabytes: 10,
                source: UUID(),
                created: 1,
                logger: Logger(label: "spool") { _ in SwiftLogNoOpLogHandler() }
            )
            for position in Int64(1)...5 { try gone.append(record(position, forged: 10)) }
            gone.close()
        }
        for place in try FileManager.default.contentsOfDirectory(atPath: folder) {
            for name in try FileManager.default.contentsOfDirectory(atPath: folder + "/" + place) {
                try FileManager.default.moveItem(atPath: folder + "/\(place)/\(name)", toPath: folder + "/" + name)
            }
        }
        let spool = try spool(folder)
        let database = CountingDatabase(key: key)
        #expect(await SpoolLoader(spool, into: database).load() == 150)
        #expect(database.refreshes == 1)
        spool.close()
    }

    @Test func aDatabaseThatIsAwayLeavesEverything() async throws {
        let spool = try spool(folder)
        try spool.append(record(1, forged: 10))
        let database = CountingDatabase(key: key)
        database.isAway = true
        #expect(await SpoolLoader(spool, into: database).load() == 0)
        #expect(!spool.isEmpty)
        #expect(await SpoolLoader(spool, into: database).load(until: .now) == 0)
        spool.close()
    }

    private var key: TrackingKey { TrackingKey(logDay: Self.today, key: Array(repeating: 7, count: 16)) }

    private func hit(key: TrackingKey) throws -> TrackingHit {
        var hit = Self.forged()
        let codec = try MessageIDCodec(deliveryID: 16, trackingKey: key.key)
        hit.id.message = .uuid(codec.uuid(sequence: 1))
        return hit
    }
}

/// Accepts everything and counts it.
private final class CountingDatabase: HitStoring {
    private struct State {
        var refreshes = 0
        var stored = 0
        var forged: Int64 = 0
        var isMade = false
        var isAway = false
        var keys = TrackingKeyring()
        var onFirst: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())
    private let key: TrackingKey

    init(key: TrackingKey) {
        self.key = key
    }

    var refreshes: Int { state.withLock(\.refreshes) }
    var stored: Int { state.withLock(\.stored) }
    var forged: Int64 { state.withLock(\.forged) }
    var isAway: Bool {
        get { state.withLock(\.isAway) }
        set { state.withLock { $0.isAway = newValue } }
    }
    var onFirst: (@Sendable () -> Void)? {
        get { state.withLock(\.onFirst) }
        set { state.withLock { $0.onFirst = newValue } }
    }

    func keyIsMade() { state.withLock { $0.isMade = true } }

    var isReady: Bool { true }
    var keys: TrackingKeyring { state.withLock(\.keys) }

    func refreshKeys() async -> Bool {
        state.withLock { state in
            state.refreshes += 1
            guard !state.isAway else { return false }
            if state.isMade { state.keys = TrackingKeyring([key], lastDay: key.logDay) }
            return true
        }
    }

    func store(_ head: TrackingSpool.Head, _ hits: [ResolvedHit], _ dropped: DroppedHits) async -> [Int]? {
        let first = state.withLock { state in
            state.stored += hits.count
            state.forged += dropped.forged
            defer { state.onFirst = nil }
            return state.onFirst
        }
        first?()
        return []
    }

    func loaded(_ head: TrackingSpool.Head, stored: Int, expired: Int) {}
}
