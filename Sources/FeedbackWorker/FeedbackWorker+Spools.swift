import Foundation
import Logging
import PushCore
import Store
import TrackingSpools

extension FeedbackWorker {
    /// How often it is looked for spools of web processes that are gone; a web process that follows looks at its start.
    private static let spoolInterval = Duration.seconds(5)

    /// Loads the tracking spools that web processes of this host have left, until cancelled; whether this worker acts or not, as
    /// nobody else reaches this host's files.
    func keepLoading() async {
        let folder = setup.settings.web.workingPath
        var spool: TrackingSpool?
        var database: SpoolDatabase?
        while !Task.isCancelled {
            // Only hosts of web processes have the folder.
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
