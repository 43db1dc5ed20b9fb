import Foundation

extension PushClient {
    /// Registers the device and tells the delegate how that ended.
    ///
    /// Call it whenever the system hands out a token, so at each start: a request is sent only if token, user key, parameters,
    /// server, or integration key changed. If the server cannot be reached, the registration is kept, also when the app
    /// ends, and tried again.
    ///
    /// - Parameters:
    ///   - token: The token from `didRegisterForRemoteNotificationsWithDeviceToken`.
    ///   - userKey: The key that matches the device to a recipient, such as a customer number.
    ///   - parameters: The subscription parameters that the service declares.
    public func registerDevice(token: Data, userKey: String? = nil, parameters: [String: ParameterValue] = [:]) {
        register(token, userKey, parameters, reply: nil)
    }

    /// Registers the device and returns how the first try ended.
    ///
    /// A registration that a newer one overtakes before it was sent gets the newer one's outcome. Cancelling the task does not
    /// cancel the registration.
    @discardableResult public func registerDevice(
        token: Data,
        userKey: String? = nil,
        parameters: [String: ParameterValue] = [:]
    ) async -> RegistrationOutcome {
        await withCheckedContinuation { continuation in
            register(token, userKey, parameters) { continuation.resume(returning: $0) }
        }
    }

    private func register(
        _ token: Data,
        _ userKey: String?,
        _ parameters: [String: ParameterValue],
        reply: (@Sendable (RegistrationOutcome) -> Void)?
    ) {
        commands.yield(
            .register(
                token: RegistrationForm.hex(token),
                userKey: userKey ?? "",
                parametersXML: ParametersXML.document(parameters),
                reply: reply
            )
        )
    }
}
