import Store

/// The database connections of one host's supervisor.
///
/// There are three, as each works off its statements in order: a chunk of preparation must not delay a heartbeat, and a
/// connection that listens is occupied by it.
struct HostStores: Sendable {
    let main: Store
    let preparation: Store
    let listener: Store

    func close() async {
        await main.close()
        await preparation.close()
        await listener.close()
    }
}
