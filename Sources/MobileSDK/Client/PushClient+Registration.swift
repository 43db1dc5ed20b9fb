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
    ///   - userKeyProof: The token with which your backend proves the user key, where the service asks for one
    ///     (`user_key_trust` signed); see <doc:GettingStarted>.
    public func registerDevice(
        token: Data,
        userKey: String? = nil,
        parameters: [String: ParameterValue] = [:],
        userKeyProof: String? = nil
    ) {
        register(token, userKey, parameters, userKeyProof, reply: nil)
    }

    /// Registers the device and returns how the first try ended.
    ///
    /// A registration that a newer one overtakes before it was sent gets the newer one's outcome. Cancelling the task does not
    /// cancel the registration.
    @discardableResult public func registerDevice(
        token: Data,
        userKey: String? = nil,
        parameters: [String: ParameterValue] = [:],
        userKeyProof: String? = nil
    ) async -> RegistrationOutcome {
        await withCheckedContinuation { continuation in
            register(token, userKey, parameters, userKeyProof) { continuation.resume(returning: $0) }
        }
    }

    private func register(
        _ token: Data,
        _ userKey: String?,
        _ parameters: [String: ParameterValue],
        _ userKeyProof: String?,
        reply: (@Sendable (RegistrationOutcome) -> Void)?
    ) {
        var parameters = parameters
        // An additional parameter, as every SDK can carry one; the server takes it out.
        if let userKeyProof { parameters["userKeyProof"] = .string(userKeyProof) }
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
