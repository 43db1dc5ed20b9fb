import PushCore

extension SimulatorReport {
    /// The gateway at the end of a route.
    func address(_ route: TrialRoute) throws -> Address {
        switch (route.connector, route.proof) {
        case (.iosBinary, _): try Self.known(apnsBinary, "binary gateway")
        case (_, .projectKey): try Self.known(fcmLegacy, "legacy gateway")
        case (.iosHTTP2, _): apns
        case (.androidV1, _), (.androidV2, _): fcm
        }
    }

    /// Something that an older simulator does not have.
    static func known<Value>(_ value: Value?, _ name: String) throws -> Value {
        guard let value else {
            throw CommandFailure(.unavailable, "The gateway simulator has no \(name): it is older than this program.")
        }
        return value
    }
}
