/// What the client's task works off, in order.
enum ClientCommand: Sendable {
    case marketingHost(String?)
    case trackingHost(String?)
    case integrationKey(String?)
    case delegate(WeakDelegate)
    case register(
        token: String,
        userKey: String,
        parametersXML: String,
        reply: (@Sendable (RegistrationOutcome) -> Void)?
    )
    case track(path: String?, reply: (@Sendable (TrackingOutcome) -> Void)?)
    case registration(RegistrationMachine.Event)
    case tracking(TrackingMachine.Event)
    case retryNow
    case forget
}
