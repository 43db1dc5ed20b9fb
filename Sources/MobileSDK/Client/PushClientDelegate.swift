/// Hears how registrations end.
@MainActor public protocol PushClientDelegate: AnyObject, Sendable {
    /// Called once for each call of `registerDevice`, and once more when a registration that was queued has got through or was
    /// refused.
    func registerDeviceStatus(_ outcome: RegistrationOutcome)
}
