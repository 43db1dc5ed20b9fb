/// Sends the newest registration to the server, once.
///
/// One request is in progress at a time, so that registrations arrive in the order in which the app made them. A newer
/// registration replaces those that were not sent yet. A registration is stored before it is sent, and retried until
/// the server accepts or refuses it.
struct RegistrationMachine: Sendable {
    private struct Flight: Sendable {
        var attempt: UInt64
        var mark: RegistrationRecord.Mark
        /// The mark to keep on success. It omits opt-ins, which are sent only once.
        var settled: RegistrationRecord.Mark
        /// The registration that was sent.
        var sent: Registration
        var calls: [UInt64]
        var isForgotten = false
    }

    private var record = RegistrationRecord()
    private var marketingHost: String?
    private var integrationKey: String?
    private var flight: Flight?
    /// Calls whose registration has not been sent yet.
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
        case .categoryOptOut(let category, let isOut): return say(isOut, of: category)
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

    /// The registration with its parameters filled in if the app passed none: the same user keeps the last ones, and a
    /// new user has none.
    private func completed(_ wanted: WantedRegistration) -> Registration {
        let kept = record.last.flatMap { $0.userKey == wanted.userKey ? $0.parametersXML : nil }
        return Registration(
            token: wanted.token,
            userKey: wanted.userKey,
            parametersXML: ParametersXML.completed(wanted.parametersXML, kept: kept),
            device: wanted.device
        )
    }

    /// The registration with its user's opt-out choices.
    private mutating func worded(_ registration: Registration) -> Registration {
        let user = registration.userKey
        if let word = record.nextWord {
            record.words[user] = word
            record.nextWord = nil
        }
        for (category, isOut) in record.nextCategories ?? [:] { keep(isOut, of: category, user) }
        record.nextCategories = nil
        return registration.saying(record.words[user], record.categories?[user])
    }

    private mutating func keep(_ isOut: Bool, of category: String, _ user: String) {
        var all = record.categories ?? [:]
        all[user, default: [:]][category] = isOut
        record.categories = all
    }

    /// Keeps the opt-out choice and sends it with the current registration; without one, the next registration sends
    /// it.
    private mutating func say(_ isOut: Bool) -> [Action] {
        guard let last = record.last else {
            record.nextWord = isOut
            return [.store(record)]
        }
        record.words[last.userKey] = isOut
        return tell(last)
    }

    /// The same for one category.
    private mutating func say(_ isOut: Bool, of category: String) -> [Action] {
        guard let last = record.last else {
            var next = record.nextCategories ?? [:]
            next[category] = isOut
            record.nextCategories = next
            return [.store(record)]
        }
        keep(isOut, of: category, last.userKey)
        return tell(last)
    }

    /// Sends the current registration with changed choices, unless the server has them.
    private mutating func tell(_ last: Registration) -> [Action] {
        let registration = worded(last)
        let isThere = flight == nil && record.registered != nil && record.registered == mark(registration)
        record.pending = isThere ? nil : registration
        guard !isThere, flight == nil else { return [.store(record)] }
        backOff.reset()
        // Sending stores the record too.
        let sent = send()
        return sent.isEmpty ? [.store(record)] : sent
    }

    private mutating func register(_ wanted: WantedRegistration, _ call: UInt64) -> [Action] {
        guard marketingHost != nil else { return [.report(.marketingHostEmpty, calls: [call])] }
        guard integrationKey != nil else { return [.report(.integrationKeyEmpty, calls: [call])] }
        let plain = completed(wanted)
        let isKnown = record.last == plain && record.nextWord == nil && record.nextCategories == nil
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

    /// Sends the pending registration, unless a request is in progress.
    private mutating func send() -> [Action] {
        guard flight == nil, let pending = record.pending, let mark = mark(pending), let marketingHost,
            let integrationKey
        else { return [] }
        attempts &+= 1
        timer &+= 1
        flight = Flight(
            attempt: attempts,
            mark: mark,
            settled: self.mark(pending.settled) ?? mark,
            sent: pending,
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

    /// Forgets the opt-ins that the server has, unless the user has said something else since.
    private mutating func settle(_ sent: Registration) {
        let user = sent.userKey
        if sent.optOut == false, record.words[user] == false { record.words[user] = nil }
        guard var own = record.categories?[user] else { return }
        for category in sent.categoriesIn where own[category] == false { own[category] = nil }
        record.categories?[user] = own.isEmpty ? nil : own
    }

    private mutating func answered(_ attempt: UInt64, _ result: TransportResult) -> [Action] {
        guard let flight, flight.attempt == attempt else { return [] }
        self.flight = nil
        // Settings may have been removed in the meantime; then the pending registration is still the one that was sent.
        let isNewest = record.pending.map { (mark($0) ?? flight.mark) == flight.mark } ?? false
        let retries = result.isWorthRetrying && isNewest
        if isNewest, !retries { record.pending = nil }
        if result.isSuccess {
            settle(flight.sent)
            if !flight.isForgotten { record.registered = flight.settled }
        }
        var actions: [Action] = retries ? [] : [.store(record)]
        // Without a waiting call, only the final outcome is reported.
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
    /// The events that the machine handles.
    enum Event: Sendable, Equatable {
        /// The process started and loaded this record.
        case started(RegistrationRecord)
        case marketingHost(String?)
        case integrationKey(String?)
        /// A call of the app, with a number for its answer.
        case register(WantedRegistration, call: UInt64)
        /// The user wants no messages (true), or wants them again (false).
        case optOut(Bool)
        /// The same for messages of one category.
        case categoryOptOut(String, Bool)
        case answered(attempt: UInt64, TransportResult)
        case timerFired(UInt64)
        /// The network may be back.
        case retryNow
        /// The next registration sends everything again.
        case forget
    }

    /// The actions that its owner must carry out, in order.
    enum Action: Sendable, Equatable {
        case store(RegistrationRecord)
        case send(attempt: UInt64, PushRequest)
        /// Start a one-shot timer, which replaces the previous one.
        case startTimer(UInt64, seconds: Double)
        /// Report the outcome to these calls; without any, only to the delegate.
        case report(RegistrationOutcome, calls: [UInt64])
    }
}
