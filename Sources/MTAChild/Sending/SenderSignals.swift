import ProcessProtocol

/// What wakes the tasks around a sender.
struct SenderSignals: Sendable {
    /// There is room for another part, or something to claim may be there.
    let claim = EventSignal()
    /// The dispatch state is empty, or may be: who waits for that looks.
    let idle = EventSignal()
    /// There are outcomes to store.
    let store = EventSignal()
    /// Messages wait for slices of rates.
    let rates = EventSignal()
    /// Something has happened while this child probes the gateway, or it is to go.
    let probe = EventSignal()
}
