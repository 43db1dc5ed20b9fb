/// Whether messages may leave this child: all of them, one at a time as probes, or none.
///
/// Three things are independent of each other: whether the application's circuit is open, whether its gateway is in
/// trouble, and whether this child ends. ``state`` combines them.
struct Admission: Sendable {
    enum State: Sendable, Equatable {
        /// Messages leave as fast as window, pace and gateway allow.
        case open
        /// One message leaves at a time, to find out whether the gateway takes messages again, or takes this
        /// application's.
        case probing
        /// The gateway is in trouble, and another child probes it. All parts go back; this child stays.
        case left
        /// Every message of the application would be refused. All parts go back, and this child ends.
        case circuitOpen
        /// Everything that is not on the wire goes back, and this child ends.
        case shuttingDown
    }

    /// The application's circuit as this child knows it.
    enum Circuit: Sendable, Equatable {
        case closed
        /// This child sends one message at a time.
        case probing
        case open
    }

    /// Whether the gateway of the application's account is in trouble.
    enum Trouble: Sendable, Equatable {
        case none
        /// This child alone probes, with one message for each permission; `mayProbe` is a permission not used yet.
        case probing(mayProbe: Bool)
        /// This child sends nothing until the trouble is over.
        case left
    }

    private(set) var circuit = Circuit.closed
    private(set) var trouble = Trouble.none
    private(set) var isShuttingDown = false
    /// Whether the child ends: it sends what it holds and claims nothing more.
    private(set) var isDraining = false
    /// Whether the lease is valid on this host's clock.
    private(set) var isLeaseValid = true

    var state: State {
        if circuit == .open { return .circuitOpen }
        if isShuttingDown { return .shuttingDown }
        if trouble == .left { return .left }
        return isProbing ? .probing : .open
    }

    /// Whether everything that is not on the wire goes back.
    var givesBack: Bool {
        switch state {
        case .open, .probing: false
        case .left, .circuitOpen, .shuttingDown: true
        }
    }

    var maySend: Bool { isLeaseValid && !givesBack }

    /// Whether messages leave one at a time, as probes.
    var isProbing: Bool { circuit == .probing || isProbingGateway }

    var isProbingGateway: Bool { if case .probing = trouble { true } else { false } }

    /// Whether a probe may leave now.
    var mayProbe: Bool { if case .probing(let mayProbe) = trouble { mayProbe } else { true } }

    // MARK: The application's circuit

    /// Notes that a part was claimed to probe the circuit with.
    mutating func probeCircuit() {
        if circuit == .closed { circuit = .probing }
    }

    /// Opens the circuit: every message of the application would be refused.
    /// - Returns: whether that is new.
    mutating func openCircuit() -> Bool {
        guard circuit != .open else { return false }
        circuit = .open
        isShuttingDown = true
        return true
    }

    /// Closes the circuit: its probe got through.
    mutating func closeCircuit() {
        if circuit == .probing { circuit = .closed }
    }

    // MARK: The gateway

    /// Notes that the gateway is in trouble.
    mutating func leave() { trouble = .left }

    /// Notes that the gateway takes messages again.
    mutating func comeBack() { trouble = .none }

    /// Makes this child the prober.
    mutating func becomeProber() { trouble = .probing(mayProbe: false) }

    /// Permits one message to leave.
    mutating func allowProbe() {
        if isProbingGateway { trouble = .probing(mayProbe: true) }
    }

    /// Uses the permission: the next message needs a new one.
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
