// MobileSDK: the library for iOS apps. It registers a device and reports what happens to notifications.
//
// WHAT IT DOES
//   Posts registrations to the marketing host and sends tracking requests to the tracking host, in the same wire format
//   as Adobe's SDKs. Keeps what could not be sent, even if the app ends, and sends it again.
//
// HOW IT IS USED
//   At each start an app sets the hosts and the integration key on PushClient.shared. It calls registerDevice(...) for
//   each token, track(_:_:) for notifications and recordConversion(_:value:) for what they lead to; see
//   MobileSDK.docc/GettingStarted.md and Samples. Calls return at once, or await the outcome of the first attempt. The
//   actor ClientCore handles them in order and carries out the actions of two values, RegistrationMachine and
//   TrackingMachine. An app can supply its own transport, storage and clock.
//
// THREADS AND TASKS
//   One task for each client handles its commands. Each request and each pause has its own task in parallel. At most
//   one registration and one hit are in progress at a time. The delegate is called on the main actor. Callers never
//   block.
//
// STATE AND FILES
//   registration.json (what the server has, and what is still to be sent), tracking.json (at most 100 hits) and
//   opened.json (the last opened notification), in the folder PushMTA of the app's support folder. Each file is written
//   as a whole before a request is sent. So an app that ends loses only the hosts and the key, which it sets again.
//   Only one process at a time may use a folder.
//
// FAILURES
//   If the server is unreachable, busy or broken (3xx, 408, 425, 429, 5xx), the request is retried after 5 s, doubling
//   to an hour, with jitter. Retry-After is honoured up to a day. Any other refusal is final, and its first line is
//   reported. A hit is given up after 10 answers of a failing server. A hit whose answer is lost is sent again, so that
//   it may count twice. Unreadable files count as empty, and the device registers again; data that cannot be written
//   stays in memory. Redirects are not followed. Nothing that a server or a file contains makes it trap.
//
// SETTINGS
//   None. The app calls setMarketingHost, setTrackingHost and setIntegrationKey.
//
// SEE ALSO
//   Client/ClientCore.swift, Protocol/RegistrationMachine.swift, Protocol/TrackingMachine.swift,
//   InputOutput/URLSessionTransport.swift, MobileSDK.docc/GettingStarted.md, Config/sdk.md

import Foundation

/// Registers a device with PushMTA and reports what happens to notifications.
///
/// Calls return at once; a task of the client handles them in order. See <doc:GettingStarted> for an example app.
public final class PushClient: Sendable {
    /// The app's client, which uses the system's network and files.
    public static let shared = PushClient()

    let commands: AsyncStream<ClientCommand>.Continuation

    /// Makes a separate client; most apps use ``shared``.
    ///
    /// Two clients must not share a storage.
    ///
    /// - Parameters:
    ///   - transport: Sends the requests.
    ///   - storage: Stores the state.
    ///   - clock: Waits between attempts.
    ///   - device: The description of the device; by default the system's.
    public convenience init(
        transport: any PushTransport = URLSessionTransport(),
        storage: any PushStorage = FileStorage(),
        clock: any PushClock = SystemClock(),
        device: DeviceDescription? = nil
    ) {
        let describe: @Sendable () async -> DeviceDescription = {
            if let device { return device }
            return await DeviceDescription.current()
        }
        self.init(
            Parts(
                transport: transport,
                storage: storage,
                clock: clock,
                device: describe,
                seed: UInt64.random(in: 0 ... .max)
            )
        )
    }

    init(_ parts: Parts) {
        let (stream, commands) = AsyncStream.makeStream(of: ClientCommand.self)
        self.commands = commands
        let core = ClientCore(parts, commands: commands)
        Task { await core.run(stream) }
    }

    deinit {
        commands.finish()
    }

    /// Sets the server for registrations: `https://host:port/`, or `host[:port][/path]` for https.
    public func setMarketingHost(_ host: String?) {
        commands.yield(.marketingHost(host))
    }

    /// Sets the server for tracking hits, in the same form.
    public func setTrackingHost(_ host: String?) {
        commands.yield(.trackingHost(host))
    }

    /// Sets the key that names the application to the server.
    public func setIntegrationKey(_ key: String?) {
        commands.yield(.integrationKey(key))
    }

    /// Sets the delegate that gets the outcomes of registrations. The client holds it weakly.
    public func setDelegate(_ delegate: (any PushClientDelegate)?) {
        commands.yield(.delegate(WeakDelegate(delegate: delegate)))
    }

