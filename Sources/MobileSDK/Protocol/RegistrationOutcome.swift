/// The outcome of a registration.
///
/// The six outcomes are those of Adobe's old SDK (`ACCRegisterDeviceStatus`).
public enum RegistrationOutcome: Sendable, Equatable {
    /// The server has stored the registration, or already had it.
    case success
    /// No valid marketing host was set.
    case marketingHostEmpty
    /// No integration key was set.
    case integrationKeyEmpty
    /// The server could not be reached. The registration is queued and sent again.
    case connectionIssue(reason: String)
    /// The server has no application with this integration key.
    case unknownIntegrationKey
    /// The server refused the registration for this reason. If it was only busy or broken, the registration is queued.
    case unexpectedError(reason: String)

    /// Details of a failure; nil for outcomes without any.
    public var errorReason: String? {
        switch self {
        case .connectionIssue(let reason), .unexpectedError(let reason): reason
        case .success, .marketingHostEmpty, .integrationKeyEmpty, .unknownIntegrationKey: nil
        }
    }
}
