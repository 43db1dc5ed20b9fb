extension RegistrationMachine {
    /// What the machine is told.
    enum Event: Sendable, Equatable {
        /// The process started and found this.
        case started(RegistrationRecord)
        case marketingHost(String?)
        case integrationKey(String?)
        /// An app's call, with a number for its answer.
        case register(Registration, call: UInt64)
        case answered(attempt: UInt64, TransportResult)
        case timerFired(UInt64)
        /// There may be a network again.
        case retryNow
        /// The server is to be told everything again.
        case forget
    }

    /// What it wants done, in this order.
    enum Action: Sendable, Equatable {
        case store(RegistrationRecord)
        case send(attempt: UInt64, PushRequest)
        /// Fire once; a newer timer replaces it.
        case startTimer(UInt64, seconds: Double)
        /// Tells these calls; with none, only the delegate hears of it.
        case report(RegistrationOutcome, calls: [UInt64])
    }
}