    /// Sends the device's time zone with later registrations, so that messages can arrive at the user's own time of day.
    ///
    /// By default it is not sent: a time zone tells where a person is, so it is personal data. Say so in the app's
    /// privacy notice. A device that moves to another zone tells the server with its next `registerDevice`.
    public func setSendsTimeZone(_ sends: Bool) {
        commands.yield(.sendsTimeZone(sends))
    }

    /// Records that the user wants no messages (true), or wants them again (false).
    ///
    /// The choice is kept on the device and sent with the registration of that user key, at once if there is one. The
    /// delegate gets the outcome. An opt-out also applies to tokens that the app gets later.
    public func setOptOut(_ optedOut: Bool) {
        commands.yield(.optOut(optedOut))
    }

    /// Records that the user wants no messages of a category (true), or wants them again (false).
    ///
    /// It is kept and sent like ``setOptOut(_:)``, and independent of it: a user who opted out of everything gets no
    /// category. The server's operator says which categories there are, such as `marketing` and `news`.
    public func setOptOut(_ optedOut: Bool, ofCategory category: String) {
        commands.yield(.registration(.categoryOptOut(category, optedOut)))
    }

    /// Sends queued requests at once, except hits for which the server asked for more time. Call it when the app enters
    /// the foreground or the network returns.
    public func retryNow() {
        commands.yield(.retryNow)
    }

    /// Forgets the registration, so that the next call of `registerDevice` sends everything again.
    ///
    /// Call it when a user signs out. A queued registration is dropped and the server is not informed. Choices made
    /// with ``setOptOut(_:)`` are kept.
    public func forgetRegistration() {
        commands.yield(.forget)
    }
}

extension PushClient {
    /// The parts that a client is made of.
    struct Parts: Sendable {
        var transport: any PushTransport
        var storage: any PushStorage
        var clock: any PushClock
        var device: @Sendable () async -> DeviceDescription
        var seed: UInt64
    }
}

extension PushClient {
    /// Registers the device and reports the outcome to the delegate.
    ///
    /// Call it whenever the system provides a token, that is, at each start. A request is sent only if token, user key,
    /// parameters, server or integration key changed. If the server cannot be reached, the registration is kept and
    /// retried, even if the app ends.
    ///
    /// - Parameters:
    ///   - token: The token from `didRegisterForRemoteNotificationsWithDeviceToken`.
    ///   - userKey: The key that links the device to a recipient, such as a customer number.
    ///   - parameters: The subscription parameters that the service declares. If omitted, the same user keeps those of
    ///     the last call. An empty dictionary removes them, unless a proof is passed too.
    ///   - userKeyProof: The token with which your backend proves the user key, if the service requires one
    ///     (`user_key_trust` signed); see <doc:GettingStarted>.
    public func registerDevice(
        token: Data,
        userKey: String? = nil,
        parameters: [String: ParameterValue]? = nil,
        userKeyProof: String? = nil
    ) {
        register(RegistrationForm.hex(token), userKey, parameters, userKeyProof, reply: nil)
    }

    /// Registers the device and returns the outcome of the first attempt.
    ///
    /// If a newer registration replaces this one before it is sent, the newer one's outcome is returned. Cancelling the
    /// task does not cancel the registration.
    @discardableResult public func registerDevice(
        token: Data,
        userKey: String? = nil,
        parameters: [String: ParameterValue]? = nil,
        userKeyProof: String? = nil
    ) async -> RegistrationOutcome {
        await withCheckedContinuation { continuation in
            register(RegistrationForm.hex(token), userKey, parameters, userKeyProof) {
                continuation.resume(returning: $0)
            }
        }
    }

    /// Registers the device with a token as text and parameters of any type, as apps for Adobe's SDKs have them.
    ///
    /// - Parameters:
    ///   - tokenString: The token in hexadecimal. Brackets and blanks, as in the old `description` of NSData, are
    ///     removed.
    ///   - additionalParameters: The subscription parameters. Texts, numbers and Booleans are sent; other values are
    ///     not.
    public func registerDevice(
        tokenString: String,
        userKey: String? = nil,
        additionalParameters: [String: Any]? = nil,
        userKeyProof: String? = nil
    ) {
        let parameters = additionalParameters.map { ParameterValue.values($0) }
        register(RegistrationForm.token(tokenString), userKey, parameters, userKeyProof, reply: nil)
    }

