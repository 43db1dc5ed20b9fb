import Foundation
import Logging
import ProcessEvents
import PushCore
import Store
import Synchronization
import TrackingSpools

/// The database for the loader of spools.
final class SpoolDatabase: HitStoring {
    let store: Store
    private let host: String
    private let logger: Logger
    private let keyring = Mutex(TrackingKeyring())

    init(_ store: Store, host: String, logger: Logger) {
        self.store = store
        self.host = host
        self.logger = logger
    }

    /// Always true: each statement waits for the database, and the next follows its result.
    var isReady: Bool { true }

    var keys: TrackingKeyring { keyring.withLock { $0 } }

    func refreshKeys() async -> Bool {
        do {
            let keys = try await store.trackingKeyring()
            keyring.withLock { $0 = keys }
            return true
        } catch {
            if !Task.isCancelled { logger.failure("The tracking keys cannot be read, so spools wait", of: error) }
            return false
        }
    }

    func store(_ head: TrackingSpool.Head, _ hits: [ResolvedHit], _ dropped: DroppedHits) async -> [Int]? {
        do {
            // Nil: this record was stored before.
            return try await store.recordHits(
                source: head.source,
                position: head.record.position,
                host: host,
                hits,
                dropped: dropped
            ) ?? []
        } catch {
            if !Task.isCancelled {
                logger.failure("\(head.record.hits.count) hits of a spool could not be stored", of: error)
            }
            return nil
        }
    }

    func loaded(_ head: TrackingSpool.Head, stored: Int, expired: Int) {
        guard expired > 0 else { return }
        logger.info("\(expired) hits of a spool belong to messages that no longer exist.")
    }
}

extension FeedbackWorker {
    /// How often to look for spools of web processes that are gone; a new web process looks when it starts.
    private static let spoolInterval = Duration.seconds(5)

    /// Loads the tracking spools that web processes of this host left, until cancelled. It does so even while another
    /// worker acts, because no other worker reaches this host's files.
    func keepLoading() async {
        let folder = setup.settings.web.workingPath
        var spool: TrackingSpool?
        var database: SpoolDatabase?
        while !Task.isCancelled {
            // Only hosts with web processes have the folder.
            if spool == nil, FileManager.default.fileExists(atPath: folder) {
                spool = TrackingSpool(adoptingIn: folder, logger: setup.logger)
            }
            if let spool {
                spool.adoptOrphans()
                var loaded = 0
                if !spool.isEmpty {
                    if database == nil, let store = await open("feedback-spools") {
                        database = SpoolDatabase(store, host: setup.hostName, logger: setup.logger)
                    }
                    if let database { loaded = await SpoolLoader(spool, into: database).load() }
                }
                if loaded > 0 { setup.logger.info("hits loaded from spools: \(loaded)") }
                progress.add(loaded: loaded, spool.backlog)
            }
            try? await Task.sleep(for: Self.spoolInterval)
        }
        spool?.close()
        await database?.store.close()
    }
}
