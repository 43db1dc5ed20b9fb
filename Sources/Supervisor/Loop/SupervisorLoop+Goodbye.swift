import Logging
import Store
import Synchronization

extension SupervisorLoop {
    /// How long the end of this supervisor may take to be told.
    private static let goodbyePatience = Duration.seconds(2)

    /// Says in `mta_host` that this host is stopped, if the database can be reached.
    func sayGoodbye() async {
        guard let stores = stores.withLock({ $0 }), condition.current.isDatabaseAvailable else { return }
        let reporter = reporter(stores)
        let logger = logger
        let saying = Task {
            do {
                try await reporter.sayStopped()
            } catch {
                logger.warning("The end of this supervisor could not be recorded: \(error)")
            }
        }
        // It is only told: a database that has gone away meanwhile must not keep the process.
        let timer = Task {
            if (try? await Task.sleep(for: Self.goodbyePatience)) != nil { await stores.main.close() }
        }
        await saying.value
        timer.cancel()
    }

    func closeStores() async {
        await stores.withLock { $0 }?.close()
    }
}