    /// Registers the device with a token as text and parameters of any type, and returns the outcome of the first
    /// attempt.
    @discardableResult public nonisolated(nonsending) func registerDevice(
        tokenString: String,
        userKey: String? = nil,
        additionalParameters: [String: Any]? = nil,
        userKeyProof: String? = nil
    ) async -> RegistrationOutcome {
        let parameters = additionalParameters.map { ParameterValue.values($0) }
        let token = RegistrationForm.token(tokenString)
        return await withCheckedContinuation { continuation in
            register(token, userKey, parameters, userKeyProof) { continuation.resume(returning: $0) }
        }
    }

    private func register(
        _ token: String,
        _ userKey: String?,
        _ parameters: [String: ParameterValue]?,
        _ userKeyProof: String?,
        reply: (@Sendable (RegistrationOutcome) -> Void)?
    ) {
        var parameters = parameters
        // It is sent as an additional parameter, which every SDK supports; the server removes it.
        if let userKeyProof {
            parameters = (parameters ?? [:]).merging([ParametersXML.proofName: .string(userKeyProof)]) { $1 }
        }
        commands.yield(
            .register(
                token: token,
                userKey: userKey ?? "",
                parametersXML: parameters.map { ParametersXML.document($0) },
                reply: reply
            )
        )
    }
}

extension PushClient {
    /// Reports to the server what happened to a notification.
    ///
    /// Use ``TrackingAction/receive`` for silent notifications and those that a service extension handles, and
    /// ``TrackingAction/click`` for a click.
    public func track(_ userInfo: [AnyHashable: Any], _ action: TrackingAction) {
        track(PushMessage(userInfo: userInfo), action)
    }

    /// Reports to the server what happened to a notification that was parsed before.
    public func track(_ message: PushMessage, _ action: TrackingAction) {
        commands.yield(.track(path: TrackingPath.path(message, action), reply: nil))
    }

    /// Reports to the server what happened to a notification. Returns when the server has it or cannot be reached.
    ///
    /// Await it before you call the completion handler of a silent notification; otherwise the system may suspend the
    /// app first.
    @discardableResult public nonisolated(nonsending) func track(
        _ userInfo: [AnyHashable: Any],
        _ action: TrackingAction
    ) async -> TrackingOutcome {
        await track(PushMessage(userInfo: userInfo), action)
    }

    /// Reports to the server what happened to a notification that was parsed before. Returns when the server has it or
    /// cannot be reached.
    @discardableResult public nonisolated(nonsending) func track(
        _ message: PushMessage,
        _ action: TrackingAction
    ) async -> TrackingOutcome {
        await withCheckedContinuation { continuation in
            commands.yield(.track(path: TrackingPath.path(message, action)) { continuation.resume(returning: $0) })
        }
    }
}

extension PushClient {
    /// Records that the user did what a notification was sent for, such as a purchase.
    ///
    /// It counts for the last notification that was tracked with ``TrackingAction/click``, by this process or an earlier
    /// one. The server counts the first conversion of a name for each notification.
    ///
    /// - Parameters:
    ///   - name: What the user did: 1 to 100 bytes.
    ///   - value: A number such as the amount of an order.
    public func recordConversion(_ name: String = "conversion", value: Double? = nil) {
        commands.yield(.convert(end: TrackingPath.conversion(name, value), reply: nil))
    }

    /// Records that the user did what a notification was sent for. Returns when the server has it or cannot be reached;
    /// ``TrackingOutcome/noIDs`` if no notification was opened.
    @discardableResult public nonisolated(nonsending) func recordConversion(
        _ name: String = "conversion",
        value: Double? = nil
    ) async -> TrackingOutcome {
        await withCheckedContinuation { continuation in
            commands.yield(
                .convert(end: TrackingPath.conversion(name, value)) { continuation.resume(returning: $0) }
            )
        }
    }
}

/// Gets the outcomes of registrations.
@MainActor public protocol PushClientDelegate: AnyObject, Sendable {
    /// Called once for each call of `registerDevice`, and once more when a queued registration has succeeded or was
    /// refused.
    func registerDeviceStatus(_ outcome: RegistrationOutcome)
}

/// A weakly held delegate.
struct WeakDelegate: Sendable {
    weak var delegate: (any PushClientDelegate)?
}
