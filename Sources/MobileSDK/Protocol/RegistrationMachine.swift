/// Brings the newest registration to the server, once.
///
/// One request is under way at a time, so that registrations arrive in the order in which the app made them; a newer one
/// replaces those that were not sent yet. What is not registered is stored before it is sent, and tried again until the
/// server has it or refuses it.
struct RegistrationMachine: Sendable {
    private struct Flight: Sendable {
        var attempt: UInt64
        var mark: RegistrationRecord.Mark
        /// What is registered when the server has it: that somebody wants messages again is said once.
        var settled: RegistrationRecord.Mark
        /// Whose word that is.
        var isIn: String?
        var calls: [UInt64]
        var isForgotten = false
    }

    private var record = RegistrationRecord()
    private var marketingHost: String?
    private var integrationKey: String?
    private var flight: Flight?
    /// Calls whose registration was not sent yet.
    private var waiting: [UInt64] = []
    private var attempts: UInt64 = 0
    private var timer: UInt64 = 0
    private var backOff: BackOff

    init(seed: UInt64) {
        backOff = BackOff(seed: seed)
    }

    mutating func handle(_ event: Event) -> [Action] {
        switch event {
        case .started(let record):
            self.record = record
            return send()
        case .marketingHost(let text):
            let base = ServerHost.base(text)
            guard base != marketingHost else { return [] }
            marketingHost = base
            return send()
        case .integrationKey(let text):
            let key = text.flatMap { $0.isEmpty ? nil : $0 }
            guard key != integrationKey else { return [] }
            integrationKey = key
            return send()
        case .register(let wanted, let call): return register(wanted, call)
        case .optOut(let isOut): return say(isOut)
        case .answered(let attempt, let result): return answered(attempt, result)
        case .timerFired(let number): return number == timer ? send() : []
        case .retryNow: return send()
        case .forget:
            record.registered = nil
            record.pending = nil
            record.last = nil
            flight?.isForgotten = true
            flight?.calls += waiting
            waiting = []
            return [.store(record)]
        }
    }

    private func mark(_ registration: Registration) -> RegistrationRecord.Mark? {
        guard let marketingHost, let integrationKey else { return nil }
        return .init(hash: RegistrationForm.hash(registration), destination: "\(marketingHost) \(integrationKey)")
    }

    /// With parameters where the app said nothing of them: those of the same user stay, and another user has none.
    private func completed(_ wanted: WantedRegistration) -> Registration {
        let kept = record.last.flatMap { $0.userKey == wanted.userKey ? $0.parametersXML : nil }
        return Registration(
            token: wanted.token,
            userKey: wanted.userKey,
            parametersXML: ParametersXML.completed(wanted.parametersXML, kept: kept),
            device: wanted.device
        )
    }

    /// With what its user says.
    private mutating func worded(_ registration: Registration) -> Registration {
        if let word = record.nextWord {
            record.words[registration.userKey] = word
            record.nextWord = nil
        }
        return registration.saying(record.words[registration.userKey])
    }

    /// Keeps what the person says, and sends it with the registration that there is; without one the next registration does.
    private mutating func say(_ isOut: Bool) -> [Action] {
        guard let last = record.last else {
            record.nextWord = isOut
            return [.store(record)]
        }
        record.words[last.userKey] = isOut
        let registration = worded(last)
        let isThere = flight == nil && record.registered != nil && record.registered == mark(registration)
        record.pending = isThere ? nil : registration
        guard !isThere, flight == nil else { return [.store(record)] }
        backOff.reset()
        // What is sent is stored.
        let sent = send()
        return sent.isEmpty ? [.store(record)] : sent
    }

    private mutating func register(_ wanted: WantedRegistration, _ call: UInt64) -> [Action] {
        guard marketingHost != nil else { return [.report(.marketingHostEmpty, calls: [call])] }
        guard integrationKey != nil else { return [.report(.integrationKeyEmpty, calls: [call])] }
        let plain = completed(wanted)
        let isKnown = record.last == plain && record.nextWord == nil
        record.last = plain
        let registration = worded(plain)
        guard let mark = mark(registration) else { return [.report(.integrationKeyEmpty, calls: [call])] }
        if flight?.mark == mark {
            flight?.calls += waiting + [call]
            flight?.isForgotten = false
            waiting = []
            record.pending = registration
            return [.store(record)]
        }
        if flight == nil, record.registered == mark {
            let isStored = record.pending == nil && isKnown
            record.pending = nil
            return (isStored ? [] : [.store(record)]) + [.report(.success, calls: [call])]
        }
        record.pending = registration
        waiting.append(call)
        guard flight == nil else { return [.store(record)] }
        backOff.reset()
        return send()
    }

