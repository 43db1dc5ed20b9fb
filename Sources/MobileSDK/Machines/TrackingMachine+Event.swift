extension TrackingMachine {
    /// What the machine is told.
    enum Event: Sendable, Equatable {
        /// The process started and found these.
        case started([Hit])
        case trackingHost(String?)
        /// An app's call with the path to ask for, nil when the notification has no ids.
        case track(path: String?, call: UInt64)
        case answered(attempt: UInt64, TransportResult)
        case timerFired(UInt64)
        case retryNow
    }

    /// What it wants done, in this order.
    enum Action: Sendable, Equatable {
        case store([Hit])
        case send(attempt: UInt64, PushRequest)
        case startTimer(UInt64, seconds: Double)
        case report(TrackingOutcome, calls: [UInt64])
    }

    /// A request that the server does not have yet.
    struct Hit: Sendable, Equatable, Codable {
        var path: String
        /// How often a server answered that it could not take it.
        var refusals = 0
    }
}
