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

    /// Tries at once to send what is queued, but for hits whose server asked for more time. Call it when the app comes to the
    /// foreground or finds a network.
    public func retryNow() {
        commands.yield(.retryNow)
    }

    /// Forgets what was registered, so that the next call of `registerDevice` sends everything again.
    ///
    /// Call it when somebody opts out, or signs out. What was queued is dropped; the server is told nothing.
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
