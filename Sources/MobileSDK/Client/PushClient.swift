// MobileSDK: what iOS apps link: registers a device, and reports what becomes of notifications.
//
// WHAT IT DOES
//   Posts registrations to the marketing host and asks the tracking host for tracking paths, as Adobe's SDKs do on the wire.
//   Keeps what could not be sent, also when the app ends, and sends it again.
//
// HOW IT IS USED
//   An app sets host names and integration key on PushClient.shared at each start, calls registerDevice(...) with each token,
//   and track(_:_:) for notifications; see MobileSDK.docc/GettingStarted.md and Samples. Calls return at once, or await the
//   first try's outcome. ClientCore, an actor, works them off in order and does what RegistrationMachine and TrackingMachine,
//   two values, want done. Transport, storage and clock can be an app's own.
//
// THREADS AND TASKS
//   One task a client works off its commands; each request and each pause has a task of its own beside it. One registration
//   and one hit are under way at a time. The delegate is called on the main actor. Nothing blocks the caller.
//
// STATE AND FILES
//   registration.json (what the server has, and what it does not have yet) and tracking.json (up to 100 hits), in the folder
//   PushMTA of the app's support folder, each written whole. They are written before a request leaves, so that an end of the
//   app loses nothing but the host names, which the app sets again. One process at a time may use a folder.
//
// FAILURES
//   Server away, busy or broken (3xx, 408, 425, 429, 5xx): tried again after 5 s, doubling to an hour, with jitter;
//   Retry-After is obeyed up to a day. Any other refusal is final, and its first line is shown. A hit that a server fails at
//   10 times is given up; a hit whose answer is lost is sent again, so that it may count twice. Files that cannot be read
//   count as empty, and the device registers again; what cannot be written is kept in memory. Redirects are not followed. It
//   never traps on what a server or a file says.
//
// SETTINGS
//   None: the app calls setMarketingHost, setTrackingHost and setIntegrationKey.
//
// SEE ALSO
//   Client/ClientCore.swift, Protocol/RegistrationMachine.swift, Protocol/TrackingMachine.swift,
//   InputOutput/URLSessionTransport.swift, MobileSDK.docc/GettingStarted.md, Config/sdk.md

import Foundation

/// Registers a device with PushMTA, and tells it what becomes of notifications.
///
/// Calls return at once; the work is done in their order by a task of the client. See <doc:GettingStarted> for an app that
/// uses it.
public final class PushClient: Sendable {
    /// The client of the app, with the system's network and files.
    public static let shared = PushClient()

    let commands: AsyncStream<ClientCommand>.Continuation

    /// Makes a client of its own; most apps use ``shared``.
    ///
    /// Two clients must not share a storage.
    ///
    /// - Parameters:
    ///   - transport: What sends the requests.
    ///   - storage: What keeps the state.
    ///   - clock: What waits between tries.
    ///   - device: What is said about the device; by default what the system says.
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

    /// Sets the server that takes registrations: `https://host:port/`, or `host[:port][/path]` for https.
    public func setMarketingHost(_ host: String?) {
        commands.yield(.marketingHost(host))
    }

    /// Sets the server that takes tracking hits, in the same form.
    public func setTrackingHost(_ host: String?) {
        commands.yield(.trackingHost(host))
    }

    /// Sets the key that names the application to the server.
    public func setIntegrationKey(_ key: String?) {
        commands.yield(.integrationKey(key))
    }

    /// Sets who hears how registrations end. The client does not keep the delegate alive.
    public func setDelegate(_ delegate: (any PushClientDelegate)?) {
        commands.yield(.delegate(WeakDelegate(delegate: delegate)))
    }

    /// Says that the person who uses the app wants no messages (true), or wants them again (false).
    ///
    /// It is kept on the device and goes to the server with the registration of that user key, at once if there is one; the delegate
    /// hears how that ends. A person who wants none stays so with each token that the app has later.
    public func setOptOut(_ optedOut: Bool) {
        commands.yield(.optOut(optedOut))
    }

    /// Tries at once to send what is queued, but for hits whose server asked for more time. Call it when the app comes to the
    /// foreground or finds a network.
    public func retryNow() {
        commands.yield(.retryNow)
    }

