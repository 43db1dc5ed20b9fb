import Foundation

/// Carries out the actions of the registration and tracking machines.
actor ClientCore {
    /// The names under which the state is stored.
    static let registrationName = "registration.json"
    static let trackingName = "tracking.json"
    static let openedName = "opened.json"

    let transport: any PushTransport
    private let storage: any PushStorage
    let clock: any PushClock
    private let device: @Sendable () async -> DeviceDescription
    let commands: AsyncStream<ClientCommand>.Continuation

    private var registration: RegistrationMachine
    private var tracking: TrackingMachine
    private var delegate = WeakDelegate()
    /// What the tracking path of the last opened notification has before its tag; nil if none was opened.
    private var opened: String?
    private var calls: UInt64 = 0
    private var sendsTimeZone = false
    private var registrationReplies: [UInt64: @Sendable (RegistrationOutcome) -> Void] = [:]
    private var trackingReplies: [UInt64: @Sendable (TrackingOutcome) -> Void] = [:]

    init(_ parts: PushClient.Parts, commands: AsyncStream<ClientCommand>.Continuation) {
        transport = parts.transport
        storage = parts.storage
        clock = parts.clock
        device = parts.device
        registration = RegistrationMachine(seed: parts.seed)
        tracking = TrackingMachine(seed: ~parts.seed)
        self.commands = commands
    }

    /// Runs until the client is deallocated.
    func run(_ stream: AsyncStream<ClientCommand>) async {
        await perform(registration.handle(.started(load(Self.registrationName) ?? RegistrationRecord())))
        perform(tracking.handle(.started(load(Self.trackingName) ?? [])))
        let stored: [String] = load(Self.openedName) ?? []
        opened = stored.first
        for await command in stream { await handle(command) }
    }

    private func handle(_ command: ClientCommand) async {
        switch command {
        case .marketingHost(let text): await perform(registration.handle(.marketingHost(text)))
        case .integrationKey(let text): await perform(registration.handle(.integrationKey(text)))
        case .trackingHost(let text): perform(tracking.handle(.trackingHost(text)))
        case .delegate(let delegate): self.delegate = delegate
        case .sendsTimeZone(let sends): sendsTimeZone = sends
        case .register(let token, let userKey, let parametersXML, let reply):
            var device = await device()
            if sendsTimeZone, device.timeZone == nil { device.timeZone = TimeZone.autoupdatingCurrent.identifier }
            calls &+= 1
            registrationReplies[calls] = reply
            let wanted = WantedRegistration(
                token: token,
                userKey: userKey,
                parametersXML: parametersXML,
                device: device
            )
            await perform(registration.handle(.register(wanted, call: calls)))
        case .track(let path, let reply):
            if let path, let start = TrackingPath.opened(path) {
                opened = start
                save([start], Self.openedName)
            }
            track(path, reply)
        case .convert(let end, let reply): track(opened.map { $0 + end }, reply)
        case .registration(let event): await perform(registration.handle(event))
        case .tracking(let event): perform(tracking.handle(event))
        case .optOut(let isOut): await perform(registration.handle(.optOut(isOut)))
        case .forget: await perform(registration.handle(.forget))
        case .retryNow:
            await perform(registration.handle(.retryNow))
            perform(tracking.handle(.retryNow))
        }
    }

    private func track(_ path: String?, _ reply: (@Sendable (TrackingOutcome) -> Void)?) {
        calls &+= 1
        trackingReplies[calls] = reply
        perform(tracking.handle(.track(path: path, call: calls)))
    }

    private func perform(_ actions: [RegistrationMachine.Action]) async {
        for action in actions {
            switch action {
            case .store(let record): save(record, Self.registrationName)
            case .send(let attempt, let request): send(request) { .registration(.answered(attempt: attempt, $0)) }
            case .startTimer(let number, let seconds): wait(seconds, then: .registration(.timerFired(number)))
            case .report(let outcome, let calls):
                for call in calls { registrationReplies.removeValue(forKey: call)?(outcome) }
                for _ in 0..<max(1, calls.count) { await delegate.delegate?.registerDeviceStatus(outcome) }
            }
        }
    }

    private func perform(_ actions: [TrackingMachine.Action]) {
        for action in actions {
            switch action {
            case .store(let hits): save(hits, Self.trackingName)
            case .send(let attempt, let request): send(request) { .tracking(.answered(attempt: attempt, $0)) }
            case .startTimer(let number, let seconds): wait(seconds, then: .tracking(.timerFired(number)))
            case .report(let outcome, let calls):
                for call in calls { trackingReplies.removeValue(forKey: call)?(outcome) }
            }
        }
    }

    /// Loads a value. Unreadable data counts as absent: the device then registers again, which does no harm.
    private func load<Value: Decodable>(_ name: String) -> Value? {
        guard let data = try? storage.read(name) else { return nil }
        // Foundation's parser traps on 513 nested arrays at the end of the input; a blank after them avoids it.
        return try? JSONDecoder().decode(Value.self, from: data + [0x20])
    }

    /// Saves a value. A value that cannot be written stays in memory; it is lost only if the process ends before the
    /// server has it.
    private func save(_ value: some Encodable, _ name: String) {
        guard let data = try? JSONEncoder().encode(value) else { return }
        try? storage.write(data, name)
    }
}

extension ClientCore {
    /// Sends a request in parallel and passes the result on as a command.
    func send(_ request: PushRequest, then command: @escaping @Sendable (TransportResult) -> ClientCommand) {
        Task { [transport, commands] in
            let result: TransportResult
            do {
                result = TransportResult(try await transport.send(request))
            } catch {
                result = .failure(reason: error.localizedDescription)
            }
            commands.yield(command(result))
        }
    }

    /// Waits in parallel and then passes a command on. A replaced timer also fires, and the machine ignores it.
    func wait(_ seconds: Double, then command: ClientCommand) {
        Task { [clock, commands] in
            do { try await clock.sleep(seconds: seconds) } catch { return }
            commands.yield(command)
        }
    }
}

/// A command for the client's task, which handles commands in order.
enum ClientCommand: Sendable {
    case marketingHost(String?)
    case trackingHost(String?)
    case integrationKey(String?)
    case delegate(WeakDelegate)
    case sendsTimeZone(Bool)
    case register(
        token: String,
        userKey: String,
        parametersXML: String?,
        reply: (@Sendable (RegistrationOutcome) -> Void)?
    )
    case track(path: String?, reply: (@Sendable (TrackingOutcome) -> Void)?)
    /// The end of the path of a conversion.
    case convert(end: String, reply: (@Sendable (TrackingOutcome) -> Void)?)
    case registration(RegistrationMachine.Event)
    case tracking(TrackingMachine.Event)
    case retryNow
    case optOut(Bool)
    case forget
}
