/// Whether messages may leave this child: all of them, one at a time to find something out, or none.
///
/// Whether the application's circuit is open, whether its gateway is in trouble, and whether this child goes are independent of each other;
/// ``state`` says what follows from them.
struct Admission: Sendable {
    enum State: Sendable, Equatable {
        /// Messages leave as fast as window, pace and gateway let them.
        case open
        /// One message leaves at a time, to find out whether the gateway takes messages again, or those of the application.
        case probing
        /// The gateway is in trouble, and another child probes it. All parts go back; this child stays.
        case left
        /// Every message of the application would be refused. All parts go back, and this child goes.
        case circuitOpen
        /// What is not on the wire goes back, and this child goes.
        case shuttingDown
    }

    /// What is known of the application's circuit.
    enum Circuit: Sendable, Equatable {
        case closed
        /// This child tries one message after the other.
        case probing
        case open
    }

    /// How the application stands with the gateway of its account.
    enum Trouble: Sendable, Equatable {
        case none
        /// This child alone tries, one message after each permission; `mayProbe` is that permission, until it is used.
        case probing(mayProbe: Bool)
        /// Nothing is sent by this child as long as the trouble lasts.
        case left
    }

    private(set) var circuit = Circuit.closed
    private(set) var trouble = Trouble.none
    private(set) var isShuttingDown = false
    /// What is held is sent, and nothing more is claimed: the child goes.
    private(set) var isDraining = false
    /// The lease holds, by this host's clock.
    private(set) var isLeaseValid = true

    var state: State {
        if circuit == .open { return .circuitOpen }
        if isShuttingDown { return .shuttingDown }
        if trouble == .left { return .left }
        return isProbing ? .probing : .open
    }

    /// Whether what is not on the wire goes back.
    var givesBack: Bool {
        switch state {
        case .open, .probing: false
        case .left, .circuitOpen, .shuttingDown: true
        }
    }

    var maySend: Bool { isLeaseValid && !givesBack }

    /// Whether messages go one by one, so that they find something out.
    var isProbing: Bool { circuit == .probing || isProbingGateway }

    var isProbingGateway: Bool { if case .probing = trouble { true } else { false } }

    /// Whether a probe may go now.
    var mayProbe: Bool { if case .probing(let mayProbe) = trouble { mayProbe } else { true } }

    // MARK: The application's circuit

    /// A part was claimed to probe the circuit with.
    mutating func probeCircuit() {
        if circuit == .closed { circuit = .probing }
    }

    /// Every message of the application would be refused.
    /// - Returns: whether that is new.
    mutating func openCircuit() -> Bool {
        guard circuit != .open else { return false }
        circuit = .open
        isShuttingDown = true
        return true
    }

    /// The probe of the circuit got through.
    mutating func closeCircuit() {
        if circuit == .probing { circuit = .closed }
    }

    // MARK: The gateway

    /// The gateway is in trouble.
    mutating func leave() { trouble = .left }

    /// The gateway takes messages again.
    mutating func comeBack() { trouble = .none }

    /// This child alone tries from now on.
    mutating func becomeProber() { trouble = .probing(mayProbe: false) }

    /// One message may leave.
    mutating func allowProbe() {
        if isProbingGateway { trouble = .probing(mayProbe: true) }
    }

    /// A message leaves as a probe: the next one waits for the next permission.
    mutating func useProbe() {
        if isProbingGateway { trouble = .probing(mayProbe: false) }
    }

    // MARK: This child

    mutating func drain() { isDraining = true }

    mutating func shutDown() { isShuttingDown = true }

    /// - Returns: whether the lease has just run out.
    @discardableResult
    mutating func lease(isValid: Bool) -> Bool {
        defer { isLeaseValid = isValid }
        return isLeaseValid && !isValid
    }
}