    /// Sends what is pending, if anything is and nothing is under way.
    private mutating func send() -> [Action] {
        guard flight == nil, let pending = record.pending, let mark = mark(pending), let marketingHost,
            let integrationKey
        else { return [] }
        attempts &+= 1
        timer &+= 1
        let isIn = pending.optOut == false
        flight = Flight(
            attempt: attempts,
            mark: mark,
            settled: isIn ? self.mark(pending.saying(nil)) ?? mark : mark,
            isIn: isIn ? pending.userKey : nil,
            calls: waiting
        )
        waiting = []
        record.registered = nil
        let request = PushRequest(
            method: "POST",
            url: marketingHost + RegistrationForm.path,
            headers: ["Content-Type": RegistrationForm.contentType],
            body: RegistrationForm.body(pending, integrationKey: integrationKey)
        )
        return [.store(record), .send(attempt: attempts, request)]
    }

    private mutating func answered(_ attempt: UInt64, _ result: TransportResult) -> [Action] {
        guard let flight, flight.attempt == attempt else { return [] }
        self.flight = nil
        // Settings may have been taken away meanwhile; then what is pending is still what was sent.
        let isNewest = record.pending.map { (mark($0) ?? flight.mark) == flight.mark } ?? false
        let retries = result.isWorthRetrying && isNewest
        if isNewest, !retries { record.pending = nil }
        if result.isSuccess {
            if let user = flight.isIn, record.words[user] == false { record.words[user] = nil }
            if !flight.isForgotten { record.registered = flight.settled }
        }
        var actions: [Action] = retries ? [] : [.store(record)]
        // Of tries that nobody waits for, only the end is worth a word.
        if !flight.calls.isEmpty || !result.isWorthRetrying {
            actions.append(.report(result.registrationOutcome, calls: flight.calls))
        }
        if retries {
            timer &+= 1
            return actions + [.startTimer(timer, seconds: backOff.next(atLeast: result.retryAfter))]
        }
        backOff.reset()
        return actions + send()
    }
}

extension RegistrationMachine {
    /// What the machine is told.
    enum Event: Sendable, Equatable {
        /// The process started and found this.
        case started(RegistrationRecord)
        case marketingHost(String?)
        case integrationKey(String?)
        /// An app's call, with a number for its answer.
        case register(WantedRegistration, call: UInt64)
        /// The person wants no messages, or wants them again.
        case optOut(Bool)
        case answered(attempt: UInt64, TransportResult)
        case timerFired(UInt64)
        /// There may be a network again.
        case retryNow
        /// The server is to be told everything again.
        case forget
    }

    /// What it wants done, in this order.
    enum Action: Sendable, Equatable {
        case store(RegistrationRecord)
        case send(attempt: UInt64, PushRequest)
        /// Fire once; a newer timer replaces it.
        case startTimer(UInt64, seconds: Double)
        /// Tells these calls; with none, only the delegate hears of it.
        case report(RegistrationOutcome, calls: [UInt64])
    }
}

/// What outlives the process: the registration that the server has, and the one that it does not have yet.
struct RegistrationRecord: Sendable, Equatable, Codable {
    /// What was registered, and where.
    struct Mark: Sendable, Equatable, Codable {
        /// `RegistrationForm.hash`.
        var hash: String
        /// Server and integration key: another server does not know what this one was told.
        var destination: String
    }

    /// What the server is known to have. It is taken back as soon as something else is sent: if the answer is lost, nobody
    /// knows which of the two the server has.
    var registered: Mark?
    /// What is still to be sent.
    var pending: Registration?
    /// The newest that the app asked for, without a word of an opt-out.
    var last: Registration?
    /// What persons have said of an opt-out, by user key: true for out, which goes with each of their registrations; false for in again as
    /// long as the server does not have it. It is said once, as what others say later is newer.
    var words: [String: Bool] = [:]
    /// What the person said who registers next.
    var nextWord: Bool?
}

/// How a registration ended.
///
/// The six are those of Adobe's old SDK (`ACCRegisterDeviceStatus`).
public enum RegistrationOutcome: Sendable, Equatable {
    /// The server has stored the registration, or has it already in this form.
    case success
    /// No marketing host was set, or one that names no server.
    case marketingHostEmpty
    /// No integration key was set.
    case integrationKeyEmpty
    /// The server could not be reached. The registration stays queued and is sent again.
    case connectionIssue(reason: String)
    /// The server has no application with this integration key.
    case unknownIntegrationKey
    /// The server refused the registration and said this. If it was only busy or broken, the registration stays queued.
    case unexpectedError(reason: String)

    /// More about a failure; nil for the outcomes that say all by themselves.
    public var errorReason: String? {
        switch self {
        case .connectionIssue(let reason), .unexpectedError(let reason): reason
        case .success, .marketingHostEmpty, .integrationKeyEmpty, .unknownIntegrationKey: nil
        }
    }
}