    /// Forgets what was registered, so that the next call of `registerDevice` sends everything again.
    ///
    /// Call it when somebody signs out. What was queued is dropped; the server is told nothing, and what persons said with
    /// ``setOptOut(_:)`` stays.
    public func forgetRegistration() {
        commands.yield(.forget)
    }
}

extension PushClient {
    /// What a client is made of.
    struct Parts: Sendable {
        var transport: any PushTransport
        var storage: any PushStorage
        var clock: any PushClock
        var device: @Sendable () async -> DeviceDescription
        var seed: UInt64
    }
}

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
    ///   - parameters: The subscription parameters that the service declares. Without them the same user keeps those of the last
    ///     call; with an empty dictionary there are none, unless a proof comes with it.
    ///   - userKeyProof: The token with which your backend proves the user key, where the service asks for one
    ///     (`user_key_trust` signed); see <doc:GettingStarted>.
    public func registerDevice(
        token: Data,
        userKey: String? = nil,
        parameters: [String: ParameterValue]? = nil,
        userKeyProof: String? = nil
    ) {
        register(RegistrationForm.hex(token), userKey, parameters, userKeyProof, reply: nil)
    }

    /// Registers the device and returns how the first try ended.
    ///
    /// A registration that a newer one overtakes before it was sent gets the newer one's outcome. Cancelling the task does not
    /// cancel the registration.
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

    /// Registers the device with a token that is text and parameters of any type, as apps of Adobe's SDKs have them.
    ///
    /// - Parameters:
    ///   - tokenString: The token in hexadecimal. Brackets and blanks, as `description` of NSData once had them, are taken away.
    ///   - additionalParameters: The subscription parameters. Texts, numbers and truth values are sent, other values are not.
    public func registerDevice(
        tokenString: String,
        userKey: String? = nil,
        additionalParameters: [String: Any]? = nil,
        userKeyProof: String? = nil
    ) {
        let parameters = additionalParameters.map { ParameterValue.values($0) }
        register(RegistrationForm.token(tokenString), userKey, parameters, userKeyProof, reply: nil)
    }

    /// Registers the device with a token that is text and parameters of any type, and returns how the first try ended.
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
        // An additional parameter, as every SDK can carry one; the server takes it out.
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
    /// Tells the server what happened to a notification.
    ///
    /// Silent notifications, and those that a service extension handles, are tracked with ``TrackingAction/receive``; a click
    /// with ``TrackingAction/click``.
    public func track(_ userInfo: [AnyHashable: Any], _ action: TrackingAction) {
        track(PushMessage(userInfo: userInfo), action)
    }

    /// Tells the server what happened to a notification that was read before.
    public func track(_ message: PushMessage, _ action: TrackingAction) {
        commands.yield(.track(path: TrackingPath.path(message, action), reply: nil))
    }

    /// Tells the server what happened to a notification, and returns when the server has it or cannot be reached.
    ///
    /// Await it before the completion handler of a silent notification, or the system may suspend the app first.
    @discardableResult public nonisolated(nonsending) func track(
        _ userInfo: [AnyHashable: Any],
        _ action: TrackingAction
    ) async -> TrackingOutcome {
        await track(PushMessage(userInfo: userInfo), action)
    }

    /// Tells the server what happened to a notification that was read before, and returns when the server has it or cannot be
    /// reached.
    @discardableResult public nonisolated(nonsending) func track(
        _ message: PushMessage,
        _ action: TrackingAction
    ) async -> TrackingOutcome {
        await withCheckedContinuation { continuation in
            commands.yield(.track(path: TrackingPath.path(message, action)) { continuation.resume(returning: $0) })
        }
    }
}

/// Hears how registrations end.
@MainActor public protocol PushClientDelegate: AnyObject, Sendable {
    /// Called once for each call of `registerDevice`, and once more when a registration that was queued has got through or was
    /// refused.
    func registerDeviceStatus(_ outcome: RegistrationOutcome)
}

/// A delegate that the client does not keep alive.
struct WeakDelegate: Sendable {
    weak var delegate: (any PushClientDelegate)?
}
