import Store

/// The database connections of one host's supervisor.
///
/// Each works off its statements in order: a chunk of preparation must not delay a heartbeat, one that is slow must not delay other
/// deliveries, and a connection that listens is occupied by it.
struct HostStores: Sendable {
    let main: Store
    let preparation: Store
    let slowPreparation: Store
    let listener: Store

    func close() async {
        await main.close()
        await preparation.close()
        await slowPreparation.close()
        await listener.close()
    }
}
